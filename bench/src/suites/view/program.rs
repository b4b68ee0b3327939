//! The program `raddle view`, as a process that ends with the run.

use std::fmt::Display;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::error::BenchError;

/// A program that shows a file.
pub(super) struct Program {
    child: Child,
    address: String,
}

impl Program {
    /// Starts the program, and waits until it has printed its address.
    ///
    /// # Errors
    /// [`BenchError::Contender`] if it does not start, or prints something else.
    pub(super) fn start(file: &Path, workers: usize) -> Result<Self, BenchError> {
        let mut child = Command::new(path()?)
            .arg("view")
            .arg(file)
            .args(["--no-open", "--json", "--workers", &workers.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let output = child.stdout.take().expect("the output is a pipe");
        let mut program = Self {
            child,
            address: String::new(),
        };
        let mut line = String::new();
        BufReader::new(output)
            .read_line(&mut line)
            .map_err(failed)?;
        let report: Value = serde_json::from_str(&line).unwrap_or_default();
        let address = report["address"].as_str();
        let address = address.ok_or_else(|| failed(format!("no address in {line:?}")))?;
        program.address.push_str(address);
        Ok(program)
    }

    /// Returns the address of the page.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Returns the number of the process.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // A program that has already ended needs no end.
        let _ended = self.child.kill();
        let _waited = self.child.wait();
    }
}

/// Returns the path of the program `raddle`, which lies beside this one.
///
/// # Errors
/// [`BenchError::Contender`] if there is none.
pub(super) fn path() -> Result<PathBuf, BenchError> {
    let own = std::env::current_exe().map_err(failed)?;
    let name = format!("raddle{}", std::env::consts::EXE_SUFFIX);
    let path = own.with_file_name(name);
    match path.is_file() {
        true => Ok(path),
        false => Err(failed(format!(
            "{}: not found; build it with the same profile: cargo build --release -p raddle-cli",
            path.display()
        ))),
    }
}

/// Returns an error of the program.
pub(super) fn failed(reason: impl Display) -> BenchError {
    BenchError::contender("raddle view", reason)
}
