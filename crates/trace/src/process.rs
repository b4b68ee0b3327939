//! The process as a recording and a monitor see it: its name, its node, and its variables.

use std::env;
use std::ffi::OsString;
use std::ops::DerefMut;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use serde_json_core::ser::Error as JsonError;
use thiserror::Error;

/// The largest size of a value as JSON, in bytes.
const JSON_MAX: usize = 1 << 26;

/// A variable has a value that it cannot have.
#[derive(Debug, Error)]
#[error("environment variable {name}: found {found:?}; expected {expected}")]
#[non_exhaustive]
pub struct VariableError {
    /// The variable.
    pub name: &'static str,
    /// The value.
    pub found: OsString,
    /// The values that it may have.
    pub expected: &'static str,
}

/// The numbers of a job of several nodes, which its first node gives to it.
///
/// A program can run several jobs. The process that starts them is the first node of each, and the
/// other nodes are processes of their own. In a recording, that process has the number 0, and the
/// others have the numbers from 1 on, over all jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobNumbers {
    /// The number of the job, from 1 on.
    pub job: u32,
    /// The number of processes that earlier jobs have started.
    pub started_before: u32,
}

impl JobNumbers {
    /// The numbers of the first job.
    pub const FIRST: Self = Self {
        job: 1,
        started_before: 0,
    };

    /// Returns the numbers of the job after this one, if this one has `node_count` nodes.
    const fn after(self, node_count: u32) -> Self {
        Self {
            job: self.job + 1,
            started_before: self.started_before + node_count - 1,
        }
    }

    /// Returns the number of a node's process in a recording.
    #[must_use]
    pub const fn process(&self, node: u32) -> u32 {
        match node {
            0 => 0,
            node => self.started_before + node,
        }
    }
}

/// A node of a job, as a recording sees it.
#[derive(Clone, Copy, Debug)]
pub struct JobNode {
    /// The numbers of the job.
    pub numbers: JobNumbers,
    /// The number of the node in its job.
    pub node: u32,
    /// The number of nodes of the job.
    pub node_count: u32,
    /// The process that stands for the job in the names of files: the first node, or the process
    /// that has started all nodes.
    pub job_process: u32,
    /// The time of the first node's clock minus that of this one, in nanoseconds.
    pub clock_ahead_ns: i64,
    /// The largest error of that difference, in nanoseconds.
    pub clock_error_ns: u64,
}

/// The jobs of this process.
#[derive(Clone, Copy, Debug)]
struct Jobs {
    /// This process in the last job of several nodes.
    last: Option<JobNode>,
    /// The numbers of the next job that this process starts.
    next: JobNumbers,
}

static JOBS: Mutex<Jobs> = Mutex::new(Jobs {
    last: None,
    next: JobNumbers::FIRST,
});

fn jobs() -> impl DerefMut<Target = Jobs> {
    JOBS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns this process as a node of its last job of several nodes.
pub(crate) fn node() -> Option<JobNode> {
    jobs().last
}

/// Says which node of a job this process is.
pub(crate) fn set_node(node: JobNode) {
    jobs().last = Some(node);
}

/// Returns the numbers of a job that this process is about to start.
pub(crate) fn next_job(node_count: u32) -> JobNumbers {
    let next = &mut jobs().next;
    let numbers = *next;
    *next = numbers.after(node_count);
    numbers
}

/// Takes the numbers of a job back that could not be started, so that the recording has no gap. If
/// another job was started meanwhile, they are lost.
pub(crate) fn take_back_job(numbers: JobNumbers, node_count: u32) {
    let next = &mut jobs().next;
    if *next == numbers.after(node_count) {
        *next = numbers;
    }
}

/// Returns the process that stands for the job of this one: itself if it is in none.
pub(crate) fn job_process() -> u32 {
    node().map_or_else(std::process::id, |node| node.job_process)
}

impl JobNode {
    /// Returns the number of this process in a recording.
    pub(crate) const fn process(&self) -> u32 {
        self.numbers.process(self.node)
    }

    /// Returns the number of processes of all jobs up to this one.
    pub(crate) const fn process_count(&self) -> u32 {
        self.numbers.started_before + self.node_count
    }

    /// Returns the name of this process in a recording.
    pub(crate) fn name(&self) -> String {
        match self.numbers.job {
            // The first node takes part in all jobs.
            job if job > 1 && self.node > 0 => format!("job {job}, node {}", self.node),
            _ => format!("node {}", self.node),
        }
    }
}

/// Returns the name of the program, without its folder.
pub(crate) fn program_name() -> String {
    let path = env::args_os().next().map(PathBuf::from);
    let name = path.as_ref().and_then(|path| path.file_name());
    name.map_or_else(
        || "program".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// Returns the name of the program and its arguments, with spaces between them.
pub(crate) fn command() -> String {
    let arguments = env::args_os().skip(1);
    let arguments = arguments.map(|argument| argument.to_string_lossy().into_owned());
    let words: Vec<String> = [program_name()].into_iter().chain(arguments).collect();
    words.join(" ")
}

/// Returns a name and a value as JSON.
pub(crate) fn fact(name: impl Into<String>, value: &impl Serialize) -> (String, String) {
    let mut buffer = vec![0; 1 << 12];
    loop {
        match serde_json_core::to_slice(value, &mut buffer) {
            Ok(len) => {
                let json = String::from_utf8_lossy(&buffer[..len]).into_owned();
                return (name.into(), json);
            }
            Err(JsonError::BufferFull) if buffer.len() < JSON_MAX => {
                buffer.resize(2 * buffer.len(), 0)
            }
            Err(error) => return (name.into(), format!("\"{error}\"")),
        }
    }
}

/// Reads a variable. Returns `None` if it is unset or empty.
pub(crate) fn variable<V>(
    name: &'static str,
    expected: &'static str,
    parse: impl FnOnce(&str) -> Option<V>,
) -> Result<Option<V>, VariableError> {
    let Some(found) = env::var_os(name).filter(|found| !found.is_empty()) else {
        return Ok(None);
    };
    match found.to_str().and_then(parse) {
        Some(value) => Ok(Some(value)),
        None => Err(VariableError {
            name,
            found,
            expected,
        }),
    }
}

/// Reads a variable that switches something on or off.
pub(crate) fn switch(name: &'static str) -> Result<Option<bool>, VariableError> {
    variable(name, "on or off", |text| match text.trim() {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // Regression: a job that could not be started left a gap, and the parts of the next one were
    // not joined.
    #[test]
    fn a_job_that_was_not_started_leaves_no_gap() {
        let numbers = next_job(3);
        take_back_job(numbers, 3);
        assert_eq!(next_job(4), numbers);
        let next = next_job(2);
        assert_eq!(next.started_before, numbers.started_before + 3);
        // Another job has the numbers after these.
        take_back_job(numbers, 4);
        assert_eq!(next_job(2).job, next.job + 1);
    }
}
