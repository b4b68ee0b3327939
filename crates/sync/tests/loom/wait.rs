//! Models of the wait cell and of the table: no token and no ring is lost, and changes before it
//! are visible after it.

use std::time::Duration;

use loom::sync::Arc;
use loom::thread;
use raddle_sync::prim::{AtomicUsize, Relaxed, UnsafeCell};
use raddle_sync::table::SyncTable;
use raddle_sync::wait::{SpinBudget, WaitCell, Way};

/// Checks W1 and invariant 2: the owner returns from the futex and sees the data, at whatever
/// moment the token arrives.
#[test]
fn the_sleeper_sees_the_writes_before_the_token() {
    loom::model(|| {
        let shared = Arc::new((WaitCell::new(), UnsafeCell::new(0)));
        let notifier = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                shared.1.with_mut(|data| unsafe { *data = 7 });
                let _ = shared.0.notify();
            })
        };
        shared.0.wait(Duration::ZERO);
        assert_eq!(shared.1.with(|data| unsafe { *data }), 7);
        notifier.join().expect("no panic");
    });
}

/// Checks that two notifiers leave one token or two. The owner waits as often as there are news,
/// and never longer.
#[test]
fn two_notifiers_wake_one_owner() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(|| {
        let cell = Arc::new(WaitCell::new());
        let count = Arc::new(raddle_sync::prim::AtomicUsize::new(0));
        let notifiers: Vec<_> = (0..2)
            .map(|_| {
                let (cell, count) = (Arc::clone(&cell), Arc::clone(&count));
                thread::spawn(move || {
                    // Relaxed: the token orders it.
                    count.fetch_add(1, raddle_sync::prim::Relaxed);
                    let _ = cell.notify();
                })
            })
            .collect();
        // Relaxed: as above.
        while count.load(raddle_sync::prim::Relaxed) < 2 {
            cell.wait(Duration::ZERO);
        }
        for notifier in notifiers {
            notifier.join().expect("no panic");
        }
    });
}

/// Checks W1 for every way to wait: each sees the token, and the writes before it, whether it
/// arrives early or late.
#[test]
fn token_ends_every_way_to_wait() {
    for way in Way::ALL {
        loom::model(move || {
            let shared = Arc::new((WaitCell::new(), UnsafeCell::new(0)));
            let notifier = {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    shared.1.with_mut(|data| unsafe { *data = 7 });
                    let _ = shared.0.notify();
                })
            };
            shared.0.wait_by(way, Duration::from_secs(1));
            assert_eq!(shared.1.with(|data| unsafe { *data }), 7);
            notifier.join().expect("no panic");
        });
    }
}

/// Checks W2 for every way to wait: an owner that has announced that it stops checking is notified
/// of the news, or sees it. There are two rounds, so that a superfluous token may be left over for
/// the second wait.
#[test]
fn ring_after_news_is_never_lost() {
    for way in Way::ALL {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(move || {
            let shared = Arc::new((WaitCell::new(), AtomicUsize::new(0)));
            let ringer = {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    for news in 1..=2 {
                        shared.1.store(news, Relaxed);
                        let _ = shared.0.ring();
                    }
                })
            };
            for news in 1..=2 {
                let has_come = || shared.1.load(Relaxed) >= news;
                let _ = shared.0.wait_until(way, Duration::ZERO, has_come);
            }
            ringer.join().expect("no panic");
        });
    }
}

/// Checks two waiters of a table, each in its own cell. The second waits for a third thread, and
/// the first for the second.
#[test]
fn waiters_of_a_table_receive_only_their_own_rings() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(|| {
        let shared = Arc::new((SyncTable::new(2), AtomicUsize::new(0), AtomicUsize::new(0)));
        let second = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let has_come = || shared.1.load(Relaxed) == 1;
                shared
                    .0
                    .cell(1)
                    .wait_until(Way::Auto, Duration::ZERO, has_come);
                shared.2.store(1, Relaxed);
                let _ = shared.0.ring(0);
            })
        };
        let third = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                shared.1.store(1, Relaxed);
                let _ = shared.0.ring(1);
            })
        };
        let has_come = || shared.2.load(Relaxed) == 1;
        shared
            .0
            .cell(0)
            .wait_until(Way::Auto, Duration::ZERO, has_come);
        second.join().expect("no panic");
        third.join().expect("no panic");
    });
}

/// Checks that a waiter for either of two threads, which make one source true each, finds both
/// sources, in any order, and neither twice.
#[test]
fn a_waiter_for_any_source_finds_each_of_them_once() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(|| {
        let shared = Arc::new((SyncTable::new(1), [0, 1].map(AtomicUsize::new)));
        let start = |index: usize| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                shared.1[index].store(7, Relaxed);
                let _ = shared.0.ring(0);
            })
        };
        let threads = [start(0), start(1)];
        let mut budget = SpinBudget::default();
        for _ in 0..2 {
            let has_come = |source: &AtomicUsize| source.load(Relaxed) == 7;
            let ready = || shared.1.iter().position(has_come);
            budget.wait_until(shared.0.cell(0), Way::Auto, || ready().is_some());
            // Only this thread makes the source false again.
            let found = ready().expect("the source is still true");
            shared.1[found].store(0, Relaxed);
        }
        for thread in threads {
            thread.join().expect("no panic");
        }
    });
}
