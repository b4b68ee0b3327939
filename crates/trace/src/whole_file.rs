//! Files that appear completely or not at all.
//!
//! The content is written to a part file beside the target, `.NAME.PROCESS.part`. At the end, when
//! its bytes are on the disk, the part file is renamed to the target. So no reader ever sees half a
//! file, even if the disk is full, the program is killed, or the machine loses power.
//!
//! - An existing target keeps its owner, its group and its permissions.
//! - If the target cannot be replaced by another file, the content is copied into it at the end
//!   instead. This happens if the process may not give a file to the owner of the target, if the
//!   folder accepts no new file (the part file is then in the system's folder for temporary files),
//!   and if something is mounted on the target, as containers do with single files.
//! - A link stays a link. The target of the link is written, even if it does not exist yet.
//! - A target that is not a regular file (a pipe, a device) is written directly. A pipe is opened
//!   only to be written, because its reader treats the first close as the end of the data.
//! - When a target is written, the part files of processes that no longer exist are removed. A part
//!   file is locked (`flock`) while it is written, so that processes that cannot see each other's
//!   ids do not remove each other's part files.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Seek, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::{env, process};

/// The maximum number of links to follow; the same as that of the system.
const LINKS_MAX: usize = 40;
/// The maximum number of part files that one process may have for one target at the same time.
const PARTS_MAX: usize = 64;
/// The maximum number of bytes of the target's name in the name of a part file. The complete name
/// then fits where names are shortest (143 bytes).
const NAME_MAX: usize = 100;
/// The permission bits of a file mode.
const PERMISSIONS: u32 = 0o7777;

/// A file that is being written. It appears once it is [finished](Self::finish).
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

/// The part file, beside the target unless `is_copied`.
#[derive(Debug)]
struct Part {
    path: PathBuf,
    /// True if the target cannot be replaced, so that the content is copied into it.
    is_copied: bool,
}

impl WholeFile {
    /// Starts to write the file at `path`.
    ///
    /// # Errors
    /// If the path is a directory, or in a directory that does not exist; if this process may not
    /// write the file; any other error of the system.
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
            // Replacing a file needs no permission to write it, but its owner would expect so.
            File::options().append(true).open(&target)?;
        }
        remove_abandoned(&target);
        // The part file is created beside the target. If the folder accepts no new file and the
        // target exists, the part file is created elsewhere, and copied into the target at the end.
        let beside = create_beside(&target, there.is_some());
        let takes_none = beside.as_ref().is_err_and(refuses_new_files);
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
        // From here on, dropping `whole` removes the part file if something fails.
        if let Some(there) = there
            && !takes_none
        {
            whole.copy_ownership(&there)?;
        }
        Ok(whole)
    }

    /// Gives the part file the owner, group and permissions of the target.
    fn copy_ownership(&mut self, there: &fs::Metadata) -> io::Result<()> {
        let own = self.file.metadata()?;
        let is_same = (own.uid(), own.gid()) == (there.uid(), there.gid());
        if !is_same && fchown(&self.file, Some(there.uid()), Some(there.gid())).is_err() {
            self.part.iter_mut().for_each(|part| part.is_copied = true);
            return Ok(());
        }
        // After the owner, because a change of the owner clears some permissions.
        let mode = there.mode() & PERMISSIONS;
        self.file.set_permissions(Permissions::from_mode(mode))
    }

    /// Writes the bytes to the disk, and gives the file its name.
    ///
    /// # Errors
    /// Any error of the system; the target is unchanged then, unless its content was being copied.
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
        // The target cannot be replaced, so its content is.
        let mut target = File::options()
            .write(true)
            .truncate(true)
            .open(&self.target)?;
        self.file.rewind()?;
        io::copy(&mut self.file, &mut target)?;
        // Dropping `self` removes the part file.
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
            // The failure that led here is the one to report.
            let _ = fs::remove_file(&part.path);
        }
    }
}

/// Writes a file with the given content.
///
/// # Errors
/// Those of [`WholeFile::create`] and [`WholeFile::finish`].
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = WholeFile::create(path)?;
    file.write_all(content)?;
    file.finish()
}

/// Checks whether a file could be written at `path`, as far as possible without writing its
/// content. Changes nothing.
///
/// # Errors
/// Those of [`WholeFile::create`].
pub fn check(path: &Path) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|there| there.file_type().is_fifo()) {
        return Ok(());
    }
    WholeFile::create(path).map(drop)
}

/// Returns the file that `path` leads to, and its metadata if it exists. Returns no file if the
/// bytes are to be written directly.
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
    // Links in `/proc` may lead to files that have no name any more, or a name that now belongs to
    // another file.
    let is_same = there.as_ref().is_none_or(|there| {
        let found = fs::symlink_metadata(&target);
        found.is_ok_and(|found| (found.dev(), found.ino()) == (there.dev(), there.ino()))
    });
    Ok((is_same.then_some(target), there))
}

/// Creates a part file beside `target`, and locks it. With `is_private`, only this user may access
/// it at first; its permissions are set later.
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
                // If the file system has no locks, other processes rely on the process id alone.
                let _ = file.try_lock();
                return Ok((file, path));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => taken = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(taken.unwrap_or_else(|| io::ErrorKind::AlreadyExists.into()))
}

/// Returns true if the error means that a folder accepts no new file.
fn refuses_new_files(error: &io::Error) -> bool {
    use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem)
}

/// Creates a part file in the system's folder for temporary files, as if the target were there.
fn create_elsewhere(target: &Path) -> io::Result<(File, PathBuf)> {
    let target = env::temp_dir().join(target.file_name().unwrap_or_default());
    remove_abandoned(&target);
    create_beside(&target, true)
}

/// Returns the name of part file `number` of this process for `target`.
fn beside(target: &Path, number: usize) -> PathBuf {
    let mut name = prefix(target);
    name.push_str(&process::id().to_string());
    if number > 0 {
        name.push_str(&format!(".{number}"));
    }
    name.push_str(SUFFIX);
    target.with_file_name(name)
}

/// Returns the prefix of the names of part files for `target`. It contains only the start of the
/// target's name, because a part file's name must not be too long.
fn prefix(target: &Path) -> String {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let name = &name[..name.floor_char_boundary(NAME_MAX)];
    format!(".{name}.")
}

/// The suffix of the names of part files.
const SUFFIX: &str = ".part";

/// Removes the part files of `target` that belong to processes that no longer exist, or to an
/// earlier process with the same id. Ignores failures, because a remaining file only takes space.
fn remove_abandoned(target: &Path) {
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
        if process.is_some_and(|process| is_abandoned(&entry.path(), process)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Returns true if no process writes the part file any more.
fn is_abandoned(part: &Path, process: u32) -> bool {
    let is_file = fs::symlink_metadata(part).is_ok_and(|part| part.is_file());
    let is_known = Path::new("/proc/self").exists();
    let is_there = process != process::id() && Path::new(&format!("/proc/{process}")).exists();
    // A part file that is being written by this process, or by a process that is not visible here,
    // is locked.
    is_file && is_known && !is_there && File::open(part).is_ok_and(|part| part.try_lock().is_ok())
}

#[cfg(test)]
mod tests;
