//! Files that appear whole or not at all.
//!
//! Content is written to a file beside the target, `.NAME.PROCESS.part`, which takes the target's
//! name at the end, when its bytes are on the disk. So no reader ever sees half a file, also when
//! the disk is full, the program is killed, or the machine loses its power.
//!
//! - A file that is there keeps its owner, its group and its permissions.
//! - If another file cannot take its place, the content is copied into it at the end instead. That
//!   is so where this process may not give a file to that owner, where the folder takes no new file
//!   (the content then waits in the system's folder for temporary files), and where something is
//!   mounted on the file, as containers do with single files.
//! - A link stays a link: what it leads to is written, be it there or not.
//! - What is no regular file (a pipe, a device) is written directly. A pipe is opened only to be
//!   written: its reader takes the first end for the end of all.
//! - Files that processes have left which are no more are removed when the same target is written
//!   again. A file that is being written is locked (`flock`), so that processes which cannot see
//!   each other's numbers leave each other's alone.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Seek, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::{env, process};

/// Links that are followed, as many as the system follows.
const LINKS_MAX: usize = 40;
/// Files beside one target that one process may have at the same time.
const PARTS_MAX: usize = 64;
/// Bytes of the target's name in the names of files beside it: with the rest they fit where names
/// are shortest (143 bytes).
const NAME_MAX: usize = 100;
/// The permissions that a file has, of all that is said of it.
const PERMISSIONS: u32 = 0o7777;

/// A file that is being written; it is there once it is [finished](Self::finish).
///
/// # Examples
/// ```
/// use raddle_trace::whole_file::WholeFile;
/// use std::io::Write;
///
/// let path = std::env::temp_dir().join(format!("raddle-whole-{}", std::process::id()));
/// let mut file = WholeFile::create(&path)?;
/// file.write_all(b"all of it")?;
/// assert!(!path.exists());
/// file.finish()?;
/// assert_eq!(std::fs::read(&path)?, b"all of it");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct WholeFile {
    file: File,
    target: PathBuf,
    part: Option<Part>,
}

/// The file beside the target.
#[derive(Debug)]
struct Part {
    path: PathBuf,
    /// No other file can take the target's place: it gets the content.
    is_copied: bool,
}

impl WholeFile {
    /// Begins a file at `path`.
    ///
    /// # Errors
    /// A path that is a directory, or lies in none; a file that this process may not write;
    /// whatever else the system says.
    pub fn create(path: &Path) -> io::Result<Self> {
        let (target, there) = target_of(path)?;
        let Some(target) = target else {
            return Ok(Self {
                file: File::options().write(true).open(path)?,
                target: path.to_owned(),
                part: None,
            });
        };
        if there.is_some() {
            // Replacing a file takes no leave to write to it, but its owner would expect so.
            File::options().append(true).open(&target)?;
        }
        remove_left(&target);
        let beside = create_beside(&target, there.is_some());
        let takes_none = beside.as_ref().is_err_and(takes_no_file);
        let (file, path) = match beside {
            Err(_) if takes_none && there.is_some() => create_elsewhere(&target)?,
            beside => beside?,
        };
        let mut whole = Self {
            file,
            target,
            part: Some(Part {
                path,
                is_copied: takes_none,
            }),
        };
        // From here on it is removed if something fails.
        if let Some(there) = there
            && !takes_none
        {
            whole.resemble(&there)?;
        }
        Ok(whole)
    }

    /// Gives the file beside the target its owner, group and permissions.
    fn resemble(&mut self, there: &fs::Metadata) -> io::Result<()> {
        let own = self.file.metadata()?;
        let is_its = (own.uid(), own.gid()) == (there.uid(), there.gid());
        if !is_its && fchown(&self.file, Some(there.uid()), Some(there.gid())).is_err() {
            self.part.iter_mut().for_each(|part| part.is_copied = true);
            return Ok(());
        }
        // After the owner, whose change takes some of them away.
        let mode = there.mode() & PERMISSIONS;
        self.file.set_permissions(Permissions::from_mode(mode))
    }

    /// Gives the file its name, with its bytes on the disk.
    ///
    /// # Errors
    /// What the system says; then the target is as it was.
    pub fn finish(mut self) -> io::Result<()> {
        self.file.flush()?;
        let Some(part) = &self.part else {
            return Ok(());
        };
        self.file.sync_all()?;
        if !part.is_copied {
            match fs::rename(&part.path, &self.target) {
                // Something is mounted on the target.
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {}
                renamed => {
                    renamed?;
                    self.part = None;
                    return Ok(());
                }
            }
        }
        let mut target = File::options()
            .write(true)
            .truncate(true)
            .open(&self.target)?;
        self.file.rewind()?;
        io::copy(&mut self.file, &mut target)?;
        // The file beside is removed when this is dropped.
        target.sync_all()
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if let Some(part) = &self.part {
            // The failure that led here is the one to tell.
            let _ = fs::remove_file(&part.path);
        }
    }
}

