//! Standard output, line by line: who reads it may go, but what cannot be written is told.

use std::io::{self, Write};

use crate::error::BenchError;

/// Takes lines until nobody reads them any more.
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

    /// Writes a line. A reader that has had enough (`| head`) ends the output, not the run.
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
