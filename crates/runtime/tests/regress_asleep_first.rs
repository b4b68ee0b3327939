//! A worker that had gone to sleep before another one began was never woken for that one's forks.
//!
//! Who lies down closes the gates of all others, so that their next fork wakes it. But a worker opened its own gates when its
//! thread began, and the ask of one who slept by then was lost: one runtime in twenty-five ran all on one worker until work came
//! from elsewhere. Now a worker that begins looks for sleepers after it has opened its gates.

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use raddle_runtime::{Runtime, join, worker_index};

/// How long the first half waits for the second, if nobody takes that: a hang with an end.
const PATIENCE: Duration = Duration::from_secs(5);

#[test]
fn fork_wakes_a_worker_that_slept_before_the_other_began() {
    for round in 0..150 {
        let runtime = Runtime::builder().workers(2).build().expect("a runtime");
        thread::sleep(Duration::from_micros(500));
        let second: Mutex<Option<usize>> = Mutex::new(None);
        let first = runtime.install(|| {
            let start = Instant::now();
            let wait = || {
                while second.lock().expect("no panic").is_none() && start.elapsed() < PATIENCE {
                    thread::yield_now();
                }
                worker_index()
            };
            let run = || *second.lock().expect("no panic") = worker_index();
            join(wait, run).0
        });
        let second = second.into_inner().expect("no panic");
        assert_ne!(first, second, "round {round}: the fork was not taken");
    }
}
