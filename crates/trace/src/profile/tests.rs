//! Counts and sums of profiles, also of code that ends its calls wrongly.

use std::mem;

use super::*;

static OUTER: Function = Function::new("outer", Activity::Compute);
static INNER: Function = Function::new("inner", Activity::Communicate);
static NESTED: Function = Function::new("nested", Activity::Compute);

fn begin() -> ThreadProfile {
    ThreadProfile::begin("thread", Activity::Idle)
}

/// Returns the calls of a function by a caller.
fn calls(times: &ThreadTimes, name: &str, caller: &str) -> u64 {
    let is_it = |it: &&FunctionTimes| it.name == name && it.caller.as_deref() == Some(caller);
    times.functions.iter().find(is_it).map_or(0, |it| it.calls)
}

/// Checks that no time is lost: the exclusive times of all functions are that of the thread.
fn check_sum(times: &ThreadTimes) {
    let sum: f64 = times.functions.iter().map(|it| it.exclusive_ns).sum();
    let error = (sum - times.total_ns()).abs();
    assert!(error < 1.0 + 1e-6 * times.measured_ns, "{sum} of {times:?}");
    let by_activity: f64 = Activity::ALL
        .map(|activity| times.time_ns(activity))
        .iter()
        .sum();
    assert!((by_activity - sum).abs() < 1.0, "{by_activity} of {sum}");
}

#[test]
fn calls_are_counted_by_caller_and_no_time_is_lost() {
    let profile = begin();
    for _ in 0..3 {
        let _outer = profile.call(&OUTER);
        for _ in 0..2 {
            let _inner = profile.call(&INNER);
        }
    }
    drop(profile.call(&INNER));
    let times = profile.finish();
    assert_eq!(times.functions[0].name, "thread");
    assert_eq!(times.functions[0].caller, None);
    assert_eq!(calls(&times, "outer", "thread"), 3);
    assert_eq!(calls(&times, "inner", "outer"), 6);
    assert_eq!(calls(&times, "inner", "thread"), 1);
    assert_eq!(times.of("inner").0, 7);
    assert_eq!(times.call_count, 10);
    check_sum(&times);
    // The thread is around all calls.
    let root = &times.functions[0];
    let cost_ns = times.cost_ns();
    assert!((root.inclusive_ns - (times.measured_ns - cost_ns)).abs() < 1.0);
}

fn nested(depth: u32, profile: &ThreadProfile) {
    let _call = profile.call(&NESTED);
    if depth > 0 {
        nested(depth - 1, profile);
    }
}

#[test]
fn the_inclusive_time_of_a_recursive_function_counts_once() {
    let profile = begin();
    nested(5, &profile);
    let times = profile.finish();
    assert_eq!(calls(&times, "nested", "thread"), 1);
    assert_eq!(calls(&times, "nested", "nested"), 5);
    let inclusive = |caller: &str| {
        let mut found = times.functions.iter();
        let found = found.find(|it| it.name == "nested" && it.caller.as_deref() == Some(caller));
        found.expect("it was called").inclusive_ns
    };
    // The five inner calls together are inside the outer one.
    let slack = 6.0 * times.cost.total_ns();
    assert!(
        inclusive("nested") <= inclusive("thread") + slack,
        "{times:?}"
    );
    check_sum(&times);
}

#[test]
fn activities_are_summed_while_the_thread_runs() {
    let profile = begin();
    assert_eq!(profile.time_ns(Activity::Communicate), 0.0);
    let call = profile.call(&INNER);
    std::thread::yield_now();
    drop(call);
    assert!(profile.time_ns(Activity::Communicate) > 0.0);
    assert_eq!(profile.time_ns(Activity::Synchronise), 0.0);
    assert!(profile.time_ns(Activity::Idle) > 0.0);
}

// A guard that is leaked, or dropped after an outer one, makes wrong times, but no panic.
#[test]
fn guards_in_a_wrong_order_do_no_harm() {
    let profile = begin();
    let outer = profile.call(&OUTER);
    let inner = profile.call(&INNER);
    drop(outer);
    drop(inner);
    mem::forget(profile.call(&NESTED));
    drop(profile.call(&OUTER));
    let times = profile.finish();
    assert!(times.functions.iter().map(|it| it.calls).sum::<u64>() >= 3);
}

#[test]
fn no_profile_measures_nothing() {
    let none: Option<ThreadProfile> = None;
    drop(none.call(&OUTER));
    drop(NoProfile.call(&OUTER));
    assert_eq!(none.time_ns(Activity::Compute), 0.0);
    assert_eq!(NoProfile.time_ns(Activity::Compute), 0.0);
    assert_eq!(
        size_of_val(&NoProfile.call(&OUTER)),
        size_of::<&NoProfile>()
    );
}
