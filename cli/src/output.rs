//! Where results go: standard output, or a file that appears whole or not at all.

use std::io::{self, Write};
use std::path::Path;

use nix::sys::signal::{SigSet, Signal};
use raddle_trace::whole_file::{self, WholeFile};

use crate::error::CliError;

/// Makes it an error, which is told, that a file would grow beyond what the process may write
/// (`ulimit -f`). The system's way is a signal that ends the process, which then leaves behind what
/// it had begun. To be called before there are threads.
pub(crate) fn block_size_signal() {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGXFSZ);
    // Refused only for what is no signal.
    let _blocked = signals.thread_block();
}

/// Writes `text` to standard output.
///
/// # Errors
/// [`CliError::ReaderGone`] when nobody reads any more, [`CliError::StandardOutput`] on any other failure.
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

/// Writes a warning of one line to standard error.
pub(crate) fn warn(text: &str) {
    // Without a reader of standard error the command does its work all the same.
    let _unread = writeln!(io::stderr(), "warning: {text}");
}

/// Writes `text` to a file, as [`whole_file`] does.
///
/// # Errors
/// [`CliError::Output`] or [`CliError::OutputIsDirectory`].
pub(crate) fn write_file(path: &Path, text: &str) -> Result<(), CliError> {
    whole_file::write(path, text.as_bytes()).map_err(|source| output_error(path, source))
}

/// Begins a file, before the work whose result it gets.
///
/// # Errors
/// [`CliError::Output`] or [`CliError::OutputIsDirectory`].
pub(crate) fn begin_file(path: &Path) -> Result<WholeFile, CliError> {
    WholeFile::create(path).map_err(|source| output_error(path, source))
}

/// Ends a file that was begun, with what came of writing it.
///
/// # Errors
/// [`CliError::Output`].
pub(crate) fn finish_file(written: io::Result<WholeFile>, path: &Path) -> Result<(), CliError> {
    let finished = written.and_then(WholeFile::finish);
    finished.map_err(|source| output_error(path, source))
}

fn output_error(path: &Path, source: io::Error) -> CliError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::IsADirectory => CliError::OutputIsDirectory { path },
        _ => CliError::Output { path, source },
    }
}

#[cfg(test)]
mod tests;
