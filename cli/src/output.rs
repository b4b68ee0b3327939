//! Writes to standard output, to standard error, and to files that appear whole or not at all.

use std::io::{self, Write};
use std::path::Path;

use nix::sys::signal::{SigSet, Signal};
use raddle_trace::whole_file::{self, WholeFile};

use crate::error::CliError;

/// Blocks the signal that ends a process if its file exceeds the size limit (`ulimit -f`).
///
/// The write then fails with an error, which is reported, and the incomplete file is removed. Call
/// it before there are threads.
pub(crate) fn block_size_signal() {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGXFSZ);
    // Fails only for an invalid signal number.
    let _blocked = signals.thread_block();
}

/// Writes `text` to standard output.
///
/// # Errors
/// [`CliError::ReaderGone`] if the reader has closed the pipe, [`CliError::StandardOutput`] for any
/// other failure.
pub(crate) fn print(text: &str) -> Result<(), CliError> {
    let mut output = io::stdout().lock();
    output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush())
        .map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => CliError::ReaderGone,
            _ => CliError::StandardOutput(error),
        })
}

/// Writes `text` to standard output before the work of a command. If the reader has closed the
/// pipe, the command still does its work, which may be to write a file.
///
/// # Errors
/// [`CliError::StandardOutput`].
pub(crate) fn print_ahead(text: &str) -> Result<(), CliError> {
    match print(text) {
        Err(CliError::ReaderGone) => Ok(()),
        printed => printed,
    }
}

/// Writes a one-line warning to standard error.
pub(crate) fn warn(text: &str) {
    // If standard error is closed, the command still does its work.
    let _unread = writeln!(io::stderr(), "warning: {text}");
}

/// Checks that an output is none of the files of the input, which would be lost.
///
/// # Errors
/// [`CliError::OutputIsInput`].
pub(crate) fn check_apart<'a>(
    output: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<(), CliError> {
    // A new file is apart from all others.
    let Ok(found) = output.canonicalize() else {
        return Ok(());
    };
    let is_found = |input: &Path| input.canonicalize().is_ok_and(|input| input == found);
    match inputs.into_iter().any(is_found) {
        true => Err(CliError::OutputIsInput {
            path: output.to_path_buf(),
        }),
        false => Ok(()),
    }
}

/// Writes `text` to a file, as [`whole_file`] does.
///
/// # Errors
/// [`CliError::Output`] or [`CliError::OutputIsDirectory`].
pub(crate) fn write_file(path: &Path, text: &str) -> Result<(), CliError> {
    whole_file::write(path, text.as_bytes()).map_err(|source| output_error(path, source))
}

/// Creates a file for the result of work that follows.
///
/// # Errors
/// [`CliError::Output`] or [`CliError::OutputIsDirectory`].
pub(crate) fn begin_file(path: &Path) -> Result<WholeFile, CliError> {
    WholeFile::create(path).map_err(|source| output_error(path, source))
}

/// Completes a file, given the result of writing it.
///
/// # Errors
/// [`CliError::Output`].
pub(crate) fn finish_file(written: io::Result<WholeFile>, path: &Path) -> Result<(), CliError> {
    let finished = written.and_then(WholeFile::finish);
    finished.map_err(|source| output_error(path, source))
}

/// Returns the error for a file that cannot be written.
pub(crate) fn output_error(path: &Path, source: io::Error) -> CliError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::IsADirectory => CliError::OutputIsDirectory { path },
        _ => CliError::Output { path, source },
    }
}

#[cfg(test)]
mod tests;
