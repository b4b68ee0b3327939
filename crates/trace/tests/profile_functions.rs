//! More functions than a profile can tell apart. The numbers of functions belong to the process, so
//! this is a process of its own.

use raddle_trace::profile::{Activity, Function, Profiler, ThreadProfile};

#[test]
fn functions_beyond_the_last_number_share_it() {
    let names = (0..100).map(|index| -> &'static str { format!("function {index}").leak() });
    let functions: Vec<&'static Function> = names
        .map(|name| &*Box::leak(Box::new(Function::new(name, Activity::Compute))))
        .collect();
    let profile = ThreadProfile::begin("thread", Activity::Idle);
    for function in &functions {
        drop(profile.call(function));
    }
    let times = profile.finish();
    assert_eq!(
        times.functions.iter().map(|it| it.calls).sum::<u64>(),
        101,
        "{times:?}"
    );
    assert_eq!(times.of("function 0").0, 1);
    assert!(times.of("other functions").0 > 30, "{times:?}");
}
