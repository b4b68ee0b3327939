//! Checkpoints: the elements of an array on disk. A program can resume from them later, on any
//! number of workers and nodes.
//!
//! Each node writes its elements into a file of its own. When all files are complete, the manifest
//! is written beside them. Only the manifest makes the files the folder's checkpoint: if the
//! program ends before that, for any reason, the previous checkpoint remains valid. Files have
//! checksums, which are verified on reading.
//!
//! A checkpoint contains the elements' values, by the type's `Serialize`, for `#[chare(state)]`. So
//! an array can be written only when it has no other state: no message is under way or waiting, no
//! asynchronous entry is running, and all elements have contributed to the same reductions.
//! Sections, and the numbers of reductions and scans, start afresh.
//!
//! | module | contents |
//! |---|---|
//! | `file` | files of elements, and the manifest |
//! | `save` | how workers and nodes write their parts |
//! | `restore` | the creation of an array from files |
//!
//! # Source
//! Zheng, Shi, Kalé: FTC-Charm++: an in-memory checkpoint-based fault tolerant runtime for Charm++
//! and MPI. Cluster 2004: objects that pack themselves can restart on another number of processors.

mod file;
mod restore;
pub(crate) mod save;

use std::io;
use std::path::{Path, PathBuf};

pub(crate) use restore::restore;
pub(crate) use save::answer;

use crate::address::index::Index;
use crate::array::Array;
use crate::engine::object::chare::Chare;
use crate::failure::Failure;

/// The reason why a checkpoint was not written, or not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The chare does not have `#[chare(state)]`, so its values cannot be serialised.
    #[error(
        "a {0} cannot be written: derive `Serialize` and `Deserialize`, \
         and write `#[chare(state)]`"
    )]
    NoState(&'static str),
    /// An operation on a file or folder has failed.
    #[error("{}: {what}: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The operation that failed.
        what: &'static str,
        /// The error of the operating system.
        error: io::Error,
    },
    /// A file has unexpected contents.
    #[error("{}: {found}; expected {expected}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// The value found.
        found: String,
        /// The expected value.
        expected: String,
    },
    /// The array is not in a state that can be written, or something has failed.
    #[error(transparent)]
    Failed(#[from] Failure),
}

impl CheckpointError {
    fn io(path: &Path, what: &'static str) -> impl Fn(io::Error) -> Self {
        move |error| Self::Io {
            path: path.to_owned(),
            what,
            error,
        }
    }

    fn broken(path: &Path, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::Broken {
            path: path.to_owned(),
            found: found.into(),
            expected: expected.into(),
        }
    }
}

impl<T: Chare<Index: Index>> Array<T> {
    /// Waits until the system is quiet, and writes all elements into files in `folder`, which is
    /// created if missing.
    ///
    /// [`Chares::restore`](crate::Chares::restore) makes the array from these files. On several
    /// nodes, each node writes its elements, so all nodes must see the same folder. Returns the
    /// number of elements written.
    ///
    /// A folder holds one checkpoint. After the new one is complete, the files of older checkpoints
    /// are removed, including incomplete ones of killed programs. If anything fails, the previous
    /// checkpoint remains, or, if only the disk's last confirmation is missing, the new one is
    /// complete.
    ///
    /// # Errors
    /// [`CheckpointError`], for example if an asynchronous entry waits, or a message is unreceived.
    /// # Panics
    /// On a worker.
    pub fn checkpoint(self, folder: impl AsRef<Path>) -> Result<u64, CheckpointError> {
        save::save(self, folder.as_ref())
    }
}