/// Writes a file with this content.
///
/// # Errors
/// As [`WholeFile::create`] and [`WholeFile::finish`].
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = WholeFile::create(path)?;
    file.write_all(content)?;
    file.finish()
}

/// Finds out whether a file could be written at `path`, as far as can be told without content.
/// Leaves nothing behind, and what is there as it is.
///
/// # Errors
/// As [`WholeFile::create`].
pub fn check(path: &Path) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|there| there.file_type().is_fifo()) {
        return Ok(());
    }
    WholeFile::create(path).map(drop)
}

/// The file that `path` leads to, and what is there; no file where bytes are written directly.
fn target_of(path: &Path) -> io::Result<(Option<PathBuf>, Option<fs::Metadata>)> {
    let there = match fs::metadata(path) {
        Ok(there) if there.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(there) if !there.is_file() => return Ok((None, None)),
        Ok(there) => Some(there),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let mut target = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(next) = fs::read_link(&target) else {
            break;
        };
        target = target.parent().unwrap_or(Path::new("")).join(next);
    }
    // Links in `/proc` lead to files that may have no name any more, or another's.
    let is_it = there.as_ref().is_none_or(|there| {
        let found = fs::symlink_metadata(&target);
        found.is_ok_and(|found| (found.dev(), found.ino()) == (there.dev(), there.ino()))
    });
    Ok((is_it.then_some(target), there))
}

/// Makes a new file beside `target`, locked; one that is to become like another is this user's
/// alone at first.
fn create_beside(target: &Path, is_private: bool) -> io::Result<(File, PathBuf)> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    if is_private {
        options.mode(0o600);
    }
    let mut taken = None;
    for number in 0..PARTS_MAX {
        let path = beside(target, number);
        match options.open(&path) {
            Ok(file) => {
                // Where the system has no locks there, others go by the number of this process.
                let _ = file.try_lock();
                return Ok((file, path));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => taken = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(taken.unwrap_or_else(|| io::ErrorKind::AlreadyExists.into()))
}

/// True of what the system says where a folder takes no new file.
fn takes_no_file(error: &io::Error) -> bool {
    use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem)
}

/// Makes a new file in the system's folder for temporary files, as one beside a target there of
/// this name.
fn create_elsewhere(target: &Path) -> io::Result<(File, PathBuf)> {
    let target = env::temp_dir().join(target.file_name().unwrap_or_default());
    remove_left(&target);
    create_beside(&target, true)
}

/// The name of a file beside `target`, of those that this process may have at the same time.
fn beside(target: &Path, number: usize) -> PathBuf {
    let mut name = prefix(target);
    name.push_str(&process::id().to_string());
    if number > 0 {
        name.push_str(&format!(".{number}"));
    }
    name.push_str(SUFFIX);
    target.with_file_name(name)
}

/// What the names of files beside `target` begin with: the beginning of its own, since they may be
/// no longer than that.
fn prefix(target: &Path) -> String {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let name = &name[..name.floor_char_boundary(NAME_MAX)];
    format!(".{name}.")
}

/// What they end with.
const SUFFIX: &str = ".part";

/// Removes the files beside `target` that processes have left which are no more, or an earlier one
/// of this number. What stays only takes room.
fn remove_left(target: &Path) {
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let prefix = prefix(target);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let middle = name
            .to_str()
            .and_then(|name| name.strip_prefix(&*prefix)?.strip_suffix(SUFFIX));
        let process = middle.and_then(|middle| middle.split('.').next()?.parse::<u32>().ok());
        if process.is_some_and(|process| is_left(&entry.path(), process)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// True of a file that no process writes any more.
fn is_left(part: &Path, process: u32) -> bool {
    let is_file = fs::symlink_metadata(part).is_ok_and(|part| part.is_file());
    let is_known = Path::new("/proc/self").exists();
    let is_there = process != process::id() && Path::new(&format!("/proc/{process}")).exists();
    // One of this process that is being written is locked, as are those of processes that are not
    // seen from here.
    is_file && is_known && !is_there && File::open(part).is_ok_and(|part| part.try_lock().is_ok())
}

#[cfg(test)]
mod tests;
