//! Programs that use rayon, in their published versions, without and with the two lines in their
//! manifest that make them run on Raddle.
//!
//! The *programs* are from the registry, or give work to libraries from there
//! (`drop-in/libraries`). Each run starts a process, so its time contains the start and the end of
//! the threads. Besides the time, `NAME-cpu` is the CPU time of the process, the median over all
//! runs, and `NAME-threads` its largest number of threads. Results are checked: both builds have to
//! write the same output.
//!
//! The *loops* are those of `drop-in/loops`. Their names begin with `loop-`. Each run has a process
//! of its own, because the places of its data in memory change the time of some loops by a tenth.
//! `idle` is the CPU time of such a process while its pool has no work for two seconds, after a
//! loop.
//!
//! Both builds have the same versions of everything, which is checked, and the same profile:
//! optimised, with link-time optimisation and one unit per crate. The programs use the global pool,
//! with the same number of threads in both builds (`RAYON_NUM_THREADS`); `gifski` and `tokei` start
//! other threads besides. The loops use a pool of their own. The input is real: the sources of all
//! programs and of their libraries, and pictures and a mesh of RADDLE_DATA.

mod builds;
mod inputs;
mod program;

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::bars;
use crate::error::BenchError;
use crate::harness::{Case, Contender, Request, Sample, Unit};
use crate::peer::Peer;
use crate::record::{Record, median, range};
use crate::suites::Measurement;
use builds::{Builds, LOOPS_PROGRAM, Variant};
use inputs::Inputs;
use program::{PROGRAMS, Program, Run};

/// The names of the cases.
pub(crate) const CASES: [&str; 25] = [
    "b3sum",
    "tokei",
    "dust",
    "oxipng",
    "dssim",
    "gifski",
    "ark",
    "bvh",
    "faer",
    "hnsw",
    "imageproc",
    "ndarray",
    "rapier",
    "resize",
    "loop-fib",
    "loop-filter-sum",
    "loop-filter-collect",
    "loop-sort",
    "loop-histogram",
    "loop-uneven",
    "loop-few",
    "loop-few-collect",
    "loop-few-nested",
    "loop-few-uneven",
    "idle",
];

/// The cases that a picture shows: all but `idle`, the last one.
pub(crate) const DRAWN: &[&str] = CASES.split_at(CASES.len() - 1).0;

/// The loops, and the number of repetitions of each in a run.
const LOOPS: [(&str, u64); 10] = [
    ("loop-fib", 20),
    ("loop-filter-sum", 20),
    ("loop-filter-collect", 10),
    ("loop-sort", 2),
    ("loop-histogram", 20),
    ("loop-uneven", 40),
    ("loop-few", 20_000),
    ("loop-few-collect", 10_000),
    ("loop-few-nested", 5_000),
    ("loop-few-uneven", 1_000),
];

/// The time for which the pool of `idle` has no work.
const IDLE: Duration = Duration::from_secs(2);

/// Runs the suite.
///
/// # Errors
/// A program that cannot be downloaded, built or run; [`BenchError::NoData`] without the pictures.
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    let builds = Builds::make(measurement.warn)?;
    for program in &PROGRAMS {
        if measurement.wants(program.name) {
            compare_programs(measurement, program, &builds)?;
        }
    }
    for (name, repetitions) in LOOPS {
        if measurement.wants(name) {
            compare_loops(measurement, &builds, name, Unit::Microseconds, repetitions)?;
        }
    }
    if measurement.wants("idle") {
        compare_loops(measurement, &builds, "idle", Unit::Percent { of: IDLE }, 1)?;
    }
    Ok(())
}

/// Compares both builds of a program of the registry.
fn compare_programs(
    measurement: &mut Measurement<'_>,
    program: &'static Program,
    builds: &Builds,
) -> Result<(), BenchError> {
    let inputs = Inputs::make(builds, program.name)?;
    let mut raddle = Run::new(Variant::Raddle, program, builds, &inputs);
    let mut rayon = Run::new(Variant::Rayon, program, builds, &inputs);
    for workers in measurement.workers.clone() {
        let (expected, threads) = rayon.try_out(workers)?;
        let (_, own_threads) = raddle.try_out(workers)?;
        let case = Case {
            suite: "drop-in",
            name: program.name,
            unit: Unit::Milliseconds,
            repetitions: 1,
            file: None,
            expected,
            tolerance: 0,
        };
        let (own_times, times) = (raddle.cpu_times(), rayon.cpu_times());
        measurement.compare_on(workers, &case, &mut raddle, &mut [Box::new(&mut rayon)])?;
        let (own_ms, ms) = (own_times.take_ms(), times.take_ms());
        let cpu = costs(measurement, program, "cpu", "ms", workers, [&own_ms, &ms]);
        measurement.add(cpu)?;
        let threads = [own_threads, threads].map(|count| [count as f64]);
        let threads = [&threads[0][..], &threads[1]];
        let threads = costs(measurement, program, "threads", "threads", workers, threads);
        measurement.add(threads)?;
    }
    Ok(())
}

