//! The kd-tree by messages: what each of its switches is worth, and how it stands against other
//! builders.
//!
//! | case | in the study | measured | over |
//! |---|---|---|---|
//! | `dragon-d15` | | the build by messages against every peer: dragon, depth 15, 2 workers | |
//! | `bunny-d15` | | the sequential builder against the crate `bvh`: bunny, depth 15, one thread | |
//! | `grain` | fig. 1, table I | a `static` number of node tasks; then the best of them against a `tuned` builder, which has learned from 8 builds | node tasks |
//! | `balance` | fig. 2 | `static` worker tasks against `dynamic` ones | workers |
//! | `sync` | fig. 4 | sections of `static` worker tasks in the form `two-level` against the other forms | workers |
//! | `scans` | fig. 5 | scans by `recursive-doubling` against the other choices | workers |
//! | `arrays` | fig. 8 | `plain` arrays against `chunked` ones | workers |
//! | `speedup` | fig. 9 | the speedup over the sequential builder: ours by messages and every peer's; and what ours lacks, from counters | workers |
//! | `relative` | table II | each parallel peer's time over ours | workers |
//!
//! All but the first two are measured for every mesh, at depth 8 and 15. The study shows speedups,
//! old over new: so the old way is who the ratios are of, and a ratio above 1 says that the new way
//! is the better one. In all other cases it is the build by messages. In the figures 2, 4, 5 and 8
//! the old way stands there a second time, as `again`, in a builder of its own: a ratio says
//! something if it is further from 1 than that one.
//!
//! The clock sees construction alone, as the study's did: the triangles are copied and their events
//! sorted before it starts, and the lists that a build used up are freed outside of that. Then
//! every tree is compared with the sequential one, node for node; a builder whose tree differs has
//! no figure.
//!
//! Peers: `serial` and `tasks` (ours), `rayon` and `onetbb` (the published nested algorithm, made
//! for speed), `rayon-crew` (ours by tasks on rayon's threads), `bvh` (the crate).
//!
//! Unless it is what is asked, the number of node tasks is the best of a short search on the same
//! mesh and workers, as is the grain of `rayon` and `onetbb`, and every other choice is the
//! default; but in the figures 2, 4, 5 and 8 every cell that tasks split has worker tasks, since it
//! is these that are measured; and figure 4 has `static` ones, since a section of `dynamic` ones is
//! never two-level.
//!
//! # Source
//! Jetley, Kalé: Optimizations for message driven applications on multicore architectures. HiPC
//! 2011, sections IV to VI.

mod bounds;
mod builders;
mod grain;
mod losses;
mod onetbb;
mod rayon_crew;
mod speedup;
mod stage;
mod subject;
mod switches;

use raddle::Runtime;

use crate::chart::Chart;
use crate::error::BenchError;
use crate::pools::placed_alone;
use crate::record::Record;
use crate::suites::Measurement;
use stage::Stage;
use subject::{Input, Source, Subject};

/// The names of the cases.
pub(crate) const CASES: [&str; 9] = [
    "dragon-d15",
    "bunny-d15",
    "grain",
    "balance",
    "sync",
    "scans",
    "arrays",
    "speedup",
    "relative",
];

/// Those of them that are measured for every mesh, and drawn.
pub(crate) const FIGURES: [&str; 7] = [
    "grain", "balance", "sync", "scans", "arrays", "speedup", "relative",
];

/// What each case is, a line each; the help of the suite.
pub(crate) const ABOUT: [(&str, &str); 9] = [
    (
        "dragon-d15",
        "the build by messages against every peer: dragon, depth 15, 2 workers",
    ),
    (
        "bunny-d15",
        "the sequential builder against the crate bvh: bunny, depth 15, one thread",
    ),
    (
        "grain",
        "fig. 1, table I: static numbers of node tasks; the best of them against a tuned one",
    ),
    (
        "balance",
        "fig. 2: worker tasks made beforehand against those made for a cell",
    ),
    (
        "sync",
        "fig. 4: two-level sections of static worker tasks against the other forms",
    ),
    (
        "scans",
        "fig. 5: scans by recursive doubling against the other choices",
    ),
    ("arrays", "fig. 8: plain arrays against chunked ones"),
    (
        "speedup",
        "fig. 9: ours by messages and every peer over the sequential builder; what ours lacks",
    ),
    ("relative", "table II: each parallel peer's time over ours"),
];

