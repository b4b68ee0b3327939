//! The files of a checkpoint.
//!
//! ```text
//! manifest.json        describes the checkpoint, and lists its files
//! NAME.elements        per element: position (8 bytes), length (8 bytes), data; little-endian
//! ```
//! The manifest contains the number of elements, the number of bytes and the CRC-32C of each file.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::process;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::CheckpointError;

const MANIFEST: &str = "manifest.json";
/// The suffix of the files of elements.
const ELEMENTS: &str = ".elements";
const VERSION: u32 = 1;
const BUFFER_BYTES: usize = 1 << 20;

/// The description of a checkpoint.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Manifest {
    version: u32,
    pub(crate) chare: String,
    /// The lengths of the array.
    pub(crate) shape: Vec<u64>,
    pub(crate) elements: u64,
    pub(crate) files: Vec<PartFile>,
}

/// Returns the common part of the file names of one checkpoint: its start time and its process.
pub(super) fn tag() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    // If the clock is before 1970, only the process id distinguishes checkpoints.
    let since = since.map_or(0, |since| since.as_nanos());
    format!("{since:x}-{}", process::id())
}

/// Returns the name of the file of a node.
pub(super) fn name_of(tag: &str, node: u16) -> String {
    format!("{tag}-{node}{ELEMENTS}")
}

/// Returns true if `name` is the name of a file of elements.
fn is_ours(name: &str) -> bool {
    let parts = name.strip_suffix(ELEMENTS).map(|name| name.split('-'));
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    let is_number = |part: &&str, radix| u128::from_str_radix(part, radix).is_ok();
    matches!(&parts[..], [since, process, node]
        if is_number(since, 16) && is_number(process, 10) && is_number(node, 10))
}

/// One file of elements.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct PartFile {
    pub(crate) name: String,
    pub(crate) elements: u64,
    bytes: u64,
    crc32c: u32,
}

impl Manifest {
    pub(crate) fn new(chare: &str, shape: Vec<u64>, files: Vec<PartFile>) -> Self {
        Self {
            version: VERSION,
            chare: chare.to_owned(),
            shape,
            elements: files.iter().map(|file| file.elements).sum(),
            files,
        }
    }

    /// Makes this the checkpoint of a folder, and removes the files of earlier ones, complete or
    /// not. On failure, removes the new checkpoint's files.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), CheckpointError> {
        let partial = folder.join(format!("{MANIFEST}.partial"));
        if let Err(error) = self.put_in_place(folder, &partial) {
            // Ignored: a file that cannot be removed only takes space.
            let _ = fs::remove_file(partial);
            self.files.iter().for_each(|file| file.remove(folder));
            return Err(error);
        }
        // The rename is durable only when the folder has been synchronised as well.
        let synced = File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(CheckpointError::io(folder, "cannot be synchronised"))?;
        self.remove_others(folder);
        Ok(())
    }

    /// Removes the files of elements of other checkpoints. A file that cannot be removed only takes
    /// space.
    fn remove_others(&self, folder: &Path) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_other =
                |name: &str| is_ours(name) && self.files.iter().all(|own| own.name != name);
            if name.to_str().is_some_and(is_other) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn put_in_place(&self, folder: &Path, partial: &Path) -> Result<(), CheckpointError> {
        let text = serde_json::to_vec_pretty(self).expect("a manifest can be serialised");
        let written = File::create(partial).and_then(|mut file| {
            file.write_all(&text)?;
            file.sync_all()
        });
        written.map_err(CheckpointError::io(partial, "cannot be written"))?;
        let path = folder.join(MANIFEST);
        let renamed = fs::rename(partial, &path);
        renamed.map_err(CheckpointError::io(&path, "cannot replace the manifest"))
    }

    /// Reads the manifest of a folder, and checks its version and file names.
    pub(crate) fn read(folder: &Path) -> Result<Self, CheckpointError> {
        let path = folder.join(MANIFEST);
        let text = fs::read(&path).map_err(CheckpointError::io(&path, "cannot be read"))?;
        let manifest: Self = serde_json::from_slice(&text).map_err(|error| {
            CheckpointError::broken(&path, error.to_string(), "the manifest of a checkpoint")
        })?;
        if manifest.version != VERSION {
            let (found, expected) = (manifest.version, VERSION);
            return Err(CheckpointError::broken(
                &path,
                format!("version {found}"),
                format!("version {expected}"),
            ));
        }
        // Checkpoints write only names without a path. Refuse others, so that no file outside of
        // the folder is read.
        match manifest.files.iter().find(|file| file.name.contains('/')) {
            Some(file) => Err(CheckpointError::broken(
                &path,
                format!("a file called {:?}", file.name),
                "names of files in its folder",
            )),
            None => Ok(manifest),
        }
    }
}

