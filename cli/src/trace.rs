//! The option `--trace`: records the whole command.

use std::io::{self, Write};

use raddle::net::Launch;
use raddle_trace::trace_file::{self, Written};

use crate::arguments::Options;
use crate::error::CliError;

/// The recording of a command, if there is one.
#[must_use = "the file is written by `finish`"]
pub(crate) struct Trace {
    is_on: bool,
}

impl Trace {
    /// Begins to record, if the options ask for it.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn begin(options: &Options) -> Result<Self, CliError> {
        let Some(path) = &options.trace else {
            return Ok(Self { is_on: false });
        };
        trace_file::begin(path)?;
        Ok(Self { is_on: true })
    }

    /// Writes no file: the call was wrong, so nothing has run.
    pub(crate) fn discard(self) {
        if self.is_on {
            trace_file::discard();
        }
    }

    /// Writes the file, and says so on standard error unless the call is quiet.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn finish(self, options: &Options) -> Result<(), CliError> {
        if !self.is_on {
            return Ok(());
        }
        let Some(written) = trace_file::finish() else {
            return Ok(());
        };
        let written = written?;
        // Of several nodes, the first one prints.
        if !options.quiet && !Launch::is_started() {
            // If standard error is closed, the file is there nevertheless.
            let _unread = writeln!(io::stderr(), "{}", line(&written));
        }
        Ok(())
    }
}

/// Returns the line about a file that was written.
fn line(written: &Written) -> String {
    let path = written.path.display();
    let dropped = match written.dropped {
        0 => String::new(),
        dropped => format!(
            "; about {dropped} older ones did not fit into the buffer (RADDLE_TRACE_BUFFER)"
        ),
    };
    format!("trace: {path} ({} events{dropped})", written.events)
}
