//! How much CPU time the control groups of this process leave it.
//!
//! A container often sees every CPU of its host and may use them only for a part of the time: its
//! quota. As many workers as the quota has CPUs keep it busy; more would only be throttled together.
//!
//! A process is in one group of each hierarchy: of version 2 (`cpu.max`) and, where the controller
//! `cpu` is still mounted as version 1, of that (`cpu.cfs_quota_us`). A group's own limit and those of
//! all groups above it hold at once, so the tightest counts. Where a group lies in the file system follows from
//! `/proc/self/cgroup` (its path in the hierarchy) and `/proc/self/mountinfo` (which part of the
//! hierarchy is mounted where).
//!
//! # Source
//! Linux kernel documentation: Control Group v2, section "CPU Interface Files"; CFS Bandwidth
//! Control; `cgroups(7)`; `proc_pid_mountinfo(5)`.

#[cfg(test)]
mod tests;

use std::fmt;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use thiserror::Error;

/// So much CPU time in every period, over all threads together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CpuQuota {
    /// The CPU time that may be used in a period, in microseconds.
    pub quota_us: u64,
    /// The length of a period, in microseconds; never 0.
    pub period_us: u64,
    /// The file that says so.
    #[serde(serialize_with = "crate::format::path_as_text")]
    pub file: PathBuf,
}

impl CpuQuota {
    /// Returns the quota as a number of CPUs, such as 1.5.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "a quota in microseconds is far below 2^52"
    )]
    pub fn cpus(&self) -> f64 {
        self.quota_us as f64 / self.period_us as f64
    }

    /// Returns how many workers can use the quota up: the number of CPUs rounded up, at least 1.
    #[must_use]
    pub fn worker_count_max(&self) -> usize {
        usize::try_from(self.quota_us.div_ceil(self.period_us))
            .unwrap_or(usize::MAX)
            .max(1)
    }

    /// Returns the CPU time per period.
    #[must_use]
    pub const fn quota(&self) -> Duration {
        Duration::from_micros(self.quota_us)
    }

    fn is_tighter_than(&self, other: &Self) -> bool {
        u128::from(self.quota_us) * u128::from(other.period_us)
            < u128::from(other.quota_us) * u128::from(self.period_us)
    }
}

impl fmt::Display for CpuQuota {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{:.2} CPUs ({} of every {} µs, {})",
            self.cpus(),
            self.quota_us,
            self.period_us,
            self.file.display()
        )
    }
}

/// A file about the quota could not be read or understood.
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

