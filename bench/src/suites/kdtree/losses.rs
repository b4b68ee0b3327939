//! The losses of a parallel build: idle workers and additional work, from the runtime's counters.
//!
//! Let each of `p` workers be idle for a share `i` of the build, and let all of them together do
//! `w` times the work of the sequential builder. Then
//! ```text
//! speedup = p · (1 - i) / w
//! ```
//! The work increases because of messages, because of lists in chunks, and because the processors
//! share memory. The case `together` shows the last effect: it runs as many independent sequential
//! builds at once as there are workers, each on its own thread.

use std::fmt::Write as _;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use raddle::Runtime;
use raddle_graphics::kdtree::KdTree;

use super::builders::{self, Messages, Peer};
use super::stage::Stage;
use super::subject::{Name, Subject};
use crate::error::BenchError;
use crate::harness::{Contender, Local, Request, Sample};
use crate::record::{Record, median, range};
use crate::suites::Measurement;

/// The counters: the suffix of the case's name, and the unit.
const COUNTS: [(&str, &str); 2] = [("idle", "%"), ("messages", "/build")];
/// The name of the cases with several sequential builds at once, and of their contender.
const TOGETHER: &str = "together";

/// A builder by messages that also reads the runtime's counters.
#[derive(Debug)]
pub(super) struct Watched<'a> {
    builder: Messages<'a>,
    runtime: &'a Runtime,
    /// The values of [`COUNTS`] for each build.
    builds: Vec<[f64; 2]>,
}

impl<'a> Watched<'a> {
    pub(super) fn new(builder: Messages<'a>, runtime: &'a Runtime) -> Self {
        Self {
            builder,
            runtime,
            builds: Vec::new(),
        }
    }

    /// Emits records of the counters for a case in which this builder was measured.
    ///
    /// # Errors
    /// Those of [`Measurement::add`].
    pub(super) fn emit_counts(
        &self,
        measurement: &mut Measurement<'_>,
        case: &str,
    ) -> Result<(), BenchError> {
        let is_own = |record: &&Record| {
            record.case == case
                && record.contender == self.builder.name()
                && record.workers == self.runtime.worker_count()
        };
        let Some(own) = measurement.records.iter().find(is_own).cloned() else {
            return Ok(());
        };
        let records = COUNTS.iter().enumerate().map(|(count, (name, unit))| {
            // The harness discards the first builds.
            let first = self.builds.len().saturating_sub(own.pairs);
            let builds = &self.builds[first..];
            let counted: Vec<f64> = builds.iter().map(|build| build[count]).collect();
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
        // Workers are idle before and after the build.
        let busy = after.busy_ns as f64 - before.busy_ns as f64;
        let whole = sample.time.as_nanos() as f64 * self.runtime.worker_count() as f64;
        let messages = (after.messages - before.messages) as f64;
        self.builds.push([100.0 * (1.0 - busy / whole), messages]);
        Ok(sample)
    }
}

/// Compares one sequential build with as many builds at once as there are workers.
pub(super) fn together(
    measurement: &mut Measurement<'_>,
    stage: &Stage<'_>,
) -> Result<(), BenchError> {
    let (subject, workers) = (stage.subject, stage.workers());
    if workers == 1 {
        return Ok(());
    }
    let name = subject.case_name(TOGETHER);
    let mut one = at_once(Peer::Serial.name(), 1, subject);
    let all = at_once(TOGETHER, workers, subject);
    measurement.compare_on(
        workers,
        &subject.case(&name),
        &mut one,
        &mut [Box::new(all)],
    )
}

/// Creates a contender that runs `count` sequential builds at once, each on a new thread, and
/// returns their median time.
fn at_once<'a>(name: &'static str, count: usize, subject: &'a Subject<'a>) -> impl Contender + 'a {
    let all_ready = Barrier::new(count);
    let build = move |all_ready: &Barrier| {
        let prepared = subject.prepared();
        all_ready.wait();
        let built = KdTree::timed_sequential(prepared, &subject.parameters, |_| ());
        builders::sample(name, subject, built)
    };
    Local::new(name, move |_: &Request<'_>| {
        let builds = thread::scope(|scope| {
            let threads: Vec<_> = (0..count)
                .map(|_| scope.spawn(|| build(&all_ready)))
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().expect("builds do not panic"))
                .collect::<Result<Vec<Sample>, BenchError>>()
        })?;
        let seconds = builds.iter().map(|build| build.time.as_secs_f64());
        Ok(Sample {
            time: Duration::from_secs_f64(median(&seconds.collect::<Vec<f64>>())),
            result: subject.triangle_count(),
        })
    })
}

/// Returns the table of the speedups and of the lost time.
pub(super) fn table(records: &[Record]) -> Option<String> {
    let mut text = format!(
        "{:<22} {:>7} {:>8} {:>7} {:>6} {:>8} {:>9}",
        "where the time goes", "workers", "speedup", "idle", "work", "together", "messages"
    );
    let mut rows = 0;
    let is_serial = |record: &&Record| record.contender == Peer::Serial.name();
    for serial in records.iter().filter(is_serial) {
        let of_case = |case: &str, contender: Option<&str>| {
            records.iter().find(|record| {
                record.case == case
                    && record.workers == serial.workers
                    && contender.is_none_or(|contender| record.contender == contender)
            })
        };
        let counts = COUNTS.map(|(count, _)| {
            let case = format!("{}/{count}", serial.case);
            Some(of_case(&case, None)?.median)
        });
        let (Some(name), Some(ratio), [Some(idle), Some(messages)]) =
            (Name::parse(&serial.case), serial.ratio, counts)
        else {
            continue;
        };
        rows += 1;
        let work = serial.workers as f64 * (1.0 - idle / 100.0) * ratio;
        let case = format!("{TOGETHER}-{}-d{}", name.mesh, name.depth);
        let together = of_case(&case, Some(TOGETHER)).and_then(|record| record.ratio);
        let together = together.map_or_else(String::new, |ratio| format!("{:.2}", 1.0 / ratio));
        let mesh = format!("{}, depth {}", name.mesh, name.depth);
        // Writing to a string cannot fail.
        let _infallible = write!(
            text,
            "\n{mesh:<22} {:>7} {:>8.2} {idle:>5.1} % {work:>6.2} {together:>8} {messages:>9.0}",
            serial.workers,
            1.0 / ratio,
        );
    }
    text.push_str(
        "\n(speedup = workers · (1 - idle) ÷ work; work: of all workers, over serial; \
         together: one of as many separate serial builds at once as workers, over one alone; \
         messages: in one build)",
    );
    (rows > 0).then_some(text)
}

#[cfg(test)]
mod tests;
