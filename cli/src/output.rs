//! Where results go: standard output, or a file that appears whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::CliError;

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

/// Writes `text` to a file; see [`write_whole`].
///
/// # Errors
/// [`CliError::Output`] or [`CliError::OutputIsDirectory`].
pub(crate) fn write_file(path: &Path, text: &str) -> Result<(), CliError> {
    if path.is_dir() {
        return Err(CliError::OutputIsDirectory {
            path: path.to_owned(),
        });
    }
    write_whole(path, text.as_bytes()).map_err(|source| output_error(path, source))
}

/// Writes to a temporary file beside `path` and renames it, so that nobody ever sees half a file. What is
/// no regular file (a pipe, a device) is written directly.
fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let is_special = fs::metadata(path).is_ok_and(|data| !data.is_file());
    if is_special {
        return File::options().write(true).open(path)?.write_all(content);
    }
    let temporary = temporary_beside(path);
    let written = File::options()
        .write(true)
        .create_new(true)
        .open(&temporary)
        .and_then(|mut file| file.write_all(content))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // The first failure is the one to tell; the file may never have come to be.
        let _gone = fs::remove_file(&temporary);
    }
    written
}

fn temporary_beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.part", std::process::id()))
}

fn output_error(path: &Path, source: io::Error) -> CliError {
    CliError::Output {
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests;
