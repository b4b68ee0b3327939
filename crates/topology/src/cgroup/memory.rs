//! The memory limit: the memory that the control groups allow the process.
//!
//! | | version 2 | version 1 |
//! |---|---|---|
//! | limit | `memory.max` | `memory.limit_in_bytes` |
//! | used | `memory.current` | `memory.usage_in_bytes` |
//! | reclaimable part of it | `inactive_file` | `total_inactive_file` |
//!
//! The last row contains keys of the file `memory.stat`. They count file pages that the kernel
//! reclaims first when memory is short.

use std::path::{Path, PathBuf};

use super::{Folder, QuotaError, Version, below, folders, read_if_present};

/// A limit of at least this many bytes means "no limit".
///
/// Version 1 writes it as the largest number of whole pages. No machine has this much memory.
const NO_LIMIT: u64 = 1 << 60;

/// A limit on the memory of a group, and the memory that the group uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    /// The maximum memory of all processes of the group together, in bytes.
    pub limit_bytes: u64,
    /// The memory that they use, in bytes, without file pages that the kernel reclaims first.
    pub used_bytes: u64,
    /// The file that contains the limit.
    pub file: PathBuf,
}

impl MemoryLimit {
    /// Returns the remaining memory in bytes.
    #[must_use]
    pub const fn left_bytes(&self) -> u64 {
        self.limit_bytes.saturating_sub(self.used_bytes)
    }
}

/// The names of the files of one version.
struct Files {
    limit: &'static str,
    used: &'static str,
    /// The key of the reclaimable file pages in `memory.stat`.
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

/// Returns the memory limit of this process with the least remaining memory, if it has a limit.
///
/// `root` is the folder that contains `/proc` and the mount points: `/`, or a synthetic tree in a
/// test. A file that does not exist sets no limit. Cost: reads about ten small files.
///
/// # Errors
/// [`QuotaError`] if an existing file cannot be read or does not contain a number of bytes.
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

/// Reads the limit of the group in `folder`, and the memory that the group uses.
///
/// Returns `None` if the group has no limit, or if one of the two files does not exist.
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

/// Reads a number of bytes. Returns `None` for "no limit", and if the file does not exist.
fn read_bytes(root: &Path, file: &Path) -> Result<Option<u64>, QuotaError> {
    let Some(text) = read_if_present(&below(root, file))? else {
        return Ok(None);
    };
    match text.trim() {
        // In version 1, -1 sets no limit, and some kernels also report it that way.
        "max" | "-1" => Ok(None),
        text => text.parse().map(Some).map_err(|_| QuotaError::Content {
            path: file.to_path_buf(),
            found: text.to_owned(),
            expected: "\"max\" or a number of bytes",
        }),
    }
}
