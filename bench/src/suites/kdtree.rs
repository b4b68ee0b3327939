//! The construction of the kd-tree by messages: the effect of each option of the builder, and a
//! comparison with other builders.
//!
//! - `dragon-d15`: the build by messages against every peer: dragon, depth 15, 2 workers.
//! - `bunny-d15`: the sequential builder against the crate `bvh`: bunny, depth 15, one thread.
//! - `grain` (figure 1 and table I of the study), over the number of node tasks: `static` numbers
//!   of node tasks. Then the best of them against a `tuned` builder, which has learned from 8
//!   builds.
//! - `balance` (figure 2), over workers: `static` worker tasks against `dynamic` ones.
//! - `sync` (figure 4), over workers: sections of `static` worker tasks in the form `two-level`
//!   against the other forms.
//! - `scans` (figure 5), over workers: scans by `recursive-doubling` against the other choices.
//! - `arrays` (figure 8), over workers: `plain` arrays against `chunked` ones.
//! - `speedup` (figure 9), over workers: the speedup over the sequential builder, by messages and
//!   of every peer. Counters show where the rest of the time goes.
//! - `relative` (table II), over workers: the time of each parallel peer over that of the build by
//!   messages.
//!
//! All but the first two are measured for every mesh, at depths 8 and 15. The study shows speedups,
//! old over new. So in figures 2, 4, 5 and 8 the ratios are those of the old variant, and a ratio
//! above 1 means that the new variant is better. In all other cases the ratios are those of the
//! build by messages. In figures 2, 4, 5 and 8 the old variant occurs a second time, as `again`, in
//! a builder of its own. A ratio is significant only if it is further from 1 than the ratio of
//! `again`.
//!
//! Only construction is timed, as in the study. The triangles are copied and their events sorted
//! before the clock starts, and the lists that a build used are freed outside the timed section.
//! Then every tree is compared with the sequential one, node for node. A builder with a different
//! tree has no result.
//!
//! Peers: `serial` and `tasks` (Raddle's), `rayon` and `onetbb` (the published nested algorithm,
//! optimised for speed), `rayon-tasks` (Raddle's builder by tasks on rayon's threads), `bvh` (the
//! crate).
//!
//! The number of node tasks is the best of a short search on the same mesh and workers, except in
//! `grain`. So is the grain of `rayon` and `onetbb`. Every other option has its default, with two
//! exceptions. In figures 2, 4, 5 and 8, every cell that tasks split has worker tasks, since these
//! are measured. And figure 4 uses `static` worker tasks, since a section of `dynamic` ones is
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
mod rayon_tasks;
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

/// The cases that are measured for every mesh, and drawn.
pub(crate) const FIGURES: [&str; 7] = [
    "grain", "balance", "sync", "scans", "arrays", "speedup", "relative",
];

/// A description of each case, in one line, for the help of the suite.
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
        "fig. 2: worker tasks created in advance against those created for a cell",
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
        "fig. 9: builds by messages and every peer over the sequential builder; lost time",
    ),
    (
        "relative",
        "table II: each parallel peer's time over that of the build by messages",
    ),
];

/// The depths in the study.
const DEPTHS: [u32; 2] = [8, 15];

/// Checks that all meshes exist, and that those named by the caller can be read. This happens
/// before anything is measured.
///
/// # Errors
/// [`BenchError::NoData`] or [`BenchError::File`].
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

/// Returns true if the two cases with meshes of their own are wanted. A caller that names meshes,
/// but no case, does not want them.
fn wants_bounds(measurement: &Measurement<'_>) -> bool {
    measurement.case.is_some() || measurement.meshes.is_empty()
}

fn wants_figures(measurement: &Measurement<'_>) -> bool {
    FIGURES.iter().any(|figure| measurement.wants(figure))
}

/// Runs the suite.
///
/// # Errors
/// Those of [`check`] and [`Measurement::compare`].
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    if wants_bounds(measurement) {
        bounds::run(measurement)?;
    }
    if wants_figures(measurement) {
        for source in Source::of_figures(measurement)? {
            match source.load() {
                Ok(input) => figures(measurement, &input)?,
                // A file found in the data folder, not named by the caller, may be no mesh.
                Err(error) if measurement.meshes.is_empty() => {
                    (measurement.warn)(format!("left out: {error}"));
                }
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

/// Measures all requested figures on a mesh.
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
                    // The figure's times also make the table.
                    "relative" if measurement.wants("speedup") => Ok(()),
                    "speedup" | "relative" => speedup::run(measurement, &stage, figure),
                    _ => switches::run(measurement, &stage, figure),
                }?;
            }
        }
    }
    Ok(())
}

/// Returns the charts of the records.
pub(crate) fn charts(records: &[Record]) -> Vec<Chart<'_>> {
    let mut charts = grain::charts(records);
    charts.extend(switches::charts(records));
    charts.extend(speedup::charts(records));
    charts
}

/// Returns the tables of the bounds and those of the study.
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

/// Converts the failure of a builder.
fn failure(name: &str, error: &dyn std::error::Error) -> BenchError {
    BenchError::contender(name, error)
}

#[cfg(test)]
mod tests;
