//! The workloads of `raddle-bench trace`, as a program that answers requests.
//!
//! It reads lines `CASE WORKERS REPETITIONS`, and answers each with a line `NANOSECONDS RESULT`, as
//! all peers of the benchmark do. A case is a workload, and may end in `-recorded`: then its events
//! are recorded while it runs, as `RADDLE_TRACE` does it.

#![forbid(unsafe_code)]

mod scopes;
mod workloads;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::error::Error;
use std::io::{self, BufRead, Write};
use std::time::Duration;

use raddle::Runtime;
use raddle_trace::session::{Detail, Options, Recording};

use self::scopes::{WorkAndEvents, events, instrumented, plain};
use self::workloads::Workloads;

/// The ending of a case that is recorded.
const RECORDED: &str = "-recorded";

type Failure = Box<dyn Error + Send + Sync>;
type Answer = Result<(Duration, u64), Failure>;

fn main() -> Result<(), Failure> {
    let mut runtimes = BTreeMap::new();
    let mut workloads = Workloads::default();
    let mut answers = io::stdout().lock();
    writeln!(answers, "ready")?;
    for line in io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let [case, workers, repetitions] = words[..] else {
            return Err(format!("found {line:?}; expected CASE WORKERS REPETITIONS").into());
        };
        let (workers, repetitions): (usize, u64) = (workers.parse()?, repetitions.parse()?);
        if let Entry::Vacant(entry) = runtimes.entry(workers) {
            entry.insert(runtime(workers)?);
        }
        let (time, result) = answer(case, &runtimes[&workers], repetitions, &mut workloads)?;
        writeln!(answers, "{} {result}", time.as_nanos())?;
        answers.flush()?;
    }
    Ok(())
}

/// Returns a runtime. The two programs take turns, so each places its workers as if it were alone.
fn runtime(workers: usize) -> Result<Runtime, raddle::BuildError> {
    let group = format!("raddle-bench-events-{}", std::process::id());
    let claims = raddle::topology::Claims::in_group(group);
    Runtime::builder().workers(workers).claims(claims).build()
}

fn answer(case: &str, runtime: &Runtime, repetitions: u64, workloads: &mut Workloads) -> Answer {
    let (workload, is_recorded) = match case.strip_suffix(RECORDED) {
        Some(workload) => (workload, true),
        None => (case, false),
    };
    if let Some(work) = WorkAndEvents::of(workload) {
        return runtime.install(|| match is_recorded {
            true => instrumented(work, repetitions),
            false => Ok(plain(work, repetitions)),
        });
    }
    if let Some(kind) = workload.strip_prefix("event-") {
        return runtime.install(|| events(kind, repetitions, is_recorded));
    }
    let recording = is_recorded.then(|| record(Detail::Limited)).transpose()?;
    let answer = workloads.run(workload, runtime, repetitions);
    drop(recording);
    answer
}

/// Begins a recording with the usual buffer.
fn record(detail: Detail) -> Result<Recording, Failure> {
    let options = Options {
        detail,
        ..Options::default()
    };
    Ok(Recording::begin(&options)?)
}