/// Returns the records of a quantity that the runs of Raddle and of rayon had besides their times.
fn costs(
    measurement: &Measurement<'_>,
    program: &Program,
    suffix: &str,
    unit: &str,
    workers: usize,
    [own, theirs]: [&[f64]; 2],
) -> Vec<Record> {
    let record = |contender: &str, values: &[f64], ratio| {
        let (min, max) = range(values);
        Record {
            suite: "drop-in".to_owned(),
            case: format!("{}-{suffix}", program.name),
            contender: contender.to_owned(),
            workers,
            unit: unit.to_owned(),
            median: median(values),
            min,
            max,
            pairs: values.len(),
            ratio,
            ratio_range: None,
            machine: measurement.environment.machine.clone(),
            mode: "mixed".to_owned(),
            commit: measurement.environment.commit.clone(),
        }
    };
    let ratio = median(own) / median(theirs);
    vec![
        record("raddle", own, None),
        record("rayon", theirs, Some(ratio)),
    ]
}

/// Compares both builds of the loops in one case.
fn compare_loops(
    measurement: &mut Measurement<'_>,
    builds: &Builds,
    name: &'static str,
    unit: Unit,
    repetitions: u64,
) -> Result<(), BenchError> {
    let fresh = |variant: Variant| Fresh {
        name: variant.name(),
        program: builds.program(variant, LOOPS_PROGRAM),
    };
    let (mut raddle, mut rayon) = (fresh(Variant::Raddle), fresh(Variant::Rayon));
    for workers in measurement.workers.clone() {
        let mut case = Case {
            suite: "drop-in",
            name,
            unit,
            repetitions,
            file: None,
            expected: 0,
            tolerance: 0,
        };
        case.expected = rayon.measure(&case.request(workers))?.result;
        let mut peers: [Box<dyn Contender + '_>; 1] = [Box::new(&mut rayon)];
        measurement.compare_on(workers, &case, &mut raddle, &mut peers)?;
    }
    Ok(())
}

/// A program of loops that is started for each run.
struct Fresh {
    name: &'static str,
    program: PathBuf,
}

impl Contender for Fresh {
    fn name(&self) -> &str {
        self.name
    }

    fn measure(&mut self, request: &Request<'_>) -> Result<Sample, BenchError> {
        Peer::start_program(self.name, &self.program)?.measure(request)
    }
}

/// Draws the ratios of the times.
///
/// # Errors
/// [`BenchError::Plot`] if the file cannot be written.
pub(crate) fn plot(records: &[Record], path: &Path) -> Result<(), BenchError> {
    let drawn: Vec<Record> = records
        .iter()
        .filter(|record| DRAWN.contains(&record.case.as_str()))
        .cloned()
        .collect();
    bars::plot(&drawn, "time on Raddle, divided by the time on rayon", path)
}

/// Returns the geometric means of the ratios, of programs and of loops, for each number of workers.
pub(crate) fn summary(records: &[Record]) -> Option<String> {
    let mut workers: Vec<_> = records.iter().map(|record| record.workers).collect();
    workers.sort_unstable();
    workers.dedup();
    let of = |what: &str, is_of: fn(&str) -> bool| -> Vec<String> {
        let lines = workers.iter().filter_map(|&workers| {
            let ratios: Vec<f64> = records
                .iter()
                .filter(|record| record.workers == workers && is_of(&record.case))
                .filter_map(|record| record.ratio)
                .collect();
            let count = ratios.len();
            (count > 1).then(|| {
                let logs: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
                let mean = (logs / count as f64).exp();
                let (_, worst) = range(&ratios);
                format!(
                    "geometric mean of {count} {what}, {workers} workers: {mean:.3}; at most \
                     {worst:.3}"
                )
            })
        });
        lines.collect()
    };
    let is_program = |case: &str| PROGRAMS.iter().any(|program| program.name == case);
    let mut lines = of("programs", is_program);
    lines.extend(of("loops", |case| case.starts_with("loop-")));
    (!lines.is_empty()).then(|| lines.join("\n"))
}
