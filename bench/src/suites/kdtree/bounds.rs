//! The two builds with bounds: `dragon-d15` by messages, `bunny-d15` sequentially.

use std::fmt::Write as _;

use super::builders::{self, Peer};
use super::runtime_of;
use super::stage::Stage;
use super::subject::{Source, Subject};
use crate::error::BenchError;
use crate::record::Record;
use crate::suites::Measurement;

/// The depth of both trees.
const DEPTH: u32 = 15;
/// The number of workers for which the build by messages has bounds.
const WORKERS: usize = 2;

/// The bounds: case, number of workers, peer, and the maximum of Raddle's time over the peer's.
const BOUNDS: [(&str, usize, &str, f64); 4] = [
    ("dragon-d15", WORKERS, "serial", 0.56),
    ("dragon-d15", WORKERS, "tasks", 1.0),
    ("dragon-d15", WORKERS, "rayon", 0.67),
    ("bunny-d15", 1, "bvh", 4.5),
];

/// The cases, and the mesh of each.
const MESHES: [(&str, &str); 2] = [("dragon-d15", "dragon"), ("bunny-d15", "bunny")];

/// Checks that the meshes of the requested cases exist.
pub(super) fn check(measurement: &Measurement<'_>) -> Result<(), BenchError> {
    MESHES
        .iter()
        .filter(|(case, _)| measurement.wants(case))
        .try_for_each(|(_, mesh)| Source::of_data(mesh).check())
}

/// Measures the requested cases.
pub(super) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    let [dragon_mesh, bunny_mesh] = MESHES.map(|(_, mesh)| mesh);
    if measurement.wants("dragon-d15") {
        let input = Source::of_data(dragon_mesh).load()?;
        dragon(measurement, &Subject::new(&input, DEPTH)?)?;
    }
    if measurement.wants("bunny-d15") {
        let input = Source::of_data(bunny_mesh).load()?;
        bunny(measurement, &Subject::new(&input, DEPTH)?)?;
    }
    Ok(())
}

/// Compares the best build by messages with every peer.
pub(super) fn dragon(
    measurement: &mut Measurement<'_>,
    subject: &Subject<'_>,
) -> Result<(), BenchError> {
    let workers = if measurement.are_workers_asked {
        measurement.workers.clone()
    } else {
        vec![WORKERS]
    };
    for workers in workers {
        let runtime = runtime_of(workers)?;
        let stage = Stage::new(subject, &runtime);
        let mut own = stage.messages("raddle", stage.best()?)?;
        let mut peers = Peer::all_on(Peer::ALL, &stage, measurement);
        measurement.compare_on(workers, &subject.case("dragon-d15"), &mut own, &mut peers)?;
    }
    Ok(())
}

/// Compares the sequential builder with the crate `bvh`.
pub(super) fn bunny(
    measurement: &mut Measurement<'_>,
    subject: &Subject<'_>,
) -> Result<(), BenchError> {
    let mut own = builders::serial(subject);
    let bvh = builders::bvh(subject);
    measurement.compare_on(
        1,
        &subject.case("bunny-d15"),
        &mut own,
        &mut [Box::new(bvh)],
    )
}

/// Returns a table of the ratios of the two cases, with the verdict on each bound.
pub(super) fn table(records: &[Record]) -> Option<String> {
    let is_bounded = |case: &str| BOUNDS.iter().any(|&(bounded, ..)| bounded == case);
    let mut text = format!(
        "{:<22} {:>7} {:>12} {:>10} {:>12} {:>6} {:>8}",
        "milliseconds", "workers", "raddle", "peer", "peer's", "ratio", "at most"
    );
    let mut rows = 0;
    for theirs in records.iter().filter(|record| is_bounded(&record.case)) {
        let own = records.iter().find(|own| {
            (&own.case, own.workers) == (&theirs.case, theirs.workers) && own.ratio.is_none()
        });
        let (Some(own), Some(ratio)) = (own, theirs.ratio) else {
            continue;
        };
        let bound = BOUNDS
            .iter()
            .find(|bound| {
                (bound.0, bound.1, bound.2) == (&theirs.case, theirs.workers, &theirs.contender)
            })
            .map(|&(.., bound)| bound);
        let verdict = bound.map(|bound| verdict(theirs, ratio, bound));
        rows += 1;
        // Writing to a string cannot fail.
        let _infallible = write!(
            text,
            "\n{:<22} {:>7} {:>12.3} {:>10} {:>12.3} {ratio:>6.3} {:>8}  {}",
            theirs.case,
            theirs.workers,
            own.median,
            theirs.contender,
            theirs.median,
            bound.map_or_else(|| "-".to_owned(), |bound| bound.to_string()),
            verdict.unwrap_or_default(),
        );
    }
    (rows > 0).then_some(text)
}

/// Returns "yes" or "no" for a ratio and its bound, or the mode if other processes used the
/// machine.
pub(super) fn verdict(record: &Record, ratio: f64, bound: f64) -> &str {
    match ratio <= bound {
        _ if record.is_loaded() => &record.mode,
        true => "yes",
        false => "no",
    }
}
