//! Figure 9 and table II: the build by messages over the number of workers, beside the sequential
//! builder and the peers.

use std::fmt::Write as _;

use super::builders::Peer;
use super::losses::{self, Watched};
use super::stage::Stage;
use super::subject::Name;
use crate::chart::{Chart, Place};
use crate::error::BenchError;
use crate::record::Record;
use crate::suites::Measurement;

/// Table II of the study, ParKD's time over that of Charm++: depth, cores; bunny, fairy, angel,
/// happy.
///
/// The caption states the inverse ratio. The text around the table states the meaning used here.
const STUDY: [(u32, usize, [f64; 4]); 12] = [
    (8, 1, [2.1, 1.9, 1.9, 2.0]),
    (8, 2, [1.9, 1.9, 1.8, 1.5]),
    (8, 4, [1.7, 2.0, 1.5, 1.4]),
    (8, 8, [1.5, 1.9, 1.5, 1.4]),
    (8, 16, [1.4, 2.0, 1.4, 1.4]),
    (8, 32, [1.3, 1.5, 1.3, 1.4]),
    (15, 1, [2.2, 1.6, 1.7, 2.0]),
    (15, 2, [2.0, 1.8, 1.7, 2.0]),
    (15, 4, [2.3, 1.8, 1.8, 2.2]),
    (15, 8, [1.9, 2.0, 1.8, 1.8]),
    (15, 16, [2.0, 2.0, 1.8, 1.9]),
    (15, 32, [3.1, 2.2, 3.1, 2.7]),
];

/// Compares the best build by messages with every peer that the figure needs.
pub(super) fn run(
    measurement: &mut Measurement<'_>,
    stage: &Stage<'_>,
    figure: &str,
) -> Result<(), BenchError> {
    let own = stage.messages("raddle", stage.best()?)?;
    let mut own = Watched::new(own, stage.runtime);
    let peers = Peer::ALL
        .into_iter()
        .filter(|&peer| figure == "speedup" || peer != Peer::Serial);
    let mut peers = Peer::all_on(peers, stage, measurement);
    let name = stage.subject.case_name(figure);
    let case = stage.subject.case(&name);
    measurement.compare_on(stage.workers(), &case, &mut own, &mut peers)?;
    if figure == "speedup" {
        own.emit_counts(measurement, &name)?;
        losses::together(measurement, stage)?;
    }
    Ok(())
}

/// Returns the charts: the speedups over the sequential builder, one for each mesh and depth; and
/// the relative gains, one for each peer and depth.
pub(super) fn charts(records: &[Record]) -> Vec<Chart<'_>> {
    let title_of = |chart: &Chart<'_>| {
        let cases = chart.cases();
        let name = cases.first().and_then(|case| Name::parse(case))?;
        (name.figure == "speedup").then(|| format!("fig. 9: {}, depth {}", name.mesh, name.depth))
    };
    let speedups = Chart::of_speedups(records, Peer::Serial.name()).by_case();
    let mut charts: Vec<_> = speedups
        .into_iter()
        .filter_map(|chart| {
            let title = title_of(&chart)?;
            Some(chart.titled(&title, "speedup over serial"))
        })
        .collect();
    charts.extend(Chart::of_ratios(records, "relative gain", |record| {
        let (name, value) = gain(record)?;
        Some(Place {
            panel: format!(
                "table II: {} over raddle, depth {}",
                record.contender, name.depth
            ),
            line: name.mesh.to_owned(),
            value,
        })
    }));
    charts
}

/// Returns the time of a parallel peer over that of the build by messages.
fn gain(record: &Record) -> Option<(Name<'_>, f64)> {
    let name = Name::parse(&record.case)?;
    let is_relative =
        ["speedup", "relative"].contains(&name.figure) && record.contender != Peer::Serial.name();
    Some((name, 1.0 / record.ratio?)).filter(|_| is_relative)
}

/// Returns table II: each peer's time over Raddle's, and the study's value at the same depth and
/// number of cores.
pub(super) fn table(records: &[Record]) -> Option<String> {
    let gains: Vec<_> = records
        .iter()
        .filter_map(|record| gain(record).map(|(name, gain)| (record, name, gain)))
        .collect();
    let mut peers: Vec<&str> = Vec::new();
    let mut rows: Vec<(Name<'_>, usize)> = Vec::new();
    for (record, name, _) in &gains {
        if !peers.contains(&record.contender.as_str()) {
            peers.push(&record.contender);
        }
        if !rows.contains(&(*name, record.workers)) {
            rows.push((*name, record.workers));
        }
    }
    if rows.is_empty() {
        return None;
    }
    let mut text = format!("{:<22} {:>7}", "table II: peer/raddle", "workers");
    // Writing to a string cannot fail, here and below.
    for peer in &peers {
        let _infallible = write!(text, " {peer:>10}");
    }
    text.push_str("   study: bunny fairy angel happy");
    for (name, workers) in rows {
        let mesh = format!("{}, depth {}", name.mesh, name.depth);
        let _infallible = write!(text, "\n{mesh:<22} {workers:>7}");
        for peer in &peers {
            let found = gains.iter().find(|(record, of, _)| {
                (*of, record.workers, record.contender.as_str()) == (name, workers, *peer)
            });
            let gain = found.map_or_else(String::new, |(record, _, gain)| {
                format!("{gain:.2}{}", if record.is_loaded() { "?" } else { " " })
            });
            let _infallible = write!(text, " {gain:>10}");
        }
        let theirs = STUDY
            .iter()
            .find(|&&(depth, cores, _)| (depth, cores) == (name.depth, workers));
        if let Some((_, _, [bunny, fairy, angel, happy])) = theirs {
            let _infallible = write!(
                text,
                " {bunny:>14.1} {fairy:>5.1} {angel:>5.1} {happy:>5.1}"
            );
        }
    }
    text.push_str(
        "\n(study: ParKD's time over that of Charm++; bunny: 67,000 triangles, \
         fairy: 170,000, angel: 450,000, happy: 1.1 million)",
    );
    Some(text)
}

#[cfg(test)]
mod tests;
