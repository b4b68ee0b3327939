//! The recording of a whole process, which becomes a file when the process ends.
//!
//! `RADDLE_TRACE=FILE` begins it with the first runtime, and the option `--trace FILE` of a program
//! when that program says so ([`begin`]). The file is written
//! - by [`finish`],
//! - otherwise when the process ends by `exit` or the end of `main`, also after a panic,
//! - and when SIGINT, SIGTERM or SIGHUP would end it. A signal that the program handles or ignores
//!   itself is left alone.
//!
//! A child process that fork(2) makes is not recorded. A process that is killed by SIGKILL or a
//! crash leaves no file. The name of the file ends the way in which it is written: `.json` for the
//! Trace Event Format of Chrome, anything else for Perfetto. In the name, `%p` stands for the
//! process id and `%n` for the number of the node: in a job, those of its first node.
//!
//! # Several processes
//! Each node of a job writes a part, `FILE.node-N`, and the node that ends last joins all parts to
//! the file. If a node was killed, its part is missing and the others remain. A program that runs
//! several jobs gets one file with the nodes of all of them. All times are those of the first
//! node's clock ([`JobNode::clock_ahead_ns`]).
//!
//! # Variables
//! | variable | meaning |
//! |---|---|
//! | `RADDLE_TRACE` | the file |
//! | `RADDLE_TRACE_BUFFER` | the memory for events in MiB; 64 if it is unset |
//! | `RADDLE_TRACE_DETAIL` | `limited`, the default, or `all` ([`Detail`]) |

mod parts;
#[cfg(not(any(loom, shuttle, miri)))]
mod signals;

use std::env;
use std::io;
use std::ops::DerefMut;
use std::path::{Path, PathBuf, absolute};
#[cfg(not(any(loom, shuttle, miri)))]
use std::sync::TryLockError;
use std::sync::{Mutex, PoisonError};
#[cfg(not(any(loom, shuttle, miri)))]
use std::thread;
#[cfg(not(any(loom, shuttle, miri)))]
use std::time::{Duration, Instant};

use raddle_sync::exit::call_at_exit;
use raddle_timeline::{Format, Writer};
use serde::Serialize;
use thiserror::Error;

use crate::events::Events;
use crate::export::{self, Facts};
use crate::is_forked;
use crate::process::{self, VariableError, variable};
pub use crate::process::{JobNode, JobNumbers};
use crate::session::{BUFFER_BYTES, BeginError, Detail, Options, Recording};
use crate::sources;
use crate::whole_file::{WholeFile, check};

/// The environment variable with the name of the file.
pub const VARIABLE: &str = "RADDLE_TRACE";
/// The environment variable with the memory for events, in MiB.
pub const BUFFER_VARIABLE: &str = "RADDLE_TRACE_BUFFER";
/// The environment variable that says which events are recorded.
pub const DETAIL_VARIABLE: &str = "RADDLE_TRACE_DETAIL";

