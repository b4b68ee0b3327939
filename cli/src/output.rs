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

/// Writes a warning of one line to standard error.
pub(crate) fn warn(text: &str) {
    // Without a reader of standard error the command does its work all the same.
    let _unread = writeln!(io::stderr(), "warning: {text}");
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

fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = Partial::begin(path)?;
    file.write_all(content)?;
    file.finish()
}

/// A file that is being written: a temporary one beside it, which takes its name at the end, so that nobody ever sees half a file. What is
/// no regular file (a pipe, a device) is written directly.
#[derive(Debug)]
pub(crate) struct Partial {
    file: File,
    path: PathBuf,
    /// Gone once the file has its name.
    temporary: Option<PathBuf>,
}

impl Partial {
    fn begin(path: &Path) -> io::Result<Self> {
        let is_special = fs::metadata(path).is_ok_and(|data| !data.is_file());
        let temporary = (!is_special).then(|| temporary_beside(path));
        let mut options = File::options();
        let options = options.write(true).create_new(!is_special);
        Ok(Self {
            file: options.open(temporary.as_deref().unwrap_or(path))?,
            path: path.to_owned(),
            temporary,
        })
    }

    /// Begins a file, before the work whose result it gets.
    ///
    /// # Errors
    /// [`CliError::Output`] or [`CliError::OutputIsDirectory`].
    pub(crate) fn new(path: &Path) -> Result<Self, CliError> {
        if path.is_dir() {
            return Err(CliError::OutputIsDirectory {
                path: path.to_owned(),
            });
        }
        Self::begin(path).map_err(|source| output_error(path, source))
    }

    /// Gives the file its name.
    fn finish(mut self) -> io::Result<()> {
        if let Some(temporary) = &self.temporary {
            fs::rename(temporary, &self.path)?;
        }
        self.temporary = None;
        Ok(())
    }

    /// The same, with what came of writing it.
    ///
    /// # Errors
    /// [`CliError::Output`].
    pub(crate) fn finish_after(written: io::Result<Self>, path: &Path) -> Result<(), CliError> {
        let finished = written.and_then(Self::finish);
        finished.map_err(|source| output_error(path, source))
    }
}

impl Write for Partial {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // The failure that led here is the one to tell.
            let _gone = fs::remove_file(temporary);
        }
    }
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