/// The study's depths.
const DEPTHS: [u32; 2] = [8, 15];

/// Finds out before anything is measured whether all meshes are there, and those that were named
/// can be read.
///
/// # Errors
/// [`BenchError::NoData`] or [`BenchError::Mesh`].
pub(crate) fn check(measurement: &Measurement<'_>) -> Result<(), BenchError> {
    if wants_bounds(measurement) {
        bounds::check(measurement)?;
    }
    if wants_figures(measurement) {
        let sources = Source::of_figures(measurement)?;
        sources.iter().try_for_each(Source::check)?;
    }
    Ok(())
}

/// Cases that have a mesh of their own are not what somebody asks for who names meshes.
fn wants_bounds(measurement: &Measurement<'_>) -> bool {
    measurement.case.is_some() || measurement.meshes.is_empty()
}

fn wants_figures(measurement: &Measurement<'_>) -> bool {
    FIGURES.iter().any(|figure| measurement.wants(figure))
}

/// Runs the suite.
///
/// # Errors
/// As [`check`] and [`Measurement::compare`].
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    if wants_bounds(measurement) {
        bounds::run(measurement)?;
    }
    if wants_figures(measurement) {
        for source in Source::of_figures(measurement)? {
            match source.load() {
                Ok(input) => figures(measurement, &input)?,
                // What was found, not named, need not be a mesh.
                Err(error) if measurement.meshes.is_empty() => {
                    (measurement.warn)(format!("left out: {error}"));
                }
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

/// Measures all figures that are wanted on a mesh.
fn figures(measurement: &mut Measurement<'_>, input: &Input) -> Result<(), BenchError> {
    for depth in DEPTHS {
        let subject = Subject::new(input, depth)?;
        for workers in measurement.workers.clone() {
            let runtime = runtime_of(workers)?;
            let stage = Stage::new(&subject, &runtime);
            for figure in FIGURES {
                match figure {
                    _ if !measurement.wants(figure) => Ok(()),
                    "grain" => grain::run(measurement, &stage),
                    // The figure's times make the table too.
                    "relative" if measurement.wants("speedup") => Ok(()),
                    "speedup" | "relative" => speedup::run(measurement, &stage, figure),
                    _ => switches::run(measurement, &stage, figure),
                }?;
            }
        }
    }
    Ok(())
}

/// The records' figures.
pub(crate) fn charts(records: &[Record]) -> Vec<Chart<'_>> {
    let mut charts = grain::charts(records);
    charts.extend(switches::charts(records));
    charts.extend(speedup::charts(records));
    charts
}

/// The bounds, and the study's tables.
pub(crate) fn summary(records: &[Record]) -> Option<String> {
    let tables = [
        bounds::table(records),
        grain::table(records),
        grain::table_of_tuned(records),
        losses::table(records),
        speedup::table(records),
    ];
    let tables: Vec<String> = tables.into_iter().flatten().collect();
    (!tables.is_empty()).then(|| tables.join("\n\n"))
}

fn runtime_of(workers: usize) -> Result<Runtime, BenchError> {
    placed_alone(Runtime::builder())
        .workers(workers)
        .build()
        .map_err(|error| failure("raddle", &error))
}

/// What ended a builder.
fn failure(who: &str, error: &dyn std::error::Error) -> BenchError {
    BenchError::Contender {
        contender: who.to_owned(),
        message: error.to_string(),
    }
}

#[cfg(test)]
mod tests;