/// A failure to begin or to write the recording of a process.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TraceFileError {
    /// The recording could not begin.
    #[error(transparent)]
    Begin(#[from] BeginError),
    /// The file cannot be written.
    #[error("{}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A variable has a value that it cannot have.
    #[error(transparent)]
    Variable(#[from] VariableError),
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// The file: that of the job, or the part of this node if other nodes are still running.
    pub path: PathBuf,
    /// The number of events.
    pub events: u64,
    /// About how many older events were dropped.
    pub dropped: u64,
}

/// The recording of this process, while it is under way.
struct OfProcess {
    path: PathBuf,
    recording: Recording,
    values: Vec<(String, String)>,
}

static OF_PROCESS: Mutex<Option<OfProcess>> = Mutex::new(None);

/// Held while the file is written. It is taken before `OF_PROCESS`.
static WRITING: Mutex<()> = Mutex::new(());

fn of_process() -> impl DerefMut<Target = Option<OfProcess>> {
    OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins to record this process, to the file at `path`.
///
/// # Errors
/// If another recording is under way; if the file cannot be written, as far as that is known
/// before.
pub fn begin(path: &Path) -> Result<(), TraceFileError> {
    let options = Options {
        buffer_bytes: buffer_bytes()?,
        detail: detail()?,
    };
    // The program may change to another folder.
    let path = absolute(path).map_err(|source| write_error(path, source))?;
    // Find out now whether the file can be written, and not after an hour of work.
    check(&with_numbers(&path)).map_err(|source| write_error(&path, source))?;
    let mut of_process = of_process();
    if of_process.is_some() {
        return Err(BeginError::UnderWay.into());
    }
    *of_process = Some(OfProcess {
        path,
        recording: Recording::begin(&options)?,
        values: Vec::new(),
    });
    drop(of_process);
    call_at_exit(finish_at_exit);
    #[cfg(not(any(loom, shuttle, miri)))]
    signals::finish_at_signals();
    Ok(())
}

/// Begins to record this process if `RADDLE_TRACE` asks for it, and no recording is under way.
///
/// # Errors
/// As for [`begin`].
pub fn begin_from_environment() -> Result<(), TraceFileError> {
    let path = env::var_os(VARIABLE).filter(|path| !path.is_empty());
    match path {
        Some(path) if !is_forked() && !is_under_way() => begin(Path::new(&path)),
        _ => Ok(()),
    }
}

/// Returns true while this process is being recorded to a file.
#[must_use]
pub fn is_under_way() -> bool {
    !is_forked() && of_process().is_some()
}

/// Returns the numbers of a job of `node_count` nodes that this process is about to start.
#[must_use]
pub fn next_job(node_count: u32) -> JobNumbers {
    process::next_job(node_count)
}

/// Takes the numbers of a job back that could not be started.
pub fn take_back_job(numbers: JobNumbers, node_count: u32) {
    process::take_back_job(numbers, node_count);
}

/// Says which node of a job this process is.
pub fn set_node(node: JobNode) {
    if node.node_count < 2 {
        return;
    }
    process::set_node(node);
    if let Some(of_process) = &*of_process() {
        parts::remove_old(&with_numbers(&of_process.path), node.process());
    }
}

/// Adds facts about this process. They replace earlier ones of the same names.
pub fn keep_facts(facts: impl IntoIterator<Item = (String, String)>) {
    if let Some(of_process) = &mut *of_process() {
        let values = &mut of_process.values;
        facts.into_iter().for_each(|fact| keep(values, fact));
    }
}

/// Returns a fact with a value as JSON.
pub fn fact(name: impl Into<String>, value: &impl Serialize) -> (String, String) {
    process::fact(name, value)
}

/// Ends the recording of this process and writes its file. Returns `None` if there is no recording,
/// or it was finished before.
pub fn finish() -> Option<Result<Written, TraceFileError>> {
    if is_forked() {
        return None;
    }
    // A signal that comes during the writing waits until the file is complete.
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let of_process = of_process().take()?;
    Some(of_process.write())
}

/// Waits until no thread writes the file. Returns false if one still does after `limit`: it may
/// write to a pipe without a reader.
#[cfg(not(any(loom, shuttle, miri)))]
fn is_written_within(limit: Duration) -> bool {
    let begun = Instant::now();
    while matches!(WRITING.try_lock(), Err(TryLockError::WouldBlock)) {
        if begun.elapsed() >= limit {
            return false;
        }
        thread::sleep(Duration::from_millis(10));
    }
    true
}

/// Ends the recording of this process without writing its file.
pub fn discard() {
    drop(of_process().take());
}

/// Writes the file when the process ends, and reports an error, because nothing else would.
fn finish_at_exit() {
    if let Some(Err(error)) = finish() {
        report(&error);
    }
}

fn report(error: &TraceFileError) {
    use std::io::Write;
    // If standard error is closed, nothing can report it.
    let _unread = writeln!(io::stderr(), "error: {VARIABLE}: {error}");
}

impl OfProcess {
    fn write(self) -> Result<Written, TraceFileError> {
        let events = self.recording.events();
        drop(self.recording);
        let node = process::node();
        let path = with_numbers(&self.path);
        let own = match node {
            None => path.clone(),
            Some(node) => parts::name(&path, node.process()),
        };
        write_events(&events, self.values, &own, Format::of_path(&path))?;
        let joined = match node {
            None => false,
            Some(node) => parts::join(&path, node.process_count())?,
        };
        let tracks = events.tracks.iter();
        Ok(Written {
            path: if joined { path } else { own },
            events: tracks.clone().map(|track| track.events.len() as u64).sum(),
            dropped: tracks.map(|track| track.dropped).sum(),
        })
    }
}

impl Recording {
    /// Writes the events so far to a file, as the recording of a process is written. The recording
    /// goes on.
    ///
    /// # Errors
    /// [`TraceFileError::Write`].
    pub fn write(&self, path: &Path) -> Result<(), TraceFileError> {
        write_events(&self.events(), Vec::new(), path, Format::of_path(path))
    }
}

/// Writes events with the facts about this process.
fn write_events(
    events: &Events,
    mut values: Vec<(String, String)>,
    path: &Path,
    format: Format,
) -> Result<(), TraceFileError> {
    for source in sources::all() {
        source
            .facts()
            .into_iter()
            .for_each(|fact| keep(&mut values, fact));
    }
    let node = process::node();
    if let Some(node) = node {
        keep(&mut values, fact("clock_error_ns", &node.clock_error_ns));
    }
    let facts = Facts {
        process: node.map_or(0, |node| node.process()),
        name: node.map_or_else(process::program_name, |node| node.name()),
        values,
    };
    let write = || -> io::Result<()> {
        let file = WholeFile::create(path)?;
        let mut writer = Writer::new(format, file)?.with_part(facts.process);
        export::write(events, &facts, &mut writer)?;
        writer.finish()?.finish()
    };
    write().map_err(|source| write_error(path, source))
}

/// Adds a fact, which replaces one of the same name.
fn keep(values: &mut Vec<(String, String)>, (name, value): (String, String)) {
    values.retain(|(other, _)| *other != name);
    values.push((name, value));
}

fn write_error(path: &Path, source: io::Error) -> TraceFileError {
    TraceFileError::Write {
        path: path.to_owned(),
        source,
    }
}

/// Replaces `%p` and `%n` in the name of a file. All nodes of a job replace them by the same
/// numbers, because they write one file.
fn with_numbers(path: &Path) -> PathBuf {
    match path.to_str() {
        Some(text) if text.contains('%') => text
            .replace("%p", &process::job_process().to_string())
            .replace("%n", "0")
            .into(),
        _ => path.to_owned(),
    }
}

fn buffer_bytes() -> Result<usize, VariableError> {
    let parse = |text: &str| text.trim().parse::<usize>().ok();
    let mebibytes = variable(BUFFER_VARIABLE, "MiB from 1 to 65536", |text| {
        parse(text).filter(|mebibytes| (1..=65_536).contains(mebibytes))
    })?;
    Ok(mebibytes.map_or(BUFFER_BYTES, |mebibytes| mebibytes << 20))
}

fn detail() -> Result<Detail, VariableError> {
    let detail = variable(DETAIL_VARIABLE, "limited or all", |text| {
        match text.trim() {
            "limited" => Some(Detail::Limited),
            "all" => Some(Detail::All),
            _ => None,
        }
    })?;
    Ok(detail.unwrap_or(Detail::Limited))
}
