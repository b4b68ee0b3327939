//! Threads that wait for a part of their work.

use std::hint::spin_loop;
use std::thread;
use std::time::{Duration, Instant};

use raddle_sync::prim::{Acquire, AtomicBool, Release};
use rayon_core::{ThreadPoolBuilder, join};

fn spin_until(flag: &AtomicBool) {
    while !flag.load(Acquire) {
        spin_loop();
    }
}

/// Checks that a thread that waits runs work of a thread that is busy with a long leaf, also if it
/// has gone to sleep in between. Otherwise the leaf here never ends.
#[test]
fn a_sleeping_thread_takes_work_from_a_busy_one() {
    let pool = ThreadPoolBuilder::new().num_threads(2).build();
    let pool = pool.expect("two threads start");
    for round in 0..300 {
        let (is_taken, is_run) = (AtomicBool::new(false), AtomicBool::new(false));
        let delay = Duration::from_micros(round % 100 * 2);
        pool.install(|| {
            join(
                || spin_until(&is_taken),
                || {
                    is_taken.store(true, Release);
                    let since = Instant::now();
                    while since.elapsed() < delay {
                        spin_loop();
                    }
                    join(|| spin_until(&is_run), || is_run.store(true, Release));
                },
            )
        });
    }
}

/// Checks that waiting for another pool does not stop a pool of one thread.
#[test]
fn the_only_thread_of_a_pool_runs_calls_while_it_waits_for_another_pool() {
    let one = || {
        let pool = ThreadPoolBuilder::new().num_threads(1).build();
        pool.expect("a thread starts")
    };
    let (first, second) = (one(), one());
    let index = first.install(|| {
        second.install(|| {
            thread::sleep(Duration::from_millis(20));
            first.install(|| first.current_thread_index())
        })
    });
    assert_eq!(index, Some(0));
}

#[test]
fn the_second_closure_runs_although_the_first_panics() {
    let is_run = AtomicBool::new(false);
    let outcome = std::panic::catch_unwind(|| {
        join(|| panic!("of the first"), || is_run.store(true, Release))
    });
    let panic = outcome.expect_err("the first closure panics");
    assert_eq!(panic.downcast_ref(), Some(&"of the first"));
    assert!(is_run.load(Acquire));
}

/// Checks that a thread stays in its pool when it is asked to work for a second one.
#[test]
fn a_thread_of_one_pool_refuses_to_work_for_another() {
    let mut kept = None;
    let second = ThreadPoolBuilder::new()
        .num_threads(1)
        .spawn_handler(|thread| {
            kept = Some(thread);
            Ok(())
        })
        .build()
        .expect("no thread is started");
    let thread = kept.expect("the pool has one thread");
    let first = ThreadPoolBuilder::new().num_threads(1).build();
    let first = first.expect("a thread starts");
    let refused = first.install(|| {
        let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| thread.run()));
        let (sender, receiver) = std::sync::mpsc::channel();
        rayon_core::spawn(move || sender.send(()).expect("the receiver is alive"));
        rayon_core::yield_now();
        receiver.try_recv().expect("it ran in this pool");
        refused.is_err()
    });
    assert!(refused);
    drop(second);
}

/// Checks that a pool works without a thread that the program has dropped.
#[test]
fn a_pool_works_with_the_threads_that_the_program_runs() {
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .spawn_handler(|builder| {
            if builder.index() == 1 {
                thread::spawn(|| builder.run());
            }
            Ok(())
        })
        .build()
        .expect("one thread starts");
    assert_eq!(pool.install(rayon_core::current_thread_index), Some(1));
}

#[test]
fn builders_need_no_type_and_are_printed_with_closures() {
    let builder = ThreadPoolBuilder::default().spawn_handler(|_| Ok(()));
    assert!(format!("{builder:?}").starts_with("ThreadPoolBuilder"));
}
