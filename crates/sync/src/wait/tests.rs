//! Tests of the wait cell on real threads, and of the learning of the spin budget.

use super::*;
use crate::prim::LIGHT;
use std::sync::Arc;

/// The number of hand-overs between two threads.
const ROUNDS: u32 = if LIGHT { 10 } else { 1_000 };

#[test]
fn token_left_before_the_wait_is_taken_at_once() {
    let cell = WaitCell::new();
    assert_eq!(cell.notify(), Notified::Awake);
    cell.wait(Duration::ZERO);
    assert!(!cell.try_take());
}

#[test]
fn two_tokens_that_were_not_taken_are_one() {
    let cell = WaitCell::new();
    let _ = cell.notify();
    let _ = cell.notify();
    assert!(cell.try_take());
    assert!(!cell.try_take());
}

#[test]
fn sleeper_is_woken_every_time() {
    let there = Arc::new(WaitCell::new());
    let back = Arc::new(WaitCell::new());
    let other = std::thread::spawn({
        let (there, back) = (Arc::clone(&there), Arc::clone(&back));
        move || {
            for _ in 0..ROUNDS {
                there.wait(Duration::ZERO);
                let _ = back.notify();
            }
        }
    });
    for _ in 0..ROUNDS {
        let _ = there.notify();
        back.wait(Duration::ZERO);
    }
    other.join().expect("the other side panics nowhere");
}

#[test]
fn timeout_ends_the_wait_without_a_token() {
    let cell = WaitCell::new();
    assert!(!cell.wait_timeout(Duration::from_millis(1)));
    let _ = cell.notify();
    assert!(cell.wait_timeout(Duration::from_secs(60)));
}

#[test]
fn budget_shrinks_on_long_gaps_and_grows_on_short_ones() {
    let mut budget = SpinBudget::default();
    let full = budget.spin();
    for _ in 0..64 {
        budget.observe(Duration::from_millis(10));
    }
    let low = budget.spin();
    assert!(low <= wake_price() / 16 || low <= Duration::from_micros(2));
    budget.observe(Duration::from_nanos(500));
    assert!(budget.spin() >= low && (budget.spin() > low || full == low));
}

#[test]
fn ring_wakes_an_owner_that_waits_in_any_way() {
    for way in Way::ALL {
        let news = AtomicU32::new(0);
        let answer = AtomicU32::new(0);
        let (there, back) = (WaitCell::new(), WaitCell::new_shared());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for round in 1..=ROUNDS {
                    let _ = there.wait_until(way, Duration::ZERO, || news.load(Relaxed) == round);
                    answer.store(round, Relaxed);
                    let _ = back.ring();
                }
            });
            for round in 1..=ROUNDS {
                news.store(round, Relaxed);
                let _ = there.ring();
                let _ = back.wait_until(way, Duration::ZERO, || answer.load(Relaxed) == round);
            }
        });
    }
}

#[test]
fn ring_leaves_no_token_while_the_owner_checks() {
    let cell = WaitCell::new();
    assert_eq!(cell.ring(), Notified::Awake);
    assert!(!cell.try_take());
}

#[test]
fn a_missing_monitored_wait_has_a_reason() {
    let missing = Monitor::missing();
    assert!(Monitor::detect().is_some() || !missing.is_empty());
}

#[test]
fn monitored_wait_returns_from_a_word_that_is_never_written() {
    let Some(monitor) = Monitor::detect() else {
        // There is no monitored wait to test; `raddle pingpong --wait monitor` reports the reason.
        return;
    };
    let word = AtomicU32::new(3);
    for _ in 0..1_000 {
        monitor.wait(&word, 3);
        monitor.wait(&word, 4);
    }
}

#[test]
#[cfg(all(target_os = "linux", not(miri)))]
fn a_thread_bound_to_one_cpu_still_counts_all_cpus_of_its_process() {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let everywhere = crate::prim::process_cpu_count();
    let bound = std::thread::spawn(|| {
        let allowed = sched_getaffinity(None).expect("a thread may read its own affinity");
        let mut one = CpuSet::new();
        one.set(
            (0..CpuSet::MAX_CPU)
                .find(|&cpu| allowed.is_set(cpu))
                .expect("the thread runs on some CPU"),
        );
        sched_setaffinity(None, &one).expect("the thread may run there");
        crate::prim::process_cpu_count()
    });
    assert_eq!(bound.join().expect("no panic"), everywhere);
}

/// Reproduces a bug: a second waiter took the tokens of the first, which therefore slept on.
#[test]
fn second_thread_that_sleeps_in_a_cell_is_refused() {
    let cell = WaitCell::new();
    std::thread::scope(|threads| {
        let first = threads.spawn(|| cell.sleep(None));
        // Relaxed: only polled.
        while cell.futex.word().load(Relaxed) != ASLEEP {
            std::thread::yield_now();
        }
        let second = threads.spawn(|| cell.sleep(None));
        assert!(second.join().is_err(), "two threads cannot share a cell");
        let _ = cell.notify();
        assert!(first.join().expect("no panic"));
    });
}
