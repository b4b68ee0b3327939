//! The CPU quota: the CPU time that the control groups allow the process.
//!
//! One worker per CPU of the quota is enough to use it up. The kernel would only throttle
//! additional workers. Version 2 stores the quota in `cpu.max`, version 1 in `cpu.cfs_quota_us`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use super::{Folder, QuotaError, Version, below, folders, read_if_present};

/// An upper bound on the CPU time that all threads together may use in every period.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CpuQuota {
    /// The CPU time that may be used in a period, in microseconds.
    pub quota_us: u64,
    /// The length of a period, in microseconds; never 0.
    pub period_us: u64,
    /// The file that contains the quota.
    #[serde(serialize_with = "crate::path_text::serialize")]
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

    /// Returns the number of workers that can use up the quota: its CPUs rounded up, at least 1.
    #[must_use]
    pub fn worker_count_max(&self) -> usize {
        usize::try_from(self.quota_us.div_ceil(self.period_us))
            .unwrap_or(usize::MAX)
            .max(1)
    }

    /// Returns the CPU time that may be used in a period.
    #[must_use]
    pub const fn quota(&self) -> Duration {
        Duration::from_micros(self.quota_us)
    }

    /// Returns true if `self` allows fewer CPUs than `other`.
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

/// Returns the tightest CPU quota of this process, if it has one.
///
/// `root` is the folder that contains `/proc` and the mount points: `/`, or a synthetic tree in a
/// test. A file that does not exist sets no limit. Cost: reads about ten small files.
///
/// # Errors
/// [`QuotaError`] if an existing file cannot be read or does not contain a limit.
pub fn cpu_quota(root: &Path) -> Result<Option<CpuQuota>, QuotaError> {
    let mut tightest: Option<CpuQuota> = None;
    for Folder { version, path } in folders(root, "cpu")? {
        let quota = match version {
            Version::One => read_quota_v1(root, &path)?,
            Version::Two => read_quota_v2(root, &path)?,
        };
        let Some(quota) = quota else {
            continue;
        };
        if tightest
            .as_ref()
            .is_none_or(|known| quota.is_tighter_than(known))
        {
            tightest = Some(quota);
        }
    }
    Ok(tightest)
}

/// Reads `cpu.max`: `max 100000` for no limit, or `150000 100000` for one and a half CPUs.
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

/// Reads `cpu.cfs_quota_us` and `cpu.cfs_period_us`. A negative quota means no limit.
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

/// Reads a number of microseconds. Returns `None` if the file does not exist.
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
