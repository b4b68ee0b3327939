//! The CPU time and memory that the control groups of this process allow.
//!
//! A container often sees every CPU and all memory of its host, but may use only a part of them:
//! its quota and its limit.
//!
//! A process is in one group of the hierarchy of version 2, and in one group of each hierarchy that
//! is still mounted as version 1. Both versions may be in use at once. The limits of a group and of
//! all groups above it apply together, so the tightest limit counts. The folder of a group follows
//! from two files: `/proc/self/cgroup` has the path of the group in its hierarchy, and
//! `/proc/self/mountinfo` has the place where each part of the hierarchy is mounted.
//!
//! | file | contents |
//! |---|---|
//! | this one | finds the folders of the process's groups |
//! | `cpu` | the CPU quota |
//! | `memory` | the memory limit, and the memory in use |
//!
//! # Source
//! Linux kernel documentation: Control Group v2; CFS Bandwidth Control; Memory Resource Controller;
//! `cgroups(7)`; `proc_pid_mountinfo(5)`.

mod cpu;
mod memory;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Component, Path, PathBuf};

use thiserror::Error;

use crate::small_files::read_to_end;

pub use self::cpu::{CpuQuota, cpu_quota};
pub use self::memory::{MemoryLimit, memory_limit};

/// The error of a control group file that could not be read or parsed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum QuotaError {
    /// A file that exists could not be read.
    #[error("{}: {cause}", .path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The operating system's reason.
        cause: io::Error,
    },
    /// A file does not contain a limit.
    #[error("{}: found {found:?}, expected {expected}", .path.display())]
    Content {
        /// The path of the file.
        path: PathBuf,
        /// The content of the file.
        found: String,
        /// A description of valid content.
        expected: &'static str,
    },
}

/// The folder of a group that limits the process.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Folder {
    version: Version,
    /// The absolute path, as the process sees it.
    path: PathBuf,
}

/// Lists the folders of the groups that apply limits of `controller` to this process.
///
/// The folders of each hierarchy are in order from the innermost group to the outermost. `root` is
/// the folder that contains `/proc` and the mount points: `/`, or a synthetic tree in a test.
fn folders(root: &Path, controller: &str) -> Result<Vec<Folder>, QuotaError> {
    let (Some(groups), Some(mounts)) = (
        read_if_present(&root.join("proc/self/cgroup"))?,
        read_if_present(&root.join("proc/self/mountinfo"))?,
    ) else {
        return Ok(Vec::new());
    };
    let mut folders = Vec::new();
    for group in groups
        .lines()
        .filter_map(|line| Group::parse(line, controller))
    {
        let Some(mount) = group.find_mount(&mounts, controller) else {
            continue;
        };
        let version = group.version;
        let upwards = mount.folders_upwards(&group.path).into_iter();
        folders.extend(upwards.map(|path| Folder { version, path }));
    }
    Ok(folders)
}

/// A version of the control group interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// A line of `/proc/self/cgroup` that applies to a controller: `0::/path` or `4:cpu,cpuacct:/path`.
#[derive(Debug, PartialEq, Eq)]
struct Group {
    version: Version,
    path: PathBuf,
}

impl Group {
    fn parse(line: &str, controller: &str) -> Option<Self> {
        let mut fields = line.splitn(3, ':');
        let (hierarchy, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let version = if hierarchy == "0" && controllers.is_empty() {
            Version::Two
        } else if controllers.split(',').any(|name| name == controller) {
            Version::One
        } else {
            return None;
        };
        Some(Self {
            version,
            path: PathBuf::from(path),
        })
    }

    /// Returns the mount of the group's hierarchy.
    ///
    /// If several mounts contain the group, returns the last one, because a later mount hides an
    /// earlier one. If none does, which happens inside a container, returns the last mount of the
    /// hierarchy.
    fn find_mount(&self, mounts: &str, controller: &str) -> Option<Mount> {
        let parsed = || {
            let lines = mounts.lines().rev();
            lines.filter_map(|line| Mount::parse(line, self.version, controller))
        };
        parsed()
            .find(|mount| self.path.starts_with(&mount.hierarchy_root))
            .or_else(|| parsed().next())
    }
}

/// A line of `/proc/self/mountinfo`: the place where a part of a hierarchy is mounted.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    /// The path of the group that is visible at the mount point.
    hierarchy_root: PathBuf,
    mount_point: PathBuf,
}

impl Mount {
    fn parse(line: &str, version: Version, controller: &str) -> Option<Self> {
        let (before, after) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(3);
        let (hierarchy_root, mount_point) = (before.next()?, before.next()?);
        let mut after = after.split(' ');
        let (kind, _source, options) = (after.next()?, after.next()?, after.next()?);
        let fits = match version {
            Version::Two => kind == "cgroup2",
            Version::One => {
                kind == "cgroup" && options.split(',').any(|option| option == controller)
            }
        };
        fits.then(|| Self {
            hierarchy_root: PathBuf::from(unescape(hierarchy_root)),
            mount_point: PathBuf::from(unescape(mount_point)),
        })
    }

    /// Lists the folder of the group and the folders above it, up to the mount point.
    ///
    /// Returns only the mount point if the group is outside the mounted part, which happens inside
    /// a container.
    fn folders_upwards(&self, group: &Path) -> Vec<PathBuf> {
        let below = group
            .strip_prefix(&self.hierarchy_root)
            .unwrap_or(Path::new(""));
        let names: Vec<_> = below.components().collect();
        let inside = names
            .iter()
            .all(|name| matches!(name, Component::Normal(_)));
        let name_count = if inside { names.len() } else { 0 };
        (0..=name_count)
            .rev()
            .map(|kept| {
                let mut folder = self.mount_point.clone();
                folder.extend(&names[..kept]);
                folder
            })
            .collect()
    }
}

/// Returns an absolute path relocated below `root`.
fn below(root: &Path, absolute: &Path) -> PathBuf {
    root.join(absolute.strip_prefix("/").unwrap_or(absolute))
}

/// Reads a file as text. Returns `None` if the file does not exist.
fn read_if_present(path: &Path) -> Result<Option<String>, QuotaError> {
    match read_to_end(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(cause)
            if matches!(
                cause.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(None)
        }
        Err(cause) => Err(QuotaError::Read {
            path: path.to_path_buf(),
            cause,
        }),
    }
}

/// Decodes the octal escapes in a path from the kernel, such as `\040` for a blank.
fn unescape(text: &str) -> String {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = (byte == b'\\')
            .then(|| after.get(..3))
            .flatten()
            .and_then(octal);
        if let Some(code) = code {
            plain.push(code);
            rest = &after[3..];
        } else {
            plain.push(byte);
            rest = after;
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

/// Parses the three digits of an octal escape.
fn octal(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
}
