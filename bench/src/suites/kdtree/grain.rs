//! Figure 1 and table I: the effect of the number of node tasks on the time, and the quality of the
//! number that the tuner finds.

use std::fmt::Write as _;

use raddle_graphics::kdtree::messages::{MessageOptions, NodeGrain};

use super::bounds::verdict;
use super::stage::{Stage, node_tasks_up_to, with_node_tasks};
use super::subject::Name;
use crate::chart::{Chart, Lines};
use crate::error::BenchError;
use crate::harness::Contender;
use crate::record::Record;
use crate::suites::Measurement;

/// The number of builds from which the tuner learns before it is measured.
const BUILDS_BEFORE: usize = 8;
/// The part of these builds that happens anyway: one in a new builder, and two that the harness
/// discards.
const BUILDS_BESIDE: usize = 3;
/// The bound on the tuned time over that of the best static number.
const TUNED_MAX: f64 = 1.03;

/// Table I of the study, for `happy` at depth 8: cores, average over minimum, maximum over minimum.
const STUDY: [(usize, f64, f64); 4] = [
    (2, 1.23, 1.37),
    (4, 1.08, 1.24),
    (8, 1.12, 1.35),
    (16, 1.16, 1.45),
];

/// Compares every number of node tasks with a number from a short search, and then a tuned builder
/// with the best number.
///
/// The other side of the sweep is not a tuned builder. A tuned builder gets faster while it learns,
/// so the numbers that are compared with it first would look better.
pub(super) fn run(measurement: &mut Measurement<'_>, stage: &Stage<'_>) -> Result<(), BenchError> {
    let subject = stage.subject;
    let figure = subject.case_name("grain");
    {
        let mut own = stage.messages("raddle", stage.best()?)?;
        for node_tasks in node_tasks_up_to(subject.depth) {
            let name = format!("{figure}/{node_tasks}");
            let fixed = stage.messages("static", with_node_tasks(node_tasks))?;
            measurement.compare_on(
                stage.workers(),
                &subject.case(&name),
                &mut own,
                &mut [Box::new(fixed)],
            )?;
        }
    }
    let sweep = Sweep::of(&measurement.records, &figure, stage.workers());
    let Some(best) = sweep.best() else {
        return Ok(());
    };
    // The best of many measurements is partly due to chance, so it is measured once more.
    let name = format!("{}/{best}", subject.case_name("tuned"));
    let fixed = stage.messages("static", with_node_tasks(best))?;
    measurement.compare_on(
        stage.workers(),
        &subject.case(&name),
        &mut tuned(stage)?,
        &mut [Box::new(fixed)],
    )
}

/// Creates a tuned builder that has built several times.
fn tuned<'a>(stage: &Stage<'a>) -> Result<impl Contender + use<'a>, BenchError> {
    let options = MessageOptions {
        grain: NodeGrain::Tuned,
        ..MessageOptions::default()
    };
    let builder = stage.messages("tuned", options)?;
    for _ in 0..BUILDS_BEFORE - BUILDS_BESIDE {
        builder.build()?;
    }
    Ok(builder)
}

/// The static numbers of node tasks of a case, with the time of each relative to the build with
/// which it alternated.
#[derive(Debug)]
struct Sweep(Vec<(usize, f64)>);

impl Sweep {
    /// Returns the sweep of a case. The name is the part before the slash.
    fn of(records: &[Record], case: &str, workers: usize) -> Self {
        let time = |record: &Record| {
            let (name, node_tasks) = record.case.split_once('/')?;
            let is_of_it = name == case && record.workers == workers;
            Some((node_tasks.parse().ok()?, 1.0 / record.ratio?)).filter(|_| is_of_it)
        };
        Self(records.iter().filter_map(time).collect())
    }

    /// Returns the number of node tasks with the smallest time.
    fn best(&self) -> Option<usize> {
        let least = self.0.iter().min_by(|a, b| a.1.total_cmp(&b.1));
        least.map(|&(node_tasks, _)| node_tasks)
    }

