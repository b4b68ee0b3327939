//! Tests of the choice of workers to wake. The models in `tests/loom/idle.rs` check that no wake-up
//! is lost.

use std::thread;

use super::*;
use crate::prim::{AtomicUsize, SeqCst};

/// Calls `check` while the workers `0..count` sleep. `count` is the index of one more worker, which
/// is awake. Wakes all remaining sleepers afterwards.
fn with_sleepers(count: usize, check: impl FnOnce(&IdleSet)) {
    let (set, asleep) = (IdleSet::new(count + 1), AtomicUsize::new(0));
    thread::scope(|scope| {
        for index in 0..count {
            let (set, asleep) = (&set, &asleep);
            scope.spawn(move || {
                set.start_search();
                let before_sleep = || {
                    asleep.fetch_add(1, SeqCst);
                };
                let sleep = Duration::ZERO;
                let _ = set.sleep(index, sleep, None, || None, || false, before_sleep);
            });
        }
        while asleep.load(SeqCst) < count {
            thread::yield_now();
        }
        check(&set);
        set.wake_all();
    });
}

#[test]
fn a_woken_worker_that_finds_more_work_wakes_two() {
    with_sleepers(3, |set| {
        assert_eq!(set.sleeping(), 3);
        set.start_search();
        assert_eq!(set.found(3, true, || true), 2);
        assert_eq!(set.sleeping(), 1);
        set.start_search();
        assert_eq!(set.found(3, true, || true), 1, "one sleeper is left");
        set.start_search();
        assert_eq!(set.found(3, true, || true), 0);
    });
}

#[test]
fn a_worker_that_was_awake_wakes_one_if_no_other_searches() {
    with_sleepers(3, |set| {
        set.start_search();
        assert_eq!(set.found(3, false, || false), 0, "there is no more work");
        set.start_search();
        assert_eq!(set.found(3, false, || true), 1);
        // The woken worker counts as searching: it will find the work.
        set.start_search();
        assert_eq!(set.found(3, false, || true), 0);
        assert_eq!(set.work_came(3), None);
    });
}

#[test]
fn a_producer_wakes_more_as_its_work_piles_up() {
    with_sleepers(4, |set| {
        let is_woken: Vec<bool> = (1..=9)
            .map(|waiting| set.work_piled_up(4, waiting, |_| ()).is_some())
            .collect();
        let [woken, not] = [true, false];
        let expected = [woken, woken, not, woken, not, not, not, woken, not];
        assert_eq!(is_woken, expected);
        assert_eq!(set.work_piled_up(4, 16, |_| ()), None, "no sleeper is left");
    });
}

/// Checks I3: a producer with a light fence has put work after the sleeper's first check, and has
/// missed the sleeper's bit.
#[test]
fn work_that_no_producer_announced_is_found_after_the_timeout() {
    let (set, has_work) = (IdleSet::new(1), AtomicUsize::new(0));
    set.start_search();
    let long = Duration::from_secs(1 << 20);
    let slept = set.sleep(
        0,
        Duration::ZERO,
        Some(Duration::from_millis(1)),
        || Some(long),
        || has_work.load(SeqCst) == 1,
        || has_work.store(1, SeqCst),
    );
    assert_eq!(slept, Slept::TimedOut);
    assert_eq!((set.sleeping(), set.searching()), (0, 1));
}
