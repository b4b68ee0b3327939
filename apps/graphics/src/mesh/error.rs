//! The errors of mesh files, and their places in the files.
//!
//! Every error of this module prints as one line, `FILE: PLACE: FOUND; expected EXPECTED`, whatever
//! bytes the file or its name contains. Readers quote input through [`quoted`], which escapes and
//! shortens it. The whole message is escaped once more in case a reader quotes input directly.
//!
//! Readers do not know file names. They return a [`Fault`], and the loader adds the name.

use std::fmt;
use std::path::PathBuf;

use thiserror::Error;

use super::COORDINATE_MAX;
use super::format::FORMATS;
use crate::memory::NoMemory;

/// The maximum number of characters of quoted input in a message, counted after escaping.
const QUOTED_CHARS_MAX: usize = 40;

/// A mesh file that could not be loaded: the file, the place in it, and the reason.
///
/// # Examples
/// ```
/// use raddle_graphics::mesh::{Mesh, MeshProblem};
///
/// let error = Mesh::load("no/such/file.ply").unwrap_err();
/// assert!(matches!(error.problem, MeshProblem::Open(_)));
/// assert!(error.to_string().starts_with("no/such/file.ply: "));
/// ```
#[derive(Debug, Error)]
#[error("{}: {place}{}", one_line(&path.to_string_lossy()), one_line(&problem.to_string()))]
#[non_exhaustive]
pub struct MeshError {
    /// The file, as the caller named it.
    pub path: PathBuf,
    /// The place in the file where the reader stopped.
    pub place: Place,
    /// The content that was found there, and the content that was expected.
    pub problem: MeshProblem,
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

/// The problem with a mesh file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MeshProblem {
    /// The file does not exist or must not be read.
    #[error("{0}; expected a file that can be read")]
    Open(std::io::Error),
    /// The path refers to a directory.
    #[error("a directory; expected a mesh in {FORMATS}")]
    Directory,
    /// The disk or the decompressor failed in the middle of the file.
    #[error("{0}; expected data that can be read and, if compressed, expanded")]
    Read(std::io::Error),
    /// The file has no content.
    #[error("an empty file; expected a mesh in {FORMATS}")]
    Empty,
    /// Neither the content nor the name indicates a supported format.
    #[error("{found}; expected a mesh in {FORMATS}")]
    UnknownFormat {
        /// The beginning of the file.
        found: String,
    },
    /// The file ends too early.
    #[error("the end of the file; expected {expected}")]
    Truncated {
        /// The missing content.
        expected: String,
    },
    /// The content violates its format.
    #[error("{found}; expected {expected}")]
    Syntax {
        /// The content at that place.
        found: String,
        /// The content that the format requires.
        expected: String,
    },
    /// A coordinate is NaN, infinite or too large.
    #[error("coordinate {found}; expected a finite number of magnitude at most {COORDINATE_MAX:e}")]
    Coordinate {
        /// The coordinate.
        found: String,
    },
    /// A face uses a vertex or a normal that does not exist.
    #[error("{of} index {found}; expected {expected}")]
    Index {
        /// The kind of index: `vertex` or `normal`.
        of: &'static str,
        /// The index, as written in the file.
        found: i64,
        /// The range of the indices that exist.
        expected: String,
    },
    /// The mesh has points but no triangles.
    #[error("{vertex_count} vertices without a triangle; expected at least one triangle")]
    NoTriangles {
        /// The number of vertices in the file.
        vertex_count: usize,
    },
    /// All triangles have zero area, so that the mesh is invisible and no ray can hit it.
    #[error(
        "{triangle_count} triangles, all of zero area; expected at least one triangle with an area"
    )]
    NoArea {
        /// The number of triangles of the mesh.
        triangle_count: usize,
    },
    /// There is not enough memory for the mesh.
    #[error("no memory for {bytes} more bytes; expected a smaller mesh")]
    OutOfMemory {
        /// The number of bytes that were requested from the system.
        bytes: u64,
    },
    /// The mesh exceeds the limits of [`LoadOptions`](super::LoadOptions) or the 32 bits of an
    /// index.
    #[error("{found}; expected {expected}")]
    TooLarge {
        /// The requested size.
        found: String,
        /// The limit.
        expected: String,
    },
}

/// A [`MeshError`] without the name of the file.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) place: Place,
    pub(crate) problem: MeshProblem,
}

impl Fault {
    /// Adds the name of the file.
    pub(crate) fn at(self, path: impl Into<PathBuf>) -> MeshError {
        MeshError {
            path: path.into(),
            place: self.place,
            problem: self.problem,
        }
    }

    #[cold]
    pub(crate) fn new(place: Place, problem: MeshProblem) -> Self {
        Self { place, problem }
    }

    #[cold]
    pub(crate) fn syntax(
        place: Place,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        let (found, expected) = (found.into(), expected.into());
        Self::new(place, MeshProblem::Syntax { found, expected })
    }

    #[cold]
    pub(crate) fn truncated(place: Place, expected: impl Into<String>) -> Self {
        let expected = expected.into();
        Self::new(place, MeshProblem::Truncated { expected })
    }

    #[cold]
    pub(crate) fn too_large(
        place: Place,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        let (found, expected) = (found.into(), expected.into());
        Self::new(place, MeshProblem::TooLarge { found, expected })
    }

    #[cold]
    pub(crate) fn no_memory(place: Place, NoMemory(bytes): NoMemory) -> Self {
        Self::new(place, MeshProblem::OutOfMemory { bytes })
    }

    #[cold]
    pub(crate) fn coordinate(place: Place, found: impl fmt::Display) -> Self {
        let found = found.to_string();
        Self::new(place, MeshProblem::Coordinate { found })
    }

    /// Creates the fault of an index, counted from 0, that is not below `vertex_count`.
    #[cold]
    pub(crate) fn index(place: Place, found: i64, vertex_count: usize) -> Self {
        let expected = format!("one below {vertex_count}, the number of vertices");
        let of = "vertex";
        Self::new(
            place,
            MeshProblem::Index {
                of,
                found,
                expected,
            },
        )
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
