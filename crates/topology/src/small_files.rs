//! Reads the small files of `/proc` and `/sys` with as few system calls as possible.
//!
//! A program reads a hundred of them before its first worker starts. Finding a file by its whole
//! path takes longer than reading it, so the folders are opened once.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Dir, Mode, OFlags, open, openat};

/// The number of bytes that the kernel returns at once at most.
const PAGE: usize = 4096;

/// A folder of small files.
#[derive(Debug)]
pub(crate) struct Folder(OwnedFd);

impl Folder {
    /// Opens a folder.
    ///
    /// # Errors
    /// The reason of the system: for example, the folder does not exist.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let folder = open(path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self(folder))
    }

    /// Opens the folder `name` inside this one.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub(crate) fn inside(&self, name: &str) -> io::Result<Self> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(openat(&self.0, name, flags, Mode::empty())?))
    }

    /// Returns the numbers of the files and folders with the names `name0`, `name1` and so on, in
    /// ascending order.
    pub(crate) fn numbers_after(&self, name: &str) -> Vec<u32> {
        let entries = Dir::read_from(&self.0).into_iter().flatten();
        let mut numbers: Vec<u32> = entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let entry = entry.file_name().to_str().ok()?;
                entry.strip_prefix(name)?.parse().ok()
            })
            .collect();
        numbers.sort_unstable();
        numbers
    }

    /// Reads a file that has one value, which the kernel returns at once. Copies of such files may
    /// pad their last block with zeros. Removes these and surrounding whitespace.
    ///
    /// Returns `None` if the file cannot be read or is not text.
    pub(crate) fn read(&self, name: &str) -> Option<String> {
        let file = openat(&self.0, name, OFlags::CLOEXEC, Mode::empty()).ok()?;
        let mut bytes = [0; PAGE];
        let len = rustix::io::read(&file, &mut bytes).ok()?;
        let mut text = bytes[..len].to_vec();
        if len == PAGE {
            File::from(file).read_to_end(&mut text).ok()?;
        }
        let text = String::from_utf8(text).ok()?;
        let is_padding = |mark: char| mark.is_whitespace() || mark == '\0';
        Some(text.trim_matches(is_padding).to_owned())
    }
}

/// Reads a file of `/proc` or a control group to its end.
///
/// # Errors
/// The reason of the system.
pub(crate) fn read_to_end(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut content = Vec::new();
    let mut bytes = [0; PAGE];
    loop {
        match file.read(&mut bytes) {
            Ok(0) => return Ok(content),
            Ok(len) => content.extend_from_slice(&bytes[..len]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