/// A file of elements that is being written; it is removed on drop unless it was
/// [finished](Self::finish).
pub(crate) struct Elements<'a> {
    folder: &'a Path,
    part: PartFile,
    file: BufWriter<File>,
    is_finished: bool,
}

impl<'a> Elements<'a> {
    pub(crate) fn create(folder: &'a Path, name: String) -> Result<Self, CheckpointError> {
        fs::create_dir_all(folder).map_err(CheckpointError::io(folder, "cannot be created"))?;
        let path = folder.join(&name);
        let file = File::create(&path).map_err(CheckpointError::io(&path, "cannot be created"))?;
        let part = PartFile {
            name,
            elements: 0,
            bytes: 0,
            crc32c: 0,
        };
        let file = BufWriter::with_capacity(BUFFER_BYTES, file);
        Ok(Self {
            folder,
            part,
            file,
            is_finished: false,
        })
    }

    pub(crate) fn put(&mut self, position: u64, element: &[u8]) -> Result<(), CheckpointError> {
        self.part.elements += 1;
        let length = element.len() as u64;
        for bytes in [&position.to_le_bytes(), &length.to_le_bytes(), element] {
            self.part.bytes += bytes.len() as u64;
            self.part.crc32c = crc32c::crc32c_append(self.part.crc32c, bytes);
            let written = self.file.write_all(bytes);
            written.map_err(|error| self.failed(error))?;
        }
        Ok(())
    }

    /// Writes everything to the disk. Returns the file's entry for the manifest.
    pub(crate) fn finish(mut self) -> Result<PartFile, CheckpointError> {
        let written = self
            .file
            .flush()
            .and_then(|()| self.file.get_ref().sync_all());
        written.map_err(|error| self.failed(error))?;
        self.is_finished = true;
        Ok(std::mem::take(&mut self.part))
    }

    fn failed(&self, error: io::Error) -> CheckpointError {
        let path = self.folder.join(&self.part.name);
        CheckpointError::io(&path, "cannot be written")(error)
    }
}

impl Drop for Elements<'_> {
    fn drop(&mut self) {
        if !self.is_finished {
            // A partial file is useless, and removing it helps if the disk is full.
            self.part.remove(self.folder);
        }
    }
}

impl PartFile {
    /// Removes the file of an incomplete checkpoint.
    pub(crate) fn remove(&self, folder: &Path) {
        // Ignored: a file that cannot be removed only takes space.
        let _ = fs::remove_file(folder.join(&self.name));
    }

    /// Calls `each` with the position and the data of every element, then verifies the checksum.
    pub(crate) fn read(
        &self,
        folder: &Path,
        mut each: impl FnMut(u64, &[u8]) -> Result<(), CheckpointError>,
    ) -> Result<(), CheckpointError> {
        let path = folder.join(&self.name);
        let broken =
            |found: String, expected: &str| CheckpointError::broken(&path, found, expected);
        let file = File::open(&path).map_err(CheckpointError::io(&path, "cannot be read"))?;
        let length = file
            .metadata()
            .map_err(CheckpointError::io(&path, "cannot be read"))?
            .len();
        if length != self.bytes {
            return Err(broken(
                format!("{length} bytes"),
                &format!("{} bytes", self.bytes),
            ));
        }
        let mut file = BufReader::with_capacity(BUFFER_BYTES, file);
        let (mut crc, mut left, mut element) = (0, self.bytes, Vec::new());
        for _ in 0..self.elements {
            // Each element begins with its position and its length.
            let mut head = [0; 16];
            let read = file.read_exact(&mut head);
            read.map_err(CheckpointError::io(&path, "cannot be read"))?;
            crc = crc32c::crc32c_append(crc, &head);
            let number = |at: usize| {
                let bytes = head[at..at + 8].try_into();
                u64::from_le_bytes(bytes.expect("there are eight"))
            };
            let (position, length) = (number(0), number(8));
            left = left.saturating_sub(16);
            // Check the length before allocating memory for the data.
            if length > left {
                return Err(broken(
                    format!("an element of {length} bytes"),
                    &format!("at most {left} bytes, which the file has left"),
                ));
            }
            left -= length;
            element.resize(length as usize, 0);
            let read = file.read_exact(&mut element);
            read.map_err(CheckpointError::io(&path, "cannot be read"))?;
            crc = crc32c::crc32c_append(crc, &element);
            each(position, &element)?;
        }
        if crc != self.crc32c {
            let expected = format!("{:#010x}, as the manifest says", self.crc32c);
            return Err(broken(format!("a checksum of {crc:#010x}"), &expected));
        }
        Ok(())
    }
}
