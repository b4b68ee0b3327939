//! The environment variables that Raddle reads, and those that look like one but are not.
//!
//! A misspelt variable has no effect, and nothing else reports it. Programs call
//! [`unknown_variables`] once at the start and print what it returns.

use std::env;
use std::fmt;

/// The prefix of all names.
const PREFIX: &str = "RADDLE_";
/// The prefix of the names that the tests of Raddle use between their processes.
const TEST_PREFIX: &str = "RADDLE_TEST_";

/// The name of every variable that some part of Raddle reads, in alphabetical order.
///
/// The house rules check that each variable named in the source code is in this list.
const KNOWN: &[&str] = &[
    "RADDLE_AFFINITY",
    "RADDLE_BLESS",
    "RADDLE_BLOCKS",
    "RADDLE_CLAIMS",
    "RADDLE_DATA",
    "RADDLE_FUZZ_SECONDS",
    "RADDLE_IDLE",
    "RADDLE_MAILBOX",
    "RADDLE_MONITOR",
    "RADDLE_NODE",
    "RADDLE_NODES",
    "RADDLE_PARAMETERS",
    "RADDLE_POOL",
    "RADDLE_PROGRESS",
    "RADDLE_SCHEDULES_COUNT",
    "RADDLE_SCHEDULES_SEED",
    "RADDLE_SEED",
    "RADDLE_SEEDS",
    "RADDLE_STRESS_MESSAGES",
    "RADDLE_STRESS_SECONDS",
    "RADDLE_STRESS_SEED",
    "RADDLE_TASK_MEMORY",
    "RADDLE_TRACE",
    "RADDLE_TRACE_BUFFER",
    "RADDLE_TRACE_DETAIL",
    "RADDLE_TRANSPORT",
    "RADDLE_WATCH",
    "RADDLE_WORKERS",
];

/// Names that other runtimes use for the same thing. They differ too much to be typing errors.
const SYNONYMS: &[(&str, &str)] = &[
    ("RADDLE_NUM_THREADS", "RADDLE_WORKERS"),
    ("RADDLE_NUM_WORKERS", "RADDLE_WORKERS"),
    ("RADDLE_THREADS", "RADDLE_WORKERS"),
    ("RADDLE_THREAD_COUNT", "RADDLE_WORKERS"),
    ("RADDLE_WORKER_COUNT", "RADDLE_WORKERS"),
];

/// An environment variable with the prefix `RADDLE_` that nothing reads.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownVariable {
    /// The name as it is set.
    pub name: String,
    /// The variable that was probably meant.
    pub nearest: Option<&'static str>,
}

impl fmt::Display for UnknownVariable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "environment variable {} has no effect",
            self.name
        )?;
        match self.nearest {
            Some(nearest) => write!(formatter, "; did you mean {nearest}?"),
            None => Ok(()),
        }
    }
}

/// Returns the variables of this process's environment that begin with `RADDLE_` and that nothing
/// reads, in alphabetical order.
///
/// An empty variable counts as unset. A name in lower case is returned if it is close to a known
/// one.
///
/// # Examples
/// ```
/// for unknown in raddle_runtime::unknown_variables() {
///     eprintln!("warning: {unknown}");
/// }
/// ```
pub fn unknown_variables() -> Vec<UnknownVariable> {
    let set = env::vars_os().filter(|(_, value)| !value.is_empty());
    unknown_among(set.map(|(name, _)| name.to_string_lossy().into_owned()))
}

fn unknown_among(names: impl Iterator<Item = String>) -> Vec<UnknownVariable> {
    let mut unknown: Vec<UnknownVariable> = names.filter_map(unknown).collect();
    unknown.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    unknown
}

fn unknown(name: String) -> Option<UnknownVariable> {
    let upper = name.to_ascii_uppercase();
    if !upper.starts_with(PREFIX) || name.starts_with(TEST_PREFIX) {
        return None;
    }
    if KNOWN.contains(&&*name) {
        return None;
    }
    let nearest = nearest_to(&upper);
    let is_ours = nearest.is_some() || name.starts_with(PREFIX);
    is_ours.then_some(UnknownVariable { name, nearest })
}

/// Returns the known name that is closest to `name`, if at most a third of the characters differ.
fn nearest_to(name: &str) -> Option<&'static str> {
    if let Some((_, meant)) = SYNONYMS.iter().find(|(synonym, _)| *synonym == name) {
        return Some(meant);
    }
    let word = name.strip_prefix(PREFIX)?;
    let distances = KNOWN.iter().map(|known| {
        let distance = edit_distance(word, known.trim_start_matches(PREFIX));
        (distance, *known)
    });
    let (distance, nearest) = distances.min_by_key(|(distance, _)| *distance)?;
    let distance_max = word.chars().count() / 3;
    (distance <= distance_max).then_some(nearest)
}

/// Returns the number of characters that have to be inserted, removed, replaced or swapped with the
/// next one to turn `a` into `b`.
///
/// # Source
/// The optimal string alignment distance: Damerau: A technique for computer detection and
/// correction of spelling errors. CACM 7(3), 1964.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    // The rows of the table for the last two prefixes of `a`, and for the one that is next.
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut next = vec![i + 1; b.len() + 1];
        for j in 0..b.len() {
            let replaced = last[j] + usize::from(a[i] != b[j]);
            next[j + 1] = replaced.min(last[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                next[j + 1] = next[j + 1].min(before[j - 1] + 1);
            }
        }
        before = std::mem::replace(&mut last, next);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests;
