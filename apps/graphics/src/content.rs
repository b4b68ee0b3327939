//! Finds out whether a file has a mesh or a volume.

use std::fs::Metadata;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use crate::file::{self, Fault, FileError, FileProblem, Place, Stream};
use crate::{mesh, volume};

/// The kind of content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Triangles.
    Mesh,
    /// Voxels.
    Volume,
}

/// The maximum number of bytes of the beginning of a file, after decompression.
const HEAD_BYTES_MAX: u64 = 1 << 24;

impl Content {
    /// Examines the beginning of a file, or its name if the beginning is not conclusive. `None`
    /// means that it is something else. A folder is a volume, a series of DICOM images.
    ///
    /// # Errors
    /// Returns a [`FileError`] if the file cannot be read, or if it is a pipe: its beginning would
    /// be lost.
    ///
    /// # Examples
    /// ```
    /// use raddle_graphics::content::Content;
    ///
    /// let path = std::env::temp_dir().join(format!("raddle-doc-{}.txt", std::process::id()));
    /// std::fs::write(&path, "solid cube\nendsolid\n")?;
    /// assert_eq!(Content::of(&path)?, Some(Content::Mesh));
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(path: impl AsRef<Path>) -> Result<Option<Self>, FileError> {
        let path = path.as_ref();
        if path.is_dir() {
            return Ok(Some(Self::Volume));
        }
        let is_pipe = |metadata: Metadata| metadata.file_type().is_fifo();
        if path.metadata().is_ok_and(is_pipe) {
            let fault = Fault::new(
                Place::Whole,
                FileProblem::UnknownFormat {
                    found: "a pipe".to_owned(),
                    expected: "a file, which can be read a second time once its kind is known",
                },
            );
            return Err(fault.at(path));
        }
        let outcome = file::open(path, "a file").and_then(|(file, length)| {
            let mut stream = Stream::new(file, length, HEAD_BYTES_MAX, |_| ())?;
            let mesh = mesh::match_of(&mut stream.source, path)?;
            let volume = volume::match_of(&mut stream.source, path)?;
            // Content is stronger than a name, and a mesh comes first.
            Ok(match (mesh, volume) {
                (None, None) => None,
                (mesh, volume) if mesh >= volume => Some(Self::Mesh),
                _ => Some(Self::Volume),
            })
        });
        outcome.map_err(|fault| fault.at(path))
    }
}
