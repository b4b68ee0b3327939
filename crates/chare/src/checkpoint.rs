//! Checkpoints: the elements of an array on disk, from which a program goes on later, on as many workers and nodes as it then has.
//!
//! Each node writes the elements that it has into a file of its own. When all are there, the manifest is written beside them, and only then is this the
//! folder's checkpoint: until that moment, whatever ends the program, the one before it stands. Files have check sums, which are looked at when they
//! are read.
//!
//! What is kept of an element is its value: of the type's `Serialize`, for `#[chare(state)]`. So an array is written when it has nothing else: no
//! message is under way or waits, no asynchronous entry, and all elements have contributed to the same reductions. Sections, and the numbers of
//! reductions and scans, begin anew.
//!
//! | module | what it is |
//! |---|---|
//! | `file` | files of elements, and the manifest |
//! | `save` | what each worker and each node writes |
//! | `restore` | an array made of files |
//!
//! # Source
//! Zheng, Shi, Kalé: FTC-Charm++: an in-memory checkpoint-based fault tolerant runtime for Charm++ and MPI. Cluster 2004: objects that pack themselves
//! restart on another number of processors.

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

/// Why a checkpoint was not written, or not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The chare does not say how its values are written.
    #[error(
        "a {0} cannot be written: let it be `Serialize` and `Deserialize`, and write `#[chare(state)]`"
    )]
    NoState(&'static str),
    /// The system did not let us.
    #[error("{}: {what}: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was to be done.
        what: &'static str,
        /// Why not.
        error: io::Error,
    },
    /// A file is not what it should be.
    #[error("{}: {found}; expected {expected}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is there.
        found: String,
        /// What should be.
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
    /// Waits until all is quiet, and writes all elements into files in `folder`, which is made if it is not there.
    ///
    /// [`Chares::restore`](crate::Chares::restore) makes the array again of them. On several nodes, each writes its elements there: the folder is to be the same for
    /// all. Returns how many elements were written.
    ///
    /// A folder holds one checkpoint: files of elements that are of another one, be it that the program that wrote it was killed, are removed once the new one is in its place. Should anything fail, what
    /// was there before is as it was, or, where only the last word of the disk is missing, the new one is there.
    ///
    /// # Errors
    /// [`CheckpointError`]; among others where an asynchronous entry waits, or a message to be received.
    /// # Panics
    /// On a worker.
    pub fn checkpoint(self, folder: impl AsRef<Path>) -> Result<u64, CheckpointError> {
        save::save(self, folder.as_ref())
    }
}
