//! What can go wrong while measuring.

use std::path::PathBuf;

use raddle_graphics::mesh::MeshError;

/// A failure of the harness or of a peer; each ends one case, never the whole run in silence.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum BenchError {
    /// A C++ peer needs something that is not installed.
    #[error("peer {who} left out: {what} not found; on Debian: apt-get install {package}")]
    PeerMissing {
        /// The peer's name.
        who: String,
        /// The header or program that was looked for.
        what: String,
        /// The Debian package that has it.
        package: String,
    },
    /// The compiler refused a peer.
    #[error("peer {who} does not compile: {message}")]
    PeerDoesNotCompile {
        /// The peer's name.
        who: String,
        /// The compiler's first words.
        message: String,
    },
    /// A peer said something that is no answer, or ended.
    #[error("peer {who} answered {found:?}; expected \"NANOSECONDS RESULT\"")]
    PeerAnswer {
        /// The peer's name.
        who: String,
        /// What it said.
        found: String,
    },
    /// Two contenders disagree on the result of the same workload.
    #[error("{who} computed {found} for {case}; expected {expected}")]
    WrongResult {
        /// The contender's name.
        who: String,
        /// The case's name.
        case: String,
        /// What it computed.
        found: u64,
        /// What it should have computed.
        expected: u64,
    },
    /// Real input is needed and `RADDLE_DATA` does not lead to it.
    #[error("{path}: not found; set RADDLE_DATA to the folder of real meshes")]
    NoData {
        /// The file that was looked for.
        path: PathBuf,
    },
    /// A mesh cannot be read; in the words of who reads it, which name the file.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The model does not hold for what was asked of it.
    #[error(transparent)]
    Model(#[from] raddle_model::ModelError),
    /// A figure of the model could not be drawn.
    #[error(transparent)]
    Figure(#[from] raddle_model::study::PictureError),
    /// A contender could not be set up or run.
    #[error("{who}: {message}")]
    Contender {
        /// The contender's name.
        who: String,
        /// What it said.
        message: String,
    },
    /// The picture of a chart cannot be written.
    #[error("--plot cannot write {path}: {message}")]
    Plot {
        /// Where it was to go.
        path: PathBuf,
        /// What stood in the way.
        message: String,
    },
    /// An operating-system call failed.
    #[error("{what}: {source}")]
    System {
        /// What was attempted.
        what: String,
        /// The system's answer.
        source: std::io::Error,
    },
}
