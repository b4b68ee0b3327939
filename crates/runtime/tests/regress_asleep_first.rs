//! A worker that had gone to sleep before another one began was never woken for that one's forks.
//!
//! Who lies down closes the gates of all others, so that their next fork wakes it. But a worker opened its own gates when its
//! thread began, and the ask of one who slept by then was lost: one runtime in twenty-five ran all on one worker until work came
//! from elsewhere. Now a worker that begins looks for sleepers after it has opened its gates.

use std::hint::spin_loop;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use raddle_runtime::{Runtime, for_each, worker_index};

/// Items of the loop, each of which takes so long until both workers have been seen: two seconds if one never comes.
const ITEMS: usize = 100_000;
const ITEM: Duration = Duration::from_micros(20);

#[test]
fn loop_wakes_a_worker_that_slept_before_the_other_began() {
    for round in 0..150 {
        let runtime = Runtime::builder().workers(2).build().expect("a runtime");
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
