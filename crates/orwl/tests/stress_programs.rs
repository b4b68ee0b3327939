//! Random programs on real threads: up to 64 tasks on 64 locations, threads and futures mixed, against the same tasks one after the other.
//!
//! | variable | what it says | without it |
//! |---|---|---|
//! | `RADDLE_STRESS_SECONDS` | how long to go on with further seeds | a few seeds, whatever time they take |

#![cfg(not(any(loom, shuttle)))]

mod common;

use std::time::{Duration, Instant};

use raddle_runtime::Runtime;

use common::{Plan, Random, Size};

const SEEDS: u64 = 40;

#[test]
fn random_programs_compute_what_their_tasks_would_one_after_the_other() {
    let seconds = std::env::var("RADDLE_STRESS_SECONDS").ok().map(|text| {
        text.parse().unwrap_or_else(|_| {
            panic!("RADDLE_STRESS_SECONDS is {text:?}; expected a number of seconds")
        })
    });
    let start = Instant::now();
    let goes_on = |seed| match seconds {
        Some(seconds) => start.elapsed() < Duration::from_secs(seconds),
        None => seed <= SEEDS,
    };
    let mut seed = 1;
    while goes_on(seed) {
        let mut random = Random(seed);
        let largest = [4, 16, 64][random.below(3)];
        let size = Size {
            tasks: largest,
            locations: [4, 16, 64][random.below(3)],
            uses: 1 + random.below(8),
            turns: 60,
            depth: 4,
        };
        let runtime = Runtime::builder()
            .workers(1 + random.below(4))
            .build()
            .expect("workers come up");
        let plan = Plan::random(seed, size);
        plan.check(&runtime, &format!("seed {seed}"));
        seed += 1;
    }
}
