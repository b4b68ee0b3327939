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

/// The job of which this process is a node.
#[derive(Clone, Copy, Debug)]
struct Job {
    node: u32,
    node_count: u32,
    /// The process that stands for the job; `None` before there is one.
    process: Option<u32>,
    /// The number of jobs so far.
    count: u32,
}

static JOB: Mutex<Job> = Mutex::new(Job {
    node: 0,
    node_count: 1,
    process: None,
    count: 0,
});

fn job() -> impl DerefMut<Target = Job> {
    JOB.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the number of this node, and the number of nodes.
pub(crate) fn node() -> (u32, u32) {
    let job = job();
    (job.node, job.node_count)
}

/// Returns the process that stands for the job of this one: itself if it is in none.
pub(crate) fn job_process() -> u32 {
    job().process.unwrap_or_else(std::process::id)
}

/// Returns the number of jobs of several nodes in which this process took part.
pub(crate) fn job_count() -> u32 {
    job().count
}

/// Says which node of a job this process is, and which process stands for the job.
pub(crate) fn set_node(node: u32, node_count: u32, job_process: u32) {
    let mut job = job();
    *job = Job {
        node,
        node_count,
        process: Some(job_process),
        count: job.count + u32::from(node_count > 1),
    };
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