/// Finds the tightest CPU quota of this process, if there is one.
///
/// `root` is where `/proc` and the mount points are looked for: `/`, or a made-up tree in a test. A
/// file that does not exist sets no limit. Cost: some ten small files are read.
///
/// # Errors
/// [`QuotaError`] when a file that exists cannot be read or holds something else than a limit.
pub fn cpu_quota(root: &Path) -> Result<Option<CpuQuota>, QuotaError> {
    let (Some(groups), Some(mounts)) = (
        read_if_present(&root.join("proc/self/cgroup"))?,
        read_if_present(&root.join("proc/self/mountinfo"))?,
    ) else {
        return Ok(None);
    };
    let mut tightest: Option<CpuQuota> = None;
    for group in groups.lines().filter_map(Group::parse) {
        let Some(mount) = group.find_mount(&mounts) else {
            continue;
        };
        for folder in mount.folders_upwards(&group.path) {
            let Some(quota) = group.version.read_quota(root, &folder)? else {
                continue;
            };
            if tightest
                .as_ref()
                .is_none_or(|known| quota.is_tighter_than(known))
            {
                tightest = Some(quota);
            }
        }
    }
    Ok(tightest)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl Version {
    fn read_quota(self, root: &Path, folder: &Path) -> Result<Option<CpuQuota>, QuotaError> {
        match self {
            Self::One => read_quota_v1(root, folder),
            Self::Two => read_quota_v2(root, folder),
        }
    }
}

/// A line of `/proc/self/cgroup` that can limit CPU time: `0::/path` or `4:cpu,cpuacct:/path`.
#[derive(Debug, PartialEq, Eq)]
struct Group {
    version: Version,
    path: PathBuf,
}

impl Group {
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.splitn(3, ':');
        let (hierarchy, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let version = if hierarchy == "0" && controllers.is_empty() {
            Version::Two
        } else if controllers.split(',').any(|controller| controller == "cpu") {
            Version::One
        } else {
            return None;
        };
        Some(Self {
            version,
            path: PathBuf::from(path),
        })
    }

    /// Finds where the hierarchy is mounted; the last such mount hides those before it.
    fn find_mount(&self, mounts: &str) -> Option<Mount> {
        mounts
            .lines()
            .rev()
            .find_map(|line| Mount::parse(line, self.version))
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
    fn parse(line: &str, version: Version) -> Option<Self> {
        let (before, after) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(3);
        let (hierarchy_root, mount_point) = (before.next()?, before.next()?);
        let mut after = after.split(' ');
        let (kind, _source, options) = (after.next()?, after.next()?, after.next()?);
        let fits = match version {
            Version::Two => kind == "cgroup2",
            Version::One => kind == "cgroup" && options.split(',').any(|option| option == "cpu"),
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

/// Reads `cpu.max`: `max 100000`, or `150000 100000` for one and a half CPUs.
fn read_quota_v2(root: &Path, folder: &Path) -> Result<Option<CpuQuota>, QuotaError> {
    const EXPECTED: &str = "\"max\" or a number of microseconds, then a period in microseconds";
    let file = folder.join("cpu.max");
    let Some(text) = read_if_present(&below(root, &file))? else {
        return Ok(None);
    };
    let wrong = || QuotaError::Content {
        path: file.clone(),
        found: text.trim().to_owned(),
        expected: EXPECTED,
    };
    let mut words = text.split_whitespace();
    let quota = words.next().ok_or_else(wrong)?;
    let period_us: u64 = match words.next() {
        Some(word) => word.parse().map_err(|_| wrong())?,
        None => 100_000,
    };
    if words.next().is_some() || period_us == 0 {
        return Err(wrong());
    }
    if quota == "max" {
        return Ok(None);
    }
    let quota_us = quota.parse().map_err(|_| wrong())?;
    Ok(Some(CpuQuota {
        quota_us,
        period_us,
        file,
    }))
}

/// Reads `cpu.cfs_quota_us`, where a negative number means no limit, and `cpu.cfs_period_us`.
fn read_quota_v1(root: &Path, folder: &Path) -> Result<Option<CpuQuota>, QuotaError> {
    let file = folder.join("cpu.cfs_quota_us");
    let Some(quota_us) = read_number_v1(root, &file)? else {
        return Ok(None);
    };
    let Ok(quota_us) = u64::try_from(quota_us) else {
        return Ok(None);
    };
    let period_file = folder.join("cpu.cfs_period_us");
    let period_us = read_number_v1(root, &period_file)?.unwrap_or(100_000);
    match u64::try_from(period_us) {
        Ok(period_us) if period_us > 0 => Ok(Some(CpuQuota {
            quota_us,
            period_us,
            file,
        })),
        _ => Err(QuotaError::Content {
            path: period_file,
            found: period_us.to_string(),
            expected: "a positive number of microseconds",
        }),
    }
}

fn read_number_v1(root: &Path, file: &Path) -> Result<Option<i64>, QuotaError> {
    let Some(text) = read_if_present(&below(root, file))? else {
        return Ok(None);
    };
    let text = text.trim();
    let number = text.parse().map_err(|_| QuotaError::Content {
        path: file.to_path_buf(),
        found: text.to_owned(),
        expected: "a number of microseconds, negative for no limit",
    })?;
    Ok(Some(number))
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
