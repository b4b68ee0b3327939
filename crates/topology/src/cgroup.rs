//! What the control groups of this process leave it: CPU time and memory.
//!
//! A container often sees every CPU and all the memory of its host, and may use a part of them
//! only: its quota and its limit.
//!
//! A process is in one group of each hierarchy: of version 2 and, where a controller is still
//! mounted as version 1, of that. Both may exist at once. A group's own limit and those of all
//! groups above it hold at once, so the tightest counts. Where a group lies in the file system
//! follows from `/proc/self/cgroup` (its path in the hierarchy) and `/proc/self/mountinfo` (which
//! part of the hierarchy is mounted where).
//!
//! | file | what it reads |
//! |---|---|
//! | this one | where the folders of the process's groups are |
//! | `cpu` | the CPU quota |
//! | `memory` | the memory limit, and how much of it is used |
//!
//! # Source
//! Linux kernel documentation: Control Group v2; CFS Bandwidth Control; Memory Resource Controller;
//! `cgroups(7)`; `proc_pid_mountinfo(5)`.

mod cpu;
mod memory;
#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use thiserror::Error;

pub use self::cpu::{CpuQuota, cpu_quota};
pub use self::memory::{MemoryLimit, memory_limit};

/// A file of a control group could not be read or understood.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum QuotaError {
    /// A file that exists could not be read.
    #[error("{}: {cause}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        cause: io::Error,
    },
    /// A file holds something else than a limit.
    #[error("{}: found {found:?}, expected {expected}", .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What it holds.
        found: String,
        /// What it could have held.
        expected: &'static str,
    },
}

/// A folder of a group that limits the process.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Folder {
    version: Version,
    /// As the process sees it, from its root.
    path: PathBuf,
}

/// Lists the folders of the groups that limit what `controller` counts, those of each hierarchy
/// from the inside out.
///
/// `root` is where `/proc` and the mount points are looked for: `/`, or a made-up tree in a test.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// A line of `/proc/self/cgroup` that has a controller: `0::/path` or `4:cpu,cpuacct:/path`.
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

    /// Finds where the hierarchy is mounted.
    ///
    /// Of several mounts it is the last that shows the group, since it hides those before it; where
    /// none does, as seen from within a container, it is the last.
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

/// A line of `/proc/self/mountinfo`: which part of a hierarchy can be seen where.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    /// The group whose folder is the mount point.
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

    /// Lists the group's folder and those above it, down to the mount point.
    ///
    /// A group outside of what is mounted, as seen from within a container, leaves only the mount point.
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

/// Places an absolute path under `root`.
fn below(root: &Path, absolute: &Path) -> PathBuf {
    root.join(absolute.strip_prefix("/").unwrap_or(absolute))
}

fn read_if_present(path: &Path) -> Result<Option<String>, QuotaError> {
    match fs::read(path) {
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

/// Undoes the octal escapes (`\040` is a blank) with which the kernel writes a path.
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

fn octal(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
}
