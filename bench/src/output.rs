//! Line-by-line output. A closed pipe ends the output silently; any other write error is returned.

use std::io::{self, Write};

use crate::error::BenchError;

/// A line writer that discards further lines once the reader has closed the pipe.
#[derive(Debug)]
pub(crate) struct Output<To> {
    to: To,
    has_reader: bool,
}

impl<To: Write> Output<To> {
    pub(crate) fn new(to: To) -> Self {
        Self {
            to,
            has_reader: true,
        }
    }

    /// Writes a line and flushes it.
    ///
    /// If the reader has closed the pipe (`| head`), the output ends but the run continues.
    ///
    /// # Errors
    /// [`BenchError::System`] on any other failure.
    pub(crate) fn line(&mut self, line: &str) -> Result<(), BenchError> {
        if !self.has_reader {
            return Ok(());
        }
        match writeln!(self.to, "{line}").and_then(|()| self.to.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.has_reader = false;
                Ok(())
            }
            written => written.map_err(|source| BenchError::System {
                what: "standard output".to_owned(),
                source,
            }),
        }
    }
}

#[cfg(test)]
mod tests;
