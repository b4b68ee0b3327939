//! Where a build's time goes that is not speedup, from the counters of the runtime: workers with nothing to do, and work that has become more.
//!
//! Of `p` workers each is idle for a share `i` of the build; what they do in all is `w` times what the sequential builder does, because they wait
//! for memory together, because lists in chunks cost more than those on a stack, and because of messages. So
//! ```text
//! speedup = p · (1 - i) / w
//! ```

use std::fmt::Write as _;

use raddle::Runtime;

use super::builders::{Messages, Peer};
use super::subject::Name;
use crate::error::BenchError;
use crate::harness::{Contender, Request, Sample};
use crate::record::{Record, median, range};
use crate::suites::Measurement;

/// What is counted: how it is called behind the name of a case, and its unit.
const COUNTS: [(&str, &str); 3] = [("idle", "%"), ("work", "ms"), ("messages", "a build")];

/// A builder by messages whose workers are watched.
#[derive(Debug)]
pub(super) struct Watched<'a> {
    builder: Messages<'a>,
    runtime: &'a Runtime,
    /// For each build, what [`COUNTS`] names.
    builds: Vec<[f64; 3]>,
}

impl<'a> Watched<'a> {
    pub(super) fn new(builder: Messages<'a>, runtime: &'a Runtime) -> Self {
        Self {
            builder,
            runtime,
            builds: Vec::new(),
        }
    }

    /// Adds what was counted to the records of a case that this builder was measured in.
    ///
    /// # Errors
    /// As [`Measurement::add`].
    pub(super) fn tell(
        &self,
        measurement: &mut Measurement<'_>,
        case: &str,
    ) -> Result<(), BenchError> {
        let is_own = |record: &&Record| {
            record.case == case
                && record.who == self.builder.name()
                && record.workers == self.runtime.worker_count()
        };
        let Some(own) = measurement.records.iter().find(is_own).cloned() else {
            return Ok(());
        };
        let records = COUNTS.iter().enumerate().map(|(count, (name, unit))| {
            let counted: Vec<f64> = self.builds.iter().map(|build| build[count]).collect();
            let (min, max) = range(&counted);
            Record {
                case: format!("{case}/{name}"),
                unit: (*unit).to_owned(),
                median: median(&counted),
                min,
                max,
                pairs: counted.len(),
                ..own.clone()
            }
        });
        let records = records.collect();
        measurement.add(records)
    }
}

impl Contender for Watched<'_> {
    fn name(&self) -> &str {
        self.builder.name()
    }

    fn measure(&mut self, _request: &Request<'_>) -> Result<Sample, BenchError> {
        let before = self.runtime.report().total;
        let sample = self.builder.build()?;
        let after = self.runtime.report().total;
        // Around the build, workers have nothing to do.
        let busy = (after.busy_ns - before.busy_ns) as f64;
        let whole = sample.time.as_nanos() as f64 * self.runtime.worker_count() as f64;
        let messages = (after.messages - before.messages) as f64;
        self.builds
            .push([100.0 * (1.0 - busy / whole), busy * 1e-6, messages]);
        Ok(sample)
    }
}

/// Speedups, and what they lack.
pub(super) fn table(records: &[Record]) -> Option<String> {
    let mut text = format!(
        "{:<22} {:>7} {:>8} {:>7} {:>12} {:>9}",
        "where the time goes", "workers", "speedup", "idle", "work/serial", "messages"
    );
    let mut rows = 0;
    for serial in records
        .iter()
        .filter(|record| record.who == Peer::Serial.name())
    {
        let counted = |count: &str| {
            let case = format!("{}/{count}", serial.case);
            let is_it = |record: &&Record| record.case == case && record.workers == serial.workers;
            Some(records.iter().find(is_it)?.median)
        };
        let counts = COUNTS.map(|(count, _)| counted(count));
        let (Some(name), Some(ratio), [Some(idle), Some(work), Some(messages)]) =
            (Name::parse(&serial.case), serial.ratio, counts)
        else {
            continue;
        };
        rows += 1;
        let mesh = format!("{}, depth {}", name.mesh, name.depth);
        // Writing to a string cannot fail.
        let _infallible = write!(
            text,
            "\n{mesh:<22} {:>7} {:>8.2} {idle:>5.1} % {:>12.2} {messages:>9.0}",
            serial.workers,
            1.0 / ratio,
            work / serial.median
        );
    }
    text.push_str("\n(speedup = workers · (1 - idle) ÷ work/serial; messages: in one build)");
    (rows > 0).then_some(text)
}

#[cfg(test)]
mod tests;
