//! A worker that fell asleep before another worker started was never woken for the forks of that
//! other worker.
//!
//! A worker that goes to sleep closes the gates of all other workers, so that their next fork wakes
//! it. But a worker opened its own gates when its thread started. If another worker already slept
//! by then, its request was lost: one runtime in twenty-five ran everything on one worker until
//! work came from outside. Now a starting worker looks for sleepers after it has opened its gates.

use std::hint::spin_loop;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use raddle_runtime::{for_each, worker_index};

use crate::common::runtime;

/// The number of items of the loop. Each takes [`ITEM`] until both workers have been seen, so that
/// a loop takes two seconds if one worker never comes.
const ITEMS: usize = 100_000;
const ITEM: Duration = Duration::from_micros(20);

#[test]
fn loop_wakes_a_worker_that_slept_before_the_other_started() {
    for round in 0..150 {
        let runtime = runtime(2);
        thread::sleep(Duration::from_micros(500));
        let seen = Mutex::new([false; 2]);
        runtime.install(|| {
            for_each(0..ITEMS, |_| {
                let all = {
                    let mut seen = seen.lock().expect("no panic");
                    let worker = worker_index().expect("loops run on workers");
                    // A worker that waits for the other one's part may have a compensating thread
                    // run items. Its index is above those of the workers.
                    if let Some(seen) = seen.get_mut(worker) {
                        *seen = true;
                    }
                    *seen == [true; 2]
                };
                let start = Instant::now();
                while !all && start.elapsed() < ITEM {
                    spin_loop();
                }
            });
        });
        let seen = seen.into_inner().expect("no panic");
        assert_eq!(seen, [true; 2], "round {round}");
    }
}
