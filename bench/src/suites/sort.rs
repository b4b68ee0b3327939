//! Quicksort, `sort2e7`: 2·10⁷ random numbers, with tasks down to 1,000 of them and the same
//! partition in every contender.
//!
//! If only the two parts of a split are forked, the first partition runs on one worker alone.
//! Equation (1) of the study gives `N (1 + (log N − 1) / 2)` for two workers, which is 4 % more
//! than half of the sequential time. In Raddle's sort, idle workers take part in such a partition.
//! `raddle-joins` is Raddle without that and otherwise identical.
//!
//! A larger gain is not possible. Let T be the time of the whole sort and t the time of its first
//! partition, both on one worker. A peer without any overhead takes `(T + t) / 2` on two workers,
//! and no contender takes less than `T / 2`. So the bound on the ratio is `T / (T + t)`: 0.96 to
//! 0.97 for a partition of 0.44 ns and a sort of 14 ns per item. A ratio below the bound is due to
//! the peer's overhead or to its compiler.
//!
//! A run is timed from a new copy of the same input to the end of the sort.
//!
//! Peers: `plain` and `plain-cpp` (no runtime), `raddle-joins`, `rayon`, `chili`, `onetbb`
//! (`task_group`), `openmp` (tasks).
//!
//! # Source
//! R. Hoffmann, M. Korch, T. Rauber: Performance evaluation of task pools based on hardware
//! synchronization. SC 2004, section 3.

use std::time::Duration;

use raddle_numerics::random;
use raddle_numerics::sort::{self, Part};

use crate::error::BenchError;
use crate::harness::{Case, Contender, Local, Sample, Unit, timed};
use crate::peer::{ONETBB, OPENMP, PLAIN_CPP};
use crate::pools::{ChiliPools, RaddlePools, RayonPools};
use crate::suites::Measurement;
use crate::workload::{Fork, Plain, Quicksort, Raddle, Rayon, Task};

/// The names of the cases.
pub(crate) const CASES: [&str; 1] = ["sort2e7"];

const LEN: usize = 20_000_000;
/// The seed of the numbers. The C++ peers use the same seed.
const SEED: u64 = 2004;

/// Runs the suite.
///
/// # Errors
/// Those of [`Measurement::compare`].
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    let mut input = vec![0; LEN];
    random::fill(&mut input, SEED);
    compare(measurement, &input)
}

fn compare(measurement: &mut Measurement<'_>, input: &[i32]) -> Result<(), BenchError> {
    let case = Case {
        suite: "sort",
        name: CASES[0],
        unit: Unit::Milliseconds,
        repetitions: 1,
        file: None,
        expected: expected(input),
        tolerance: 0,
    };
    let mut raddle_pools = RaddlePools::default();
    let mut joins_pools = RaddlePools::default();
    let mut rayon_pools = RayonPools::default();
    let mut chili_pools = ChiliPools::default();
    let mut raddle = Local::new("raddle", move |request| {
        raddle_pools.install(request.workers, || {
            measure(request.repetitions, input, sort::sort)
        })
    });
    let mut peers: Vec<Box<dyn Contender + '_>> = vec![
        Box::new(Local::new("plain", |request| {
            Ok(measure(request.repetitions, input, |items| {
                by(items, &mut Plain);
            }))
        })),
        Box::new(Local::new("raddle-joins", move |request| {
            joins_pools.install(request.workers, || {
                measure(request.repetitions, input, |items| by(items, &mut Raddle))
            })
        })),
        Box::new(Local::new("rayon", move |request| {
            rayon_pools.install(request.workers, || {
                measure(request.repetitions, input, |items| by(items, &mut Rayon))
            })
        })),
        Box::new(Local::new("chili", move |request| {
            let mut scope = chili_pools.pool(request.workers).scope();
            Ok(measure(request.repetitions, input, |items| {
                by(items, &mut scope);
            }))
        })),
    ];
    for source in [PLAIN_CPP, ONETBB, OPENMP] {
        peers.extend(measurement.peer(source));
    }
    measurement.compare(&case, &mut raddle, &mut peers)
}

fn by(items: &mut [i32], fork: &mut impl Fork) {
    Quicksort(Part::whole(items)).run(fork);
}

/// Returns the checksum of the input as sorted by the standard library.
fn expected(input: &[i32]) -> u64 {
    let mut items = input.to_vec();
    items.sort_unstable();
    checksum(&items)
}

/// Sorts new copies of the input. Only `sort` is timed.
fn measure(repetitions: u64, input: &[i32], mut sort: impl FnMut(&mut [i32])) -> Sample {
    let mut items = vec![0; input.len()];
    let mut time = Duration::ZERO;
    for _ in 0..repetitions {
        items.copy_from_slice(input);
        let sample = timed(1, || {
            sort(&mut items);
            0
        });
        time += sample.time;
    }
    Sample {
        time,
        result: checksum(&items),
    }
}

/// Returns a hash of all items and of their order.
pub(super) fn checksum(items: &[i32]) -> u64 {
    items.iter().fold(0, |hash: u64, &item| {
        hash.wrapping_mul(31)
            .wrapping_add(u64::from(item.cast_unsigned()))
    })
}
