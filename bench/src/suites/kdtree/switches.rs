//! Figures 2, 4, 5 and 8: the effect of changing one option while all others stay the same.

use raddle::chare::SectionForm;
use raddle_graphics::kdtree::messages::{MessageOptions, ScanChoice, SharedArrays, WorkerTasks};

use super::stage::Stage;
use super::subject::Name;
use crate::chart::{Chart, Place};
use crate::error::BenchError;
use crate::harness::Contender;
use crate::record::Record;
use crate::suites::Measurement;

/// The figures that are measured here.
const FIGURES: [&str; 4] = ["balance", "sync", "scans", "arrays"];

/// The name of a second builder with the old variant. The distance of its ratio from 1 shows the
/// noise between equal builders.
const AGAIN: &str = "again";

/// The number of triangles per worker task. With it, every cell that tasks split has worker tasks,
/// as in the study.
const TRIANGLES_PER_TASK: usize = 8 * 1024;

/// Compares the old variant with itself, in a second builder, and with each of the others. A ratio
/// is the speedup of the other variant.
pub(super) fn run(
    measurement: &mut Measurement<'_>,
    stage: &Stage<'_>,
    figure: &str,
) -> Result<(), BenchError> {
    let best = MessageOptions {
        triangles_per_task: Some(TRIANGLES_PER_TASK),
        ..stage.best()?
    };
    let mut variants = variants(figure, best).into_iter();
    let Some((name, options)) = variants.next() else {
        return Ok(());
    };
    let mut old = stage.messages(name, options)?;
    let mut others: Vec<Box<dyn Contender + '_>> = vec![Box::new(stage.messages(AGAIN, options)?)];
    for (name, options) in variants {
        others.push(Box::new(stage.messages(name, options)?));
    }
    let name = stage.subject.case_name(figure);
    let case = stage.subject.case(&name);
    measurement.compare_on(stage.workers(), &case, &mut old, &mut others)
}

/// Returns the variants of a figure with their names. The first is the one with which the study
/// compares the others.
fn variants(figure: &str, best: MessageOptions) -> Vec<(&'static str, MessageOptions)> {
    match figure {
        "balance" => [WorkerTasks::Static, WorkerTasks::Dynamic]
            .map(|worker_tasks| {
                (
                    worker_tasks.name(),
                    MessageOptions {
                        worker_tasks,
                        ..best
                    },
                )
            })
            .to_vec(),
        "sync" => [
            SectionForm::TwoLevel,
            SectionForm::PointToPoint,
            SectionForm::Binomial,
            SectionForm::Auto,
        ]
        .map(|sync| {
            let options = MessageOptions {
                sync,
                // Static worker tasks are in arrays. Only for arrays is it known which worker has
                // which element, so a section of tasks created for a cell is never two-level.
                worker_tasks: WorkerTasks::Static,
                ..best
            };
            (sync.name(), options)
        })
        .to_vec(),
        "scans" => [
            ScanChoice::RecursiveDoubling,
            ScanChoice::PrescanPush,
            ScanChoice::ByDepth,
        ]
        .map(|scans| (scans.name(), MessageOptions { scans, ..best }))
        .to_vec(),
        "arrays" => [SharedArrays::Plain, SharedArrays::Chunked]
            .map(|arrays| (arrays.name(), MessageOptions { arrays, ..best }))
            .to_vec(),
        _ => Vec::new(),
    }
}

/// Returns a chart for each new variant and depth, with a line for each mesh, as in the study. The
/// noise is only in the records.
pub(super) fn charts(records: &[Record]) -> Vec<Chart<'_>> {
    Chart::of_ratios(records, "speedup", |record| {
        let name = Name::parse(&record.case)?;
        if !FIGURES.contains(&name.figure) || record.contender == AGAIN {
            return None;
        }
        Some(Place {
            panel: title(&name, &record.contender),
            line: name.mesh.to_owned(),
            value: record.ratio?,
        })
    })
}

/// Returns the title of a chart: the number of the figure in the study, and the meaning of the
/// ratio.
fn title(name: &Name<'_>, contender: &str) -> String {
    let number = match name.figure {
        "balance" => 2,
        "sync" => 4,
        "scans" => 5,
        _ => 8,
    };
    let variants = variants(name.figure, MessageOptions::default());
    let old = variants.first().map_or("", |&(old, _)| old);
    format!(
        "fig. {number}: {old} over {contender}, depth {}",
        name.depth
    )
}

#[cfg(test)]
mod tests;
