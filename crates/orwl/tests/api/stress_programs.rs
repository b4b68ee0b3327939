//! Random programs on real threads, compared with a sequential execution of the same tasks.
//!
//! They have up to 64 tasks on 64 locations, both threads and futures.
//!
//! | variable                | meaning                         | default                   |
//! |-------------------------|---------------------------------|---------------------------|
//! | `RADDLE_STRESS_SECONDS` | time to continue with new seeds | 40 seeds, without a limit |

use std::time::{Duration, Instant};

use crate::common::runtime;
use crate::random::{Plan, Random, Size};

const SEEDS: u64 = 40;

#[test]
fn random_programs_compute_the_same_as_a_sequential_execution() {
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
        let runtime = runtime(1 + random.below(4));
        let plan = Plan::random(seed, size);
        plan.check(&runtime, &format!("seed {seed}"));
        seed += 1;
    }
}
