//! Models of the wait cell: no token is lost, and what was done before it is seen after it.

#![cfg(loom)]

use std::time::Duration;

use loom::sync::Arc;
use loom::thread;
use raddle_sync::prim::UnsafeCell;
use raddle_sync::wait::WaitCell;

/// W1, and invariant 2: the owner comes back from the futex and sees the data, at whatever moment the token comes.
#[test]
fn sleeper_sees_what_came_before_the_token() {
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

/// Two notifiers leave one token or two; the owner waits as often as there is news, never longer.
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
