//! The runtimes of this process, as recordings see them.

use std::ops::DerefMut;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::snapshot::RuntimeSnapshot;
use crate::{WorkerReport, is_forked};

/// A runtime that has facts and counters for a recording.
pub trait Source: Send + Sync {
    /// Returns facts: names, and texts or JSON.
    fn facts(&self) -> Vec<(String, String)>;

    /// Returns the state of the runtime.
    fn snapshot(&self) -> RuntimeSnapshot;

    /// Makes all workers notice that events are recorded from now on.
    fn recording_begins(&self);
}

/// The counters of one worker that a recording needs for times in which it is paused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of tasks, stolen forks and messages that it has run.
    pub tasks: u64,
    /// The number of messages that it has run.
    pub messages: u64,
    /// The number of halves of joins that were called.
    pub forks: u64,
    /// The time without work, in nanoseconds.
    pub idle_ns: u64,
}

impl From<&WorkerReport> for Counts {
    fn from(report: &WorkerReport) -> Self {
        Self {
            tasks: report.tasks,
            messages: report.messages,
            forks: report.forks_inline,
            idle_ns: report.idle_ns,
        }
    }
}

impl Counts {
    /// Returns the number of units of work: messages are tasks, too.
    #[must_use]
    pub const fn work(self) -> u64 {
        self.tasks + self.forks
    }

    /// Returns the counts since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            tasks: self.tasks.saturating_sub(earlier.tasks),
            messages: self.messages.saturating_sub(earlier.messages),
            forks: self.forks.saturating_sub(earlier.forks),
            idle_ns: self.idle_ns.saturating_sub(earlier.idle_ns),
        }
    }
}

/// The programming model of a runtime that counts its messages.
pub trait MessageSource: Send + Sync {
    /// Returns the number of messages that were sent, but have not run to completion.
    fn messages_under_way(&self) -> u64;
}

static SOURCES: Mutex<Vec<Weak<dyn Source>>> = Mutex::new(Vec::new());
/// The sources of messages, by the numbers of their runtimes.
static MESSAGES: Mutex<Vec<(u32, Weak<dyn MessageSource>)>> = Mutex::new(Vec::new());

fn sources() -> impl DerefMut<Target = Vec<Weak<dyn Source>>> {
    SOURCES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a runtime, which recordings ask while it lives. Before it ends, it
/// [keeps](crate::trace_file::keep_facts) its facts.
pub fn add(source: Weak<dyn Source>) {
    if is_forked() {
        return;
    }
    let mut sources = sources();
    sources.retain(|source| source.strong_count() > 0);
    sources.push(source);
}

/// Adds a programming model that counts the messages of a runtime, which monitors ask while it
/// lives.
pub fn add_messages(runtime: u32, source: Weak<dyn MessageSource>) {
    if is_forked() {
        return;
    }
    let mut messages = messages();
    messages.retain(|(_, source)| source.strong_count() > 0);
    messages.push((runtime, source));
}

fn messages() -> impl DerefMut<Target = Vec<(u32, Weak<dyn MessageSource>)>> {
    MESSAGES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the number of messages of a runtime that were sent, but have not run to completion;
/// `None` if nothing counts them.
pub(crate) fn messages_under_way(runtime: u32) -> Option<u64> {
    let sources: Vec<Arc<dyn MessageSource>> = messages()
        .iter()
        .filter(|(of, _)| *of == runtime)
        .filter_map(|(_, source)| source.upgrade())
        .collect();
    let counts = sources.iter().map(|source| source.messages_under_way());
    (!sources.is_empty()).then(|| counts.sum())
}

/// Makes all workers notice that events are recorded from now on.
#[cfg(not(any(loom, shuttle, miri, raddle_no_events)))]
pub(crate) fn notice_recording() {
    for source in all() {
        source.recording_begins();
    }
}

/// Returns the runtimes that live.
pub(crate) fn all() -> Vec<Arc<dyn Source>> {
    sources().iter().filter_map(Weak::upgrade).collect()
}
