//! The errors of reading a timeline.

use std::{fmt, io};

use thiserror::Error;

/// A place in a timeline that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The position, in bytes from the start of the file. In a file that is compressed as a whole,
    /// it counts the expanded bytes.
    pub byte: u64,
    /// The number of the packet (Perfetto) or event (Chrome), from 1; 0 before the first one.
    /// Packets in a compressed batch at `byte` count too.
    pub item: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "byte {}", self.byte)?;
        match self.item {
            0 => Ok(()),
            item => write!(formatter, ", packet or event {item}"),
        }
    }
}

/// An error of reading a timeline.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// A failure of the input.
    #[error("unreadable: {0}; expected a timeline")]
    Input(io::Error),
    /// Content that is no timeline.
    #[error("{place}: {found}; expected {expected}")]
    Malformed {
        /// The position.
        place: Place,
        /// The content that was found.
        found: String,
        /// The content that was expected.
        expected: &'static str,
    },
    /// A compressed file or batch that expands to too many bytes.
    #[error(
        "{place}: compressed data expands to more than {bytes_max} bytes; expected a timeline, \
         which is not that repetitive"
    )]
    Expansion {
        /// The position.
        place: Place,
        /// The maximum number of bytes.
        bytes_max: u64,
    },
    /// A timeline with too many events, names or arguments.
    #[error("{place}: more than {max} {what}; expected fewer")]
    TooMany {
        /// The position.
        place: Place,
        /// The kind of the items.
        what: &'static str,
        /// The maximum number.
        max: u64,
    },
}

/// Returns the error for a call with a track or process that was not declared.
pub(crate) fn undeclared(what: &str, number: u64) -> io::Error {
    let text = format!("{what} {number} is not declared; expected a call that declares it before");
    io::Error::new(io::ErrorKind::InvalidInput, text)
}
