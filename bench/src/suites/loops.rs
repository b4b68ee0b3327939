//! The cost of a parallel loop over tiny bodies: `loop1e6` and `loop1e3`.
//!
//! The loop computes `out[i] = hash(i)`, about 2.5 ns per element, with no grain given by the
//! caller. The long loop shows whether splitting costs anything. The short one, 2.5 µs in total,
//! shows whether parallel execution ever makes a loop slower. The loops run inside the runtime,
//! where the workers are already awake, as OpenMP's threads are.
//!
//! There is a call every 2.5 ns, so the alignment that the linker happens to choose for the loop
//! changes the time by up to 5 %, for every contender. Building with
//! `RUSTFLAGS="-C llvm-args=-align-loops=64"` removes this effect.
//!
//! Peers: `serial` and `plain-cpp` (a plain loop), `rayon`, `openmp` (static schedule).

use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};

use crate::error::BenchError;
use crate::harness::{Case, Contender, Local, Sample, Unit, timed};
use crate::peer::{OPENMP, PLAIN_CPP};
use crate::pools::{RaddlePools, RayonPools};
use crate::suites::Measurement;
use crate::workload::{checksum, loop_body};

/// The names of the cases.
pub(crate) const CASES: [&str; 2] = ["loop1e6", "loop1e3"];

const LENGTHS: [usize; 2] = [1_000_000, 1_000];
/// The number of repetitions of each case, chosen so that a run takes about 0.1 s on one worker.
const REPETITIONS: [u64; 2] = [50, 50_000];

/// Runs the suite.
///
/// # Errors
/// Those of [`Measurement::compare`].
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    for ((name, length), repetitions) in CASES.into_iter().zip(LENGTHS).zip(REPETITIONS) {
        if measurement.wants(name) {
            compare(measurement, name, length, repetitions)?;
        }
    }
    Ok(())
}

/// Measures `fill` on a new array: once to touch the memory, then `repetitions` times.
fn measure(length: usize, repetitions: u64, mut fill: impl FnMut(&mut [u64])) -> Sample {
    let mut out = vec![0; length];
    fill(&mut out);
    let sample = timed(repetitions, || {
        fill(std::hint::black_box(&mut out));
        0
    });
    Sample {
        result: checksum(&out),
        ..sample
    }
}

fn fill_serially(out: &mut [u64]) {
    for (index, value) in out.iter_mut().enumerate() {
        *value = loop_body(index);
    }
}

fn compare(
    measurement: &mut Measurement<'_>,
    name: &'static str,
    length: usize,
    repetitions: u64,
) -> Result<(), BenchError> {
    let case = Case {
        suite: "loops",
        name,
        unit: Unit::Microseconds,
        repetitions,
        file: None,
        expected: measure(length, 1, fill_serially).result,
        tolerance: 0,
    };
    let mut raddle_pools = RaddlePools::default();
    let mut rayon_pools = RayonPools::default();
    let mut raddle = Local::new("raddle", move |request| {
        raddle_pools.install(request.workers, || {
            measure(length, request.repetitions, |out| {
                raddle::for_each_mut(out, |index, value| *value = loop_body(index));
            })
        })
    });
    let mut peers: Vec<Box<dyn Contender + '_>> = vec![
        Box::new(Local::new("serial", |request| {
            Ok(measure(length, request.repetitions, fill_serially))
        })),
        Box::new(Local::new("rayon", move |request| {
            rayon_pools.install(request.workers, || {
                measure(length, request.repetitions, |out| {
                    out.par_iter_mut()
                        .enumerate()
                        .for_each(|(index, value)| *value = loop_body(index));
                })
            })
        })),
    ];
    for source in [PLAIN_CPP, OPENMP] {
        peers.extend(measurement.peer(source));
    }
    measurement.compare(&case, &mut raddle, &mut peers)
}
