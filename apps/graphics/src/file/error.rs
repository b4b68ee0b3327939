//! The errors of files, and their places in the files.
//!
//! Every error of this module prints as one line, `FILE: PLACE: FOUND; expected EXPECTED`, whatever
//! bytes the file or its name contains. Readers quote input through [`quoted`], which escapes and
//! shortens it. The whole message is escaped once more in case a reader quotes input directly.
//!
//! Readers do not know file names. They return a [`Fault`], and the loader adds the name.

use std::fmt;
use std::path::PathBuf;

use thiserror::Error;

use crate::memory::NoMemory;

/// The maximum number of characters of quoted input in a message, counted after escaping.
const QUOTED_CHARS_MAX: usize = 40;

/// A file that could not be loaded: the file, the place in it, and the reason.
///
/// # Examples
/// ```
/// use raddle_graphics::file::FileProblem;
/// use raddle_graphics::mesh::Mesh;
///
/// let error = Mesh::load("no/such/file.ply").unwrap_err();
/// assert!(matches!(error.problem, FileProblem::Open(_)));
/// assert!(error.to_string().starts_with("no/such/file.ply: "));
/// ```
#[derive(Debug, Error)]
#[error("{}: {place}{}", one_line(&path.to_string_lossy()), one_line(&problem.to_string()))]
#[non_exhaustive]
pub struct FileError {
    /// The file, as the caller named it.
    pub path: PathBuf,
    /// The place in the file where the reader stopped.
    pub place: Place,
    /// The content that was found there, and the content that was expected.
    pub problem: FileProblem,
}

/// A place in a file: a line of a text, or a byte of binary data. Both refer to the expanded data
/// if the file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// The file as a whole.
    Whole,
    /// A line, counted from 1.
    Line(u64),
    /// A byte, counted from 0.
    Byte(u64),
}

impl fmt::Display for Place {
    /// Prints the place with the colon that separates it from what follows. Prints nothing for a
    /// whole file.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => Ok(()),
            Self::Line(line) => write!(formatter, "line {line}: "),
            Self::Byte(byte) => write!(formatter, "byte {byte}: "),
        }
    }
}

/// The problem with a file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileProblem {
    /// The file does not exist or must not be read.
    #[error("{0}; expected a file that can be read")]
    Open(std::io::Error),
    /// The path refers to a directory.
    #[error("a directory; expected {expected}")]
    Directory {
        /// The kind of content and its formats.
        expected: &'static str,
    },
    /// The disk, or the decoder of a part of the file, failed in the middle.
    #[error("{0}; expected data that can be read and, if compressed, expanded")]
    Read(std::io::Error),
    /// A compressed file is truncated or damaged. The place is that in the expanded data.
    #[error("the compressed data ends or is damaged here ({0}); expected a complete file")]
    Expand(std::io::Error),
    /// The file has no content.
    #[error("an empty file; expected {expected}")]
    Empty {
        /// The kind of content and its formats.
        expected: &'static str,
    },
    /// Neither the content nor the name indicates a supported format.
    #[error("{found}; expected {expected}")]
    UnknownFormat {
        /// The beginning of the file.
        found: String,
        /// The kind of content and its formats.
        expected: &'static str,
    },
    /// The file ends too early.
    #[error("the end of the file; expected {expected}")]
    Truncated {
        /// The missing content.
        expected: String,
    },
    /// The content violates its format: a syntax error, a number out of range, or an index of
    /// something that does not exist.
    #[error("{found}; expected {expected}")]
    Syntax {
        /// The content at that place.
        found: String,
        /// The content that the format requires.
        expected: String,
    },
    /// The file is well-formed, but its content is useless: a mesh without triangles or area.
    #[error("{found}; expected {expected}")]
    Useless {
        /// The content of the file.
        found: String,
        /// The content that is required.
        expected: &'static str,
    },
    /// There is not enough memory for the content.
    #[error("no memory for {bytes} more bytes; expected a smaller file")]
    OutOfMemory {
        /// The number of bytes that were requested from the system.
        bytes: u64,
    },
    /// The content exceeds the limits of the options or the 32 bits of an index.
    #[error("{found}; expected {expected}")]
    TooLarge {
        /// The requested size.
        found: String,
        /// The limit.
        expected: String,
    },
}

/// A [`FileError`] without the name of the file.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The file, if it is another one than the one that was opened first: a file of data beside a
    /// header.
    pub(crate) path: Option<PathBuf>,
    pub(crate) place: Place,
    pub(crate) problem: FileProblem,
}

impl Fault {
    /// Adds the name of the file.
    pub(crate) fn at(self, path: impl Into<PathBuf>) -> FileError {
        FileError {
            path: self.path.unwrap_or_else(|| path.into()),
            place: self.place,
            problem: self.problem,
        }
    }

    #[cold]
    pub(crate) fn new(place: Place, problem: FileProblem) -> Self {
        Self {
            path: None,
            place,
            problem,
        }
    }

    /// Sets the file, unless it is set already.
    pub(crate) fn in_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.path.get_or_insert_with(|| path.into());
        self
    }

    #[cold]
    pub(crate) fn syntax(
        place: Place,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        let (found, expected) = (found.into(), expected.into());
        Self::new(place, FileProblem::Syntax { found, expected })
    }

    #[cold]
    pub(crate) fn truncated(place: Place, expected: impl Into<String>) -> Self {
        let expected = expected.into();
        Self::new(place, FileProblem::Truncated { expected })
    }

    #[cold]
    pub(crate) fn too_large(
        place: Place,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        let (found, expected) = (found.into(), expected.into());
        Self::new(place, FileProblem::TooLarge { found, expected })
    }

    #[cold]
    pub(crate) fn no_memory(place: Place, NoMemory(bytes): NoMemory) -> Self {
        Self::new(place, FileProblem::OutOfMemory { bytes })
    }

    #[cold]
    pub(crate) fn useless(found: impl Into<String>, expected: &'static str) -> Self {
        let found = found.into();
        Self::new(Place::Whole, FileProblem::Useless { found, expected })
    }
}

/// Quotes a piece of the input: escaped, on one line, and shortened.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * QUOTED_CHARS_MAX)]);
    let mut shown = String::new();
    let mut shown_chars = 0;
    for char in text.chars() {
        let escaped = one_line(char.encode_utf8(&mut [0; 4]));
        shown_chars += escaped.chars().count();
        if shown_chars > QUOTED_CHARS_MAX {
            return format!("\"{shown}…\"");
        }
        shown.push_str(&escaped);
    }
    format!("\"{shown}\"")
}

/// Escapes control characters, which would break or garble a line, and nothing else.
pub(crate) fn one_line(text: &str) -> String {
    text.chars()
        .flat_map(|char| {
            let (escaped, plain) = if char.is_control() || char == '\u{fffd}' {
                (Some(char.escape_default()), None)
            } else {
                (None, Some(char))
            };
            escaped.into_iter().flatten().chain(plain)
        })
        .collect()
}
