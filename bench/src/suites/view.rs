//! The live view: `raddle view` with a real volume, asked for pictures as its page asks for them.
//!
//! - `first-picture`: the time from the start of the program to its first fine picture.
//! - `drag-surface`, `drag-direct`, `drag-maximum`: the pictures per second that a page receives
//!   while the user drags, in each mode. They are coarse: the program renders them as small as the
//!   time for a picture requires. `-edge` is the median of their widths in pixels.
//! - `two-surface`, `two-direct`, `two-maximum`: the same for each of two pages at once.
//! - `rest`: the CPU time of the program while a page is connected and asks for nothing.
//!
//! Each run starts the program that lies beside this one. The volume is *heptane* with the isovalue
//! 60, the picture has 512 × 512 pixels, and a drag asks for 60 pictures per second. After a drag,
//! the fine picture of the last request has to come.

mod page;
mod program;

use std::path::PathBuf;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use self::page::{Drag, EDGE, Page};
use self::program::{Program, failed};
use crate::error::BenchError;
use crate::harness::{Case, Local, Request, Sample, Unit};
use crate::load;
use crate::record::{Record, median, range};
use crate::suites::Measurement;

const SUITE: &str = "view";

/// The names of the cases.
pub(crate) const CASES: [&str; 8] = [
    "first-picture",
    "drag-surface",
    "drag-direct",
    "drag-maximum",
    "two-surface",
    "two-direct",
    "two-maximum",
    "rest",
];

/// The file of the volume.
const FILE: &str = "heptane_302x302x302_u8.raw.zst";
/// The time of a drag.
const DRAG: Duration = Duration::from_secs(3);
/// The time from the last picture to the measurement of rest, in which the workers fall asleep.
const SETTLING: Duration = Duration::from_secs(1);
/// The measured time of rest.
const REST: Duration = Duration::from_secs(5);

/// Checks that the volume and the program are there.
///
/// # Errors
/// [`BenchError::NoData`] or [`BenchError::Contender`].
pub(crate) fn check() -> Result<(), BenchError> {
    super::check_data(&file())?;
    program::path().map(drop)
}

/// Runs the suite.
///
/// # Errors
/// A program that cannot be started or ends; and those of [`Measurement::compare_on`].
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    for name in CASES {
        if !measurement.wants(name) {
            continue;
        }
        for workers in measurement.workers.clone() {
            run_on(workers, measurement, name)?;
        }
    }
    Ok(())
}

fn run_on(workers: usize, measurement: &mut Measurement<'_>, name: &str) -> Result<(), BenchError> {
    match name.split_once('-') {
        Some(("drag", mode)) => drag(workers, measurement, name, mode, 1),
        Some(("two", mode)) => drag(workers, measurement, name, mode, 2),
        Some(_) => {
            let unit = Unit::Milliseconds;
            compare(workers, measurement, name, unit, first_picture)
        }
        None => {
            let unit = Unit::Percent { of: REST };
            compare(workers, measurement, name, unit, rest)
        }
    }
}

fn file() -> PathBuf {
    super::data_folder().join("volume").join(FILE)
}

/// Measures a case. Its result is the number of pixels of a fine picture.
fn compare(
    workers: usize,
    measurement: &mut Measurement<'_>,
    name: &str,
    unit: Unit,
    run: impl FnMut(&Request<'_>) -> Result<Sample, BenchError>,
) -> Result<(), BenchError> {
    let case = Case {
        suite: SUITE,
        name,
        unit,
        repetitions: 1,
        file: None,
        expected: EDGE * EDGE,
        tolerance: 0,
    };
    measurement.compare_on(workers, &case, &mut Local::new("raddle", run), &mut [])
}

/// Starts the program and waits for its first picture.
fn first_picture(request: &Request<'_>) -> Result<Sample, BenchError> {
    let begun = Instant::now();
    let program = Program::start(&file(), request.workers)?;
    let mut page = Page::open(program.address())?;
    let result = page.fine("surface")?;
    Ok(Sample {
        time: begun.elapsed(),
        result,
    })
}

/// Measures the CPU time of a program that has nothing to do.
fn rest(request: &Request<'_>) -> Result<Sample, BenchError> {
    let program = Program::start(&file(), request.workers)?;
    let mut page = Page::open(program.address())?;
    let result = page.fine("surface")?;
    thread::sleep(SETTLING);
    let cpu_time = || load::cpu_time(program.id()).ok_or_else(|| failed("it has ended"));
    let before = cpu_time()?;
    thread::sleep(REST);
    let time = cpu_time()? - before;
    Ok(Sample { time, result })
}

/// Measures the rate of the pictures of a drag on each of several pages, and their width.
fn drag(
    workers: usize,
    measurement: &mut Measurement<'_>,
    name: &str,
    mode: &str,
    page_count: usize,
) -> Result<(), BenchError> {
    let mut edges = Vec::new();
    compare(workers, measurement, name, Unit::PerSecond, |request| {
        let program = Program::start(&file(), request.workers)?;
        let drags = drags(program.address(), mode, page_count)?;
        let widths = drags.iter().flat_map(|drag| &drag.widths);
        let widths: Vec<f64> = widths.map(|&width| f64::from(width)).collect();
        if widths.is_empty() {
            return Err(failed("no picture during a drag"));
        }
        edges.push(median(&widths));
        let time: Duration = drags.iter().map(|drag| drag.time).sum();
        Ok(Sample {
            time: time.div_f64(widths.len() as f64),
            result: drags.iter().map(|drag| drag.fine_pixels).min().unwrap_or(0),
        })
    })?;
    let record = edge_record(workers, measurement, name, &edges);
    measurement.add(vec![record])
}

/// Drags on several pages at once.
fn drags(address: &str, mode: &str, page_count: usize) -> Result<Vec<Drag>, BenchError> {
    let mut pages = (0..page_count)
        .map(|_| {
            let mut page = Page::open(address)?;
            page.fine(mode)?;
            Ok(page)
        })
        .collect::<Result<Vec<_>, BenchError>>()?;
    let together = Barrier::new(page_count);
    thread::scope(|scope| {
        let threads = pages.iter_mut().map(|page| {
            scope.spawn(|| {
                together.wait();
                page.drag(mode, DRAG)
            })
        });
        let threads: Vec<_> = threads.collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread.join().expect("a page reports its errors")
        };
        threads.into_iter().map(join).collect()
    })
}

/// Returns the record of the widths of coarse pictures, of which each run has a median.
fn edge_record(workers: usize, measurement: &Measurement<'_>, name: &str, edges: &[f64]) -> Record {
    let (min, max) = range(edges);
    Record {
        suite: SUITE.to_owned(),
        case: format!("{name}-edge"),
        contender: "raddle".to_owned(),
        workers,
        unit: "px".to_owned(),
        median: median(edges),
        min,
        max,
        pairs: edges.len(),
        ratio: None,
        ratio_range: None,
        machine: measurement.environment.machine.clone(),
        mode: "mixed".to_owned(),
        commit: measurement.environment.commit.clone(),
    }
}
