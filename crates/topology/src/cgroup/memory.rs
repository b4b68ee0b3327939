//! The memory limit: how much memory the control groups leave the process.
//!
//! | | version 2 | version 1 |
//! |---|---|---|
//! | limit | `memory.max` | `memory.limit_in_bytes` |
//! | used | `memory.current` | `memory.usage_in_bytes` |
//! | of that, pages of files that the kernel gives up first | `inactive_file` in `memory.stat` | `total_inactive_file` there |

use std::path::{Path, PathBuf};

use super::{Folder, QuotaError, Version, below, folders, read_if_present};

/// Version 1 writes "no limit" as the largest number of whole pages; no machine has so much memory.
const NO_LIMIT: u64 = 1 << 60;

/// A limit on the memory of a group, and how much of it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    /// The most memory that the processes of the group may use together, in bytes.
    pub limit_bytes: u64,
    /// The memory that they use, in bytes, without pages of files that the kernel gives up first.
    pub used_bytes: u64,
    /// The file that has the limit.
    pub file: PathBuf,
}

impl MemoryLimit {
    /// Returns how much memory is left, in bytes.
    #[must_use]
    pub const fn left_bytes(&self) -> u64 {
        self.limit_bytes.saturating_sub(self.used_bytes)
    }
}

/// The files of a version.
struct Files {
    limit: &'static str,
    used: &'static str,
    /// The key in `memory.stat`.
    inactive: &'static str,
}

impl Files {
    const fn of(version: Version) -> Self {
        match version {
            Version::One => Self {
                limit: "memory.limit_in_bytes",
                used: "memory.usage_in_bytes",
                inactive: "total_inactive_file",
            },
            Version::Two => Self {
                limit: "memory.max",
                used: "memory.current",
                inactive: "inactive_file",
            },
        }
    }
}

/// Finds the memory limit of this process that leaves it least, if there is one.
///
/// `root` is where `/proc` and the mount points are looked for: `/`, or a made-up tree in a test. A
/// file that does not exist sets no limit. Cost: some ten small files are read.
///
/// # Errors
/// [`QuotaError`] when a file that exists cannot be read or holds something else than a number of
/// bytes.
pub fn memory_limit(root: &Path) -> Result<Option<MemoryLimit>, QuotaError> {
    let mut tightest: Option<MemoryLimit> = None;
    for Folder { version, path } in folders(root, "memory")? {
        let Some(limit) = read_limit(root, &path, &Files::of(version))? else {
            continue;
        };
        if tightest
            .as_ref()
            .is_none_or(|known| limit.left_bytes() < known.left_bytes())
        {
            tightest = Some(limit);
        }
    }
    Ok(tightest)
}

fn read_limit(
    root: &Path,
    folder: &Path,
    files: &Files,
) -> Result<Option<MemoryLimit>, QuotaError> {
    let file = folder.join(files.limit);
    let (Some(limit_bytes), Some(used_bytes)) = (
        read_bytes(root, &file)?.filter(|&bytes| bytes < NO_LIMIT),
        read_bytes(root, &folder.join(files.used))?,
    ) else {
        return Ok(None);
    };
    let inactive_bytes = read_if_present(&below(root, &folder.join("memory.stat")))?
        .and_then(|text| {
            let mut lines = text.lines().filter_map(|line| line.split_once(' '));
            let (_, number) = lines.find(|(key, _)| *key == files.inactive)?;
            number.trim().parse::<u64>().ok()
        })
        .unwrap_or(0);
    Ok(Some(MemoryLimit {
        limit_bytes,
        used_bytes: used_bytes.saturating_sub(inactive_bytes),
        file,
    }))
}

/// Reads a number of bytes; `None` for no limit and for no file.
fn read_bytes(root: &Path, file: &Path) -> Result<Option<u64>, QuotaError> {
    let Some(text) = read_if_present(&below(root, file))? else {
        return Ok(None);
    };
    match text.trim() {
        // Version 1 takes -1 for no limit; some kernels show it so.
        "max" | "-1" => Ok(None),
        text => text.parse().map(Some).map_err(|_| QuotaError::Content {
            path: file.to_path_buf(),
            found: text.to_owned(),
            expected: "\"max\" or a number of bytes",
        }),
    }
}
