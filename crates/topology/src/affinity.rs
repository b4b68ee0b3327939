//! How workers are spread over CPUs, as a person writes it: `auto`, `none`, `compact`, `scatter` or a list of CPUs.

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use crate::cpu_set::{CPU_NUMBER_LIMIT, CpuId, CpuSet, number_list};
use crate::error::ParseAffinityError;

/// The most CPUs that an explicit list may name, counting repetitions.
const LIST_LEN_MAX: usize = CPU_NUMBER_LIMIT as usize;

/// How workers are spread over the CPUs that the process may use.
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
    /// One worker per core first, near each other, hardware threads beyond the first of a core last; on CPUs that no
    /// other Raddle process or runtime has bound workers to ([`Claims`](crate::Claims)). No two workers share a
    /// CPU: those for whom none is left are not bound. Who knows what workers exchange may move them later.
    #[default]
    Auto,
    /// No worker is bound; the operating system moves them as it likes.
    None,
    /// Workers fill the machine in the order of its tree, hardware threads of a core first: neighbours
    /// in number share as much as they can. For few workers that talk a lot.
    Compact,
    /// Each worker goes as far as possible from those before: over packages first, then NUMA nodes,
    /// caches, cores; the second hardware thread of a core only when every core has a worker. For
    /// workers that want cache and bandwidth to themselves.
    Scatter,
    /// Worker 0 runs on the first CPU of the list, and so on; a CPU may stand there twice.
    Explicit(Vec<CpuId>),
}

impl FromStr for Affinity {
    type Err = ParseAffinityError;

    /// Reads a name in any case, or a list of CPU numbers and ranges in the order in which workers take them.
    ///
    /// # Errors
    /// [`ParseAffinityError`], which names the part that is wrong and the choices.
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
    /// Writes what parses to the same affinity; an empty list, which does not parse, as nothing.
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

/// Reads `3` or `4-7`, with both ends below the limit and in this order.
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

/// Reads a set as Linux writes it: `0-3,8`, or nothing.
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
