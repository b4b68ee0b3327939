//! Reads files of any kind: their bytes, compression, format and errors.
//!
//! [`mesh`](crate::mesh) and [`volume`](crate::volume) read their formats through this module.
//! `stream` opens a file and undoes its compression, `source` buffers the bytes and tracks
//! their places, `format` selects a reader by the beginning of the file, and `error` has the
//! errors.
//!
//! # Invariants
//! 1. No content of a file makes a reader panic, or allocate more memory than the size of the file
//!    justifies.
//! 2. Every error is one line: `FILE: PLACE: FOUND; expected EXPECTED`.

mod compression;
mod error;
mod format;
mod source;
mod stream;

pub use self::compression::Compression;
pub use self::error::{FileError, FileProblem, Place};
pub use self::stream::Progress;

pub(crate) use self::error::{Fault, one_line, quoted};
pub(crate) use self::format::{FormatReader, Head, Match, match_of, reader};
pub(crate) use self::source::{BYTE_ORDER_MARK, LINE_BYTES_MAX, Rest, Source, line_too_long};
pub(crate) use self::stream::{Stream, open};
