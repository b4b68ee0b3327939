//! Earlier measurements of Charm++, and the bound for Raddle's figures relative to them.

use std::fmt::Write as _;

use crate::error::BenchError;
use crate::record::Record;
use crate::suites::Measurement;

/// The name of the contender in its records.
const CHARM: &str = "charm++";
/// The text in place of the machine's mode.
const MODE: &str = "measured earlier, not interleaved";

/// The maximum of Raddle's figure as a share of Charm++'s.
const BOUND: f64 = 0.5;

/// The figures: case, number of workers, microseconds.
///
/// They are of Charm++ 8.0.1-devel: one process with its worker threads bound to CPUs, on a KVM
/// guest with two CPUs (AMD EPYC of the fourth generation). Figures of kNeighbor are the same for
/// all sizes from 16 B to 64 KB.
const FIGURES: [(&str, usize, f64); 24] = [
    ("kneighbor-2-k1", 2, 1.5),
    ("kneighbor-2-k2", 2, 2.2),
    ("kneighbor-2-k3", 2, 3.6),
    ("kneighbor-8-k1", 2, 3.6),
    ("kneighbor-8-k2", 2, 8.2),
    ("kneighbor-8-k3", 2, 13.2),
    ("trip-array-16", 2, 0.69),
    ("trip-chare-16", 2, 0.59),
    ("trip-post-16", 2, 0.42),
    ("trip-array-100", 2, 0.85),
    ("trip-array-3456", 2, 1.77),
    ("trip-array-65536", 2, 19.2),
    ("burst-array-same", 1, 0.10),
    ("burst-array-same", 2, 0.16),
    ("burst-array-other", 2, 0.22),
    ("burst-chare-same", 1, 0.08),
    ("burst-chare-same", 2, 0.14),
    ("burst-chare-other", 2, 0.22),
    ("broadcast", 1, 0.37),
    ("broadcast", 2, 1.66),
    ("quiescence", 1, 1.20),
    ("quiescence", 2, 4.8),
    ("fib24", 1, 83_000.0),
    ("fib24", 2, 87_000.0),
];

/// Adds Charm++'s figures of `name` to Raddle's figures of `case`, which has just been measured.
///
/// # Errors
/// Those of [`Measurement::add`].
pub(super) fn refer(
    measurement: &mut Measurement<'_>,
    case: &str,
    name: &str,
) -> Result<(), BenchError> {
    let is_own = |record: &&Record| record.case == case && record.ratio.is_none();
    let own = measurement.records.iter().filter(is_own);
    let references: Vec<_> = own.filter_map(|own| reference(own, name)).collect();
    measurement.add(references)
}

/// Returns Charm++'s record for one of Raddle's.
fn reference(own: &Record, name: &str) -> Option<Record> {
    let is_same =
        |&&(case, workers, _): &&(&str, usize, f64)| case == name && workers == own.workers;
    let &(_, _, figure) = FIGURES.iter().find(is_same)?;
    Some(Record {
        contender: CHARM.to_owned(),
        median: figure,
        min: figure,
        max: figure,
        pairs: 0,
        ratio: Some(own.median / figure),
        ratio_range: None,
        mode: MODE.to_owned(),
        ..own.clone()
    })
}

/// Returns a table of the figures that both have, with the verdict on the bound where it applies.
pub(crate) fn table(records: &[Record]) -> Option<String> {
    let mut text = format!(
        "{:<22} {:>7} {:>12} {:>12} {:>6}  at most {BOUND}",
        "case, microseconds", "workers", "raddle", "charm++", "ratio"
    );
    let mut rows = 0;
    for theirs in records.iter().filter(|record| record.contender == CHARM) {
        let own = records.iter().find(|own| {
            (&own.case, own.workers) == (&theirs.case, theirs.workers) && own.ratio.is_none()
        });
        let (Some(own), Some(ratio)) = (own, theirs.ratio) else {
            continue;
        };
        let verdict = match ratio <= BOUND {
            _ if !own.counts_when_near() => &own.mode,
            true => "yes",
            false => "no",
        };
        rows += 1;
        // Writing to a string cannot fail.
        let _infallible = write!(
            text,
            "\n{:<22} {:>7} {:>12.3} {:>12.3} {ratio:>6.3}  {verdict}",
            own.case, own.workers, own.median, theirs.median
        );
    }
    text.push_str(
        "\n(charm++: measured earlier on such a machine, not interleaved; \
         it copies array messages of 100 B and more, Raddle moves them)",
    );
    (rows > 0).then_some(text)
}

#[cfg(test)]
mod tests;
