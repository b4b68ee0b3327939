//! Figures 2, 4, 5 and 8: what it brings to go about one thing another way, all else being equal.

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

/// Who is built just as the old way is: how far its ratio is from 1 is how far apart equal builders are.
const AGAIN: &str = "again";

/// So many triangles have a worker task: every cell that tasks split has some, as in the study.
const TRIANGLES_PER_TASK: usize = 8 * 1024;

/// Measures the old way in turn with itself, in a second builder, and with each of the others: a ratio is the speedup of the other.
pub(super) fn run(
    measurement: &mut Measurement<'_>,
    stage: &Stage<'_>,
    figure: &str,
) -> Result<(), BenchError> {
    let best = MessageOptions {
        triangles_per_task: Some(TRIANGLES_PER_TASK),
        ..stage.best()?
    };
    let mut ways = ways(figure, best).into_iter();
    let Some((name, options)) = ways.next() else {
        return Ok(());
    };
    let mut old = stage.messages(name, options)?;
    let mut others: Vec<Box<dyn Contender + '_>> = vec![Box::new(stage.messages(AGAIN, options)?)];
    for (name, options) in ways {
        others.push(Box::new(stage.messages(name, options)?));
    }
    let name = stage.subject.case_name(figure);
    let case = stage.subject.case(&name);
    measurement.compare_on(stage.workers(), &case, &mut old, &mut others)
}

/// The ways of a figure by their names, the one first that the study measures the others against.
fn ways(figure: &str, best: MessageOptions) -> Vec<(&'static str, MessageOptions)> {
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
                // Their teams are in arrays, and of arrays alone is known which worker has which element: a section of tasks that were made
                // for a cell is never two-level.
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

/// A panel for each other way and depth, a line for each mesh, as in the study. What is noise is in the records alone.
pub(super) fn charts(records: &[Record]) -> Vec<Chart<'_>> {
    Chart::of_ratios(records, "speedup", |record| {
        let name = Name::parse(&record.case)?;
        if !FIGURES.contains(&name.figure) || record.who == AGAIN {
            return None;
        }
        Some(Place {
            panel: title(&name, &record.who),
            line: name.mesh.to_owned(),
            value: record.ratio?,
        })
    })
}

/// The title of a panel: which figure of the study it is, and what the ratio is of.
fn title(name: &Name<'_>, who: &str) -> String {
    let number = match name.figure {
        "balance" => 2,
        "sync" => 4,
        "scans" => 5,
        _ => 8,
    };
    let ways = ways(name.figure, MessageOptions::default());
    let old = ways.first().map_or("", |&(old, _)| old);
    format!("fig. {number}: {old} over {who}, depth {}", name.depth)
}

#[cfg(test)]
mod tests;
