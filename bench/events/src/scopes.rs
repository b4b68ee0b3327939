//! Scopes around work of a known length, and single events.
//!
//! # Source
//! Parker: Efficient user-level event notification. 2013, sect. 4.6 and 4.7.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use raddle_analysis::Recording as Analysed;
use raddle_analysis::profile::Profile;
use raddle_trace::record::{self, Name, ObjectId};
use raddle_trace::scope;
use raddle_trace::session::{Detail, Options, Recording};

use crate::{Answer, Failure};

/// The name of the scope in recordings.
const SCOPE: &str = "work";

/// Steps of work in a scope.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkAndEvents(u64);

impl WorkAndEvents {
    /// Returns the work of a case `scope-N`, in which N is the number of steps.
    pub(crate) fn of(case: &str) -> Option<Self> {
        case.strip_prefix("scope-")?.parse().ok().map(Self)
    }
}

/// Works for a number of steps, of which each waits for the one before: about 1.2 ns at 3 GHz.
pub(crate) fn work(steps: u64) {
    let mut value = black_box(steps);
    for step in 0..steps {
        value = value.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ step;
    }
    black_box(value);
}

/// Measures calls without a scope. The result is the number of calls.
pub(crate) fn plain(work_of: WorkAndEvents, calls: u64) -> (Duration, u64) {
    let begun = Instant::now();
    for _ in 0..calls {
        work(work_of.0);
    }
    (begun.elapsed(), calls)
}

/// Records a scope around each call, and returns the time of all calls as the profile gives it:
/// without the cost of the scopes.
pub(crate) fn instrumented(work_of: WorkAndEvents, calls: u64) -> Answer {
    let buffer_bytes = 64 << 20;
    let recording = Recording::begin(&Options {
        buffer_bytes,
        detail: Detail::All,
    })?;
    {
        // Around all, so that the cost that lies outside of each scope counts, too.
        scope!("calls");
        for _ in 0..calls {
            scope!("work");
            work(work_of.0);
        }
    }
    let file = TemporaryFile::new();
    recording.write(&file.0)?;
    drop(recording);
    let timeline = raddle_timeline::read(std::fs::File::open(&file.0)?)?;
    let profile = Profile::of(&Analysed::new(timeline)?);
    let mut lines = profile.lines.iter();
    let line = lines.find(|line| line.function == SCOPE);
    let line = line.ok_or("the profile has no scope")?;
    Ok((Duration::from_nanos(line.exclusive_ns as u64), line.calls))
}

/// A file that is removed when this is dropped.
struct TemporaryFile(PathBuf);

impl TemporaryFile {
    fn new() -> Self {
        let name = format!("raddle-bench-events-{}.pftrace", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _gone = std::fs::remove_file(&self.0);
    }
}

/// Records events of one kind, two per repetition, or calls the same functions while nothing is
/// recorded.
pub(crate) fn events(kind: &str, repetitions: u64, is_recorded: bool) -> Answer {
    let options = Options {
        buffer_bytes: 1 << 20,
        detail: Detail::All,
    };
    let recording = is_recorded
        .then(|| Recording::begin(&options))
        .transpose()?;
    let (entry, object) = (Name::of("entry"), ObjectId::new(1, 2));
    let begun = Instant::now();
    match kind {
        "scope" => {
            for _ in 0..repetitions {
                scope!("event");
            }
        }
        "message" => {
            for index in 0..repetitions {
                record::send(entry, object, index as usize & 1, 64);
                record::entry(entry, object);
            }
        }
        "fork" => {
            for index in 0..repetitions {
                record::fork(index as usize & 63);
                record::end_join(index as usize & 63);
            }
        }
        _ => return Err(unknown(kind)),
    }
    let time = begun.elapsed();
    drop(recording);
    Ok((time, repetitions))
}

fn unknown(kind: &str) -> Failure {
    format!("found event {kind:?}; expected scope, message or fork").into()
}