    /// Returns the average and the maximum over the minimum.
    fn over_least(&self) -> Option<(f64, f64)> {
        let times = || self.0.iter().map(|&(_, time)| time);
        let least = times().min_by(f64::total_cmp)?;
        let most = times().max_by(f64::total_cmp)?;
        let average = times().sum::<f64>() / self.0.len() as f64;
        Some((average / least, most / least))
    }
}

/// Returns the charts of the sweeps, one for each mesh and depth. The build with which the static
/// numbers alternated is not drawn.
pub(super) fn charts(records: &[Record]) -> Vec<Chart<'_>> {
    let charts = Chart::of_curves(records, Lines::OfEachWorkers, |case, contender| {
        (is_of("grain", case) && contender == "static").then_some("node tasks")
    });
    let titled = charts.into_iter().filter_map(|chart| {
        let name = Name::parse(chart.cases().first()?)?;
        let title = format!("fig. 1: {}, depth {}", name.mesh, name.depth);
        let quantity = chart.quantity();
        Some(chart.titled(&title, quantity))
    });
    titled.collect()
}

/// Returns table I: the cost of an arbitrary number of node tasks, on average and at worst.
pub(super) fn table(records: &[Record]) -> Option<String> {
    let mut cases: Vec<(&str, usize)> = Vec::new();
    for record in records {
        let case = record.case.split_once('/').map(|(case, _)| case);
        if let Some(case) = case.filter(|&case| is_of("grain", case))
            && !cases.contains(&(case, record.workers))
        {
            cases.push((case, record.workers));
        }
    }
    let mut text = format!(
        "{:<22} {:>7} {:>10} {:>10} {:>8}   study, happy: avg./min. max./min.",
        "table I: node tasks", "workers", "avg./min.", "max./min.", "best"
    );
    let mut rows = 0;
    for (case, workers) in cases {
        let sweep = Sweep::of(records, case, workers);
        let (Some(name), Some(best), Some((average, most))) =
            (Name::parse(case), sweep.best(), sweep.over_least())
        else {
            continue;
        };
        rows += 1;
        let mesh = format!("{}, depth {}", name.mesh, name.depth);
        // Writing to a string cannot fail, here and below.
        let _infallible = write!(
            text,
            "\n{mesh:<22} {workers:>7} {average:>10.2} {most:>10.2} {best:>8}"
        );
        let theirs = STUDY.iter().find(|&&(cores, ..)| cores == workers);
        if let Some((_, average, most)) = theirs.filter(|_| name.depth == 8) {
            let _infallible = write!(text, " {average:>25.2} {most:>9.2}");
        }
    }
    text.push_str("\n(happy: a scanned model of 1.1 million triangles, depth 8)");
    (rows > 0).then_some(text)
}

/// Returns the table of the tuned times over those of the best static numbers.
pub(super) fn table_of_tuned(records: &[Record]) -> Option<String> {
    let mut text = format!(
        "{:<22} {:>7} {:>11} {:>13}   at most {TUNED_MAX}",
        "tuned, after 8 builds", "workers", "best static", "tuned/static"
    );
    let mut rows = 0;
    for record in records {
        let named = record.case.split_once('/');
        let (Some((case, best)), Some(ratio)) = (named, record.ratio) else {
            continue;
        };
        let Some(name) = Name::parse(case).filter(|_| is_of("tuned", case)) else {
            continue;
        };
        rows += 1;
        let mesh = format!("{}, depth {}", name.mesh, name.depth);
        // Writing to a string cannot fail.
        let _infallible = write!(
            text,
            "\n{mesh:<22} {:>7} {best:>11} {ratio:>13.3}   {}",
            record.workers,
            verdict(record, ratio, TUNED_MAX)
        );
    }
    (rows > 0).then_some(text)
}

fn is_of(figure: &str, case: &str) -> bool {
    Name::parse(case).is_some_and(|name| name.figure == figure)
}

#[cfg(test)]
mod tests;
