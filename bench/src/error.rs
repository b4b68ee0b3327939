//! The errors of a measurement.

use std::fmt::Display;
use std::path::PathBuf;

use raddle_graphics::file::FileError;

/// A failure of the harness or of a peer.
///
/// A failure of a peer removes that peer from the comparison, with a warning. Any other failure
/// ends the run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum BenchError {
    /// A C++ peer needs something that is not installed.
    #[error("peer {peer} left out: {what} not found; on Debian: apt-get install {package}")]
    PeerMissing {
        /// The peer's name.
        peer: String,
        /// The missing header or program.
        what: String,
        /// The Debian package that has it.
        package: String,
    },
    /// The compiler rejected a peer.
    #[error("peer {peer} does not compile: {message}")]
    PeerDoesNotCompile {
        /// The peer's name.
        peer: String,
        /// The first error message of the compiler.
        message: String,
    },
    /// A peer printed a malformed answer, or ended.
    #[error("peer {peer} answered {found:?}; expected \"NANOSECONDS RESULT\"")]
    PeerAnswer {
        /// The peer's name.
        peer: String,
        /// The line that it printed.
        found: String,
    },
    /// A contender computed another result than expected.
    #[error("{contender} computed {found} for {case}; expected {expected}")]
    WrongResult {
        /// The contender's name.
        contender: String,
        /// The case's name.
        case: String,
        /// The computed result.
        found: u64,
        /// The expected result.
        expected: u64,
    },
    /// A real input file is needed and was not found below `RADDLE_DATA`.
    #[error("{path}: not found; set RADDLE_DATA to the folder of real meshes")]
    NoData {
        /// The missing file.
        path: PathBuf,
    },
    /// A mesh cannot be read. The message names the file.
    #[error(transparent)]
    File(#[from] FileError),
    /// The model returned an error, such as a parameter out of range.
    #[error(transparent)]
    Model(#[from] raddle_model::ModelError),
    /// A figure of the model could not be drawn.
    #[error(transparent)]
    Figure(#[from] raddle_model::study::PictureError),
    /// A contender could not be set up or run.
    #[error("{contender}: {message}")]
    Contender {
        /// The contender's name.
        contender: String,
        /// The reason.
        message: String,
    },
    /// The SVG file of a chart cannot be written.
    #[error("--plot cannot write {path}: {message}")]
    Plot {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        message: String,
    },
    /// A file of records cannot be read, or does not have the wanted records.
    #[error("--from {path}: {message}")]
    Records {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        message: String,
    },
    /// An operating-system call failed.
    #[error("{what}: {source}")]
    System {
        /// The attempted operation, or its object.
        what: String,
        /// The error that the system reported.
        source: std::io::Error,
    },
}

impl BenchError {
    /// Creates the failure of a contender, with `error` as the reason.
    pub(crate) fn contender(name: &str, error: impl Display) -> Self {
        Self::Contender {
            contender: name.to_owned(),
            message: error.to_string(),
        }
    }
}
