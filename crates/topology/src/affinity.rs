//! The distribution of workers over CPUs, as text: `auto`, `none`, `compact`, `scatter` or a list
//! of CPUs.

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use crate::cpu_set::{CPU_NUMBER_LIMIT, CpuId, CpuSet, number_list};
use crate::error::ParseAffinityError;

/// The maximum number of CPUs in an explicit list, counting repetitions.
const LIST_LEN_MAX: usize = CPU_NUMBER_LIMIT as usize;

/// The rule by which workers are spread over the CPUs that the process may use.
///
/// # Examples
/// ```
/// use raddle_topology::{Affinity, CpuId};
/// assert_eq!("scatter".parse(), Ok(Affinity::Scatter));
/// let list: Affinity = "0,2,4-5".parse()?;
/// assert_eq!(list, Affinity::Explicit([0, 2, 4, 5].map(CpuId).to_vec()));
/// assert_eq!(list.to_string(), "0,2,4-5");
/// assert!("0,two".parse::<Affinity>().is_err());
/// # Ok::<(), raddle_topology::ParseAffinityError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Affinity {
    /// Workers run near each other, one per core; the other hardware threads of the cores are used
    /// last. CPUs to which another Raddle process or runtime has bound workers are left out (see
    /// [`Claims`](crate::Claims)). No two workers share a CPU: if there are too few CPUs, the
    /// remaining workers are not bound. A component that knows what the workers exchange may move
    /// them later.
    #[default]
    Auto,
    /// No worker is bound; the operating system moves the workers freely.
    None,
    /// Workers fill the machine in the order of its tree, all hardware threads of a core first, so
    /// workers with neighbouring numbers share as much as possible. Suits few workers that
    /// communicate a lot.
    Compact,
    /// Each worker runs as far as possible from the previous ones: workers are spread over packages
    /// first, then over NUMA nodes, caches and cores. The second hardware thread of a core is used
    /// only when every core has a worker. Suits workers that need cache and bandwidth of their own.
    Scatter,
    /// Worker 0 runs on the first CPU of the list, and so on. The list may contain a CPU twice.
    Explicit(Vec<CpuId>),
}

impl FromStr for Affinity {
    type Err = ParseAffinityError;

    /// Parses a name in any case, or a list of CPU numbers and ranges in the order of the workers.
    ///
    /// # Errors
    /// [`ParseAffinityError`], which names the wrong part and lists the valid choices.
    fn from_str(text: &str) -> Result<Self, ParseAffinityError> {
        let trimmed = text.trim();
        match trimmed.to_ascii_lowercase().as_str() {
            "auto" => return Ok(Self::Auto),
            "none" => return Ok(Self::None),
            "compact" => return Ok(Self::Compact),
            "scatter" => return Ok(Self::Scatter),
            _ => {}
        }
        let mut cpus = Vec::new();
        for part in trimmed.split(',') {
            let (first, last) = parse_range(part.trim()).ok_or_else(|| wrong(text, part))?;
            if cpus.len() + (last - first) as usize >= LIST_LEN_MAX {
                return Err(ParseAffinityError {
                    found: format!("more than {LIST_LEN_MAX} CPUs in {text:?}"),
                });
            }
            cpus.extend((first..=last).map(CpuId));
        }
        Ok(Self::Explicit(cpus))
    }
}

impl fmt::Display for Affinity {
    /// Writes text that parses to the same affinity. An empty list is written as nothing, which
    /// does not parse.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => formatter.pad("auto"),
            Self::None => formatter.pad("none"),
            Self::Compact => formatter.pad("compact"),
            Self::Scatter => formatter.pad("scatter"),
            Self::Explicit(cpus) => formatter.pad(&number_list(cpus.iter().map(|cpu| cpu.0))),
        }
    }
}

/// Parses `3` or `4-7`. Both ends must be below the limit, and the smaller one comes first.
fn parse_range(part: &str) -> Option<(u32, u32)> {
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    let (first, last) = (parse_number(first)?, parse_number(last)?);
    (first <= last).then_some((first, last))
}

fn parse_number(digits: &str) -> Option<u32> {
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number: u32 = plain.then(|| digits.parse().ok())??;
    (number < CPU_NUMBER_LIMIT).then_some(number)
}

/// Parses a set in the format of Linux: `0-3,8`, or an empty text.
pub(crate) fn parse_list(text: &str) -> Option<CpuSet> {
    let text = text.trim();
    let mut set = CpuSet::new();
    if text.is_empty() {
        return Some(set);
    }
    for part in text.split(',') {
        let (first, last) = parse_range(part.trim())?;
        set.extend_from(&(first..=last).map(CpuId).collect());
    }
    Some(set)
}

fn wrong(text: &str, part: &str) -> ParseAffinityError {
    let found = if part == text {
        format!("{text:?}")
    } else {
        format!("{part:?} in {text:?}")
    };
    ParseAffinityError { found }
}
