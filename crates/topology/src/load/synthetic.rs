//! Checks a synthetic description before hwloc sees it.
//!
//! hwloc only says that a description is wrong; here the word is named. What hwloc accepts is accepted
//! here: levels `TYPE:COUNT`, bare counts, attributes in parentheses, memory attached in brackets.
//!
//! # Source
//! The hwloc manual, "Synthetic topologies".

use crate::cpu_set::CPU_NUMBER_LIMIT;

/// What is wrong with a description.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) found: String,
    pub(super) expected: String,
}

impl Problem {
    fn new(found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self {
            found: found.into(),
            expected: expected.into(),
        }
    }

    /// hwloc found something wrong that [`check`] does not know of.
    pub(super) fn refused(reason: &str) -> Self {
        Self::new(
            format!("something that hwloc refuses ({reason})"),
            "levels from the outside in, such as \"numa:2 core:4 pu:2\"",
        )
    }
}

/// Kinds that may be cut short (`pack`, `nu`) or drawn out (`numanode`).
const LONG_KINDS: [&str; 5] = ["numa", "node", "package", "socket", "group"];

/// Kinds that stand as they are.
const SHORT_KINDS: [&str; 3] = ["pu", "core", "die"];

/// Checks kinds and counts, and that their product is no more than [`CPU_NUMBER_LIMIT`]; returns the
/// description with single blanks, because hwloc knows no others.
pub(super) fn check(description: &str) -> Result<String, Problem> {
    const EXPECTED: &str = "levels such as \"numa:2 core:4 pu:2\"";
    if description.contains('\0') {
        return Err(Problem::new("a NUL character", EXPECTED));
    }
    let words = words(description)?;
    if words.is_empty() {
        return Err(Problem::new("nothing", EXPECTED));
    }
    let mut product: u64 = 1;
    let mut innermost = "";
    for word in &words {
        let word = strip_attributes(word);
        if word.is_empty() || word.starts_with('[') {
            // Attributes of the machine itself, or memory that is attached here.
            continue;
        }
        if is_cpu_level(innermost) {
            return Err(Problem::new(
                format!("{word:?} below {innermost:?}"),
                "the CPUs as the last level",
            ));
        }
        innermost = word;
        product = product.saturating_mul(u64::from(count(word)?));
        if product > u64::from(CPU_NUMBER_LIMIT) {
            return Err(Problem::new(
                format!("more than {CPU_NUMBER_LIMIT} objects at {word:?}"),
                format!("at most {CPU_NUMBER_LIMIT} CPUs"),
            ));
        }
    }
    let last_counts_cpus = innermost.starts_with(|first: char| first.is_ascii_digit());
    if is_cpu_level(innermost) || last_counts_cpus {
        Ok(words.join(" "))
    } else {
        Err(Problem::new(
            format!("{innermost:?} as the last level"),
            "the CPUs as the last level, such as \"pu:2\"",
        ))
    }
}

fn is_cpu_level(word: &str) -> bool {
    word.split_once(':')
        .is_some_and(|(kind, _)| kind.eq_ignore_ascii_case("pu"))
}

/// Splits at blanks that stand in no parentheses and no brackets.
fn words(description: &str) -> Result<Vec<&str>, Problem> {
    let mut words = Vec::new();
    let mut open: Vec<char> = Vec::new();
    let mut start = None;
    for (index, character) in description.char_indices() {
        match character {
            '(' | '[' => open.push(character),
            ')' | ']' => {
                let opening = if character == ')' { '(' } else { '[' };
                if open.pop() != Some(opening) {
                    return Err(Problem::new(
                        format!("{character:?} that closes nothing"),
                        format!("{opening:?} before it"),
                    ));
                }
            }
            _ => {}
        }
        if character.is_ascii_whitespace() && open.is_empty() {
            words.extend(start.take().map(|start| &description[start..index]));
        } else {
            start.get_or_insert(index);
        }
    }
    if let Some(opening) = open.pop() {
        let closing = if opening == '(' { ')' } else { ']' };
        return Err(Problem::new(
            format!("{opening:?} that is not closed"),
            format!("{closing:?} behind it"),
        ));
    }
    words.extend(start.map(|start| &description[start..]));
    Ok(words)
}

fn strip_attributes(word: &str) -> &str {
    word.split_once('(').map_or(word, |(before, _)| before)
}

/// Reads how many objects a level has: `core:4`, or `4` alone.
fn count(word: &str) -> Result<u32, Problem> {
    let digits = match word.split_once(':') {
        None if word.starts_with(|first: char| first.is_ascii_digit()) => word,
        None => {
            return Err(Problem::new(
                format!("{word:?} without a count"),
                format!("a count behind it, such as \"{word}:2\""),
            ));
        }
        Some((kind, digits)) => {
            check_kind(kind)?;
            digits
        }
    };
    match digits.parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(Problem::new(
            format!("{digits:?} as the count of {word:?}"),
            "a whole number from 1",
        )),
    }
}

/// Accepts what hwloc may know: the kinds in any case, with endings such as `numanode` or `l1dcache`.
fn check_kind(kind: &str) -> Result<(), Problem> {
    let lower = kind.to_ascii_lowercase();
    let cache = lower
        .strip_prefix('l')
        .is_some_and(|level| level.starts_with(|first: char| first.is_ascii_digit()));
    let long =
        |name: &&str| lower.starts_with(*name) || (lower.len() >= 2 && name.starts_with(&lower));
    let known = cache || SHORT_KINDS.contains(&lower.as_str()) || LONG_KINDS.iter().any(long);
    if known {
        Ok(())
    } else {
        Err(Problem::new(
            format!("the unknown level {kind:?}"),
            "package, die, numa, group, l1 to l5, core or pu",
        ))
    }
}
