//! Checks a synthetic description before hwloc sees it.
//!
//! hwloc only says that a description is wrong; here the word is named. What hwloc accepts is accepted
//! here: levels `TYPE:COUNT`, bare counts, attributes in parentheses, memory attached in brackets.
//!
//! Sizes are bounded as well. hwloc compares every object with its siblings, set by set, so its time grows with the
//! cube of the machine: at the limits it takes some seconds, and without them 65,536 CPUs side by side take an hour.
//!
//! # Source
//! The hwloc manual, "Synthetic topologies".

mod indexes;

/// The most CPUs that a description may have: no machine with one memory that was ever sold has more.
const CPUS_MAX: u64 = 5120;

/// The most objects of all kinds: eight for each CPU, so that every one may have its own core and caches.
const OBJECTS_MAX: u64 = 8 * CPUS_MAX;

/// The longest description, in bytes: room for two lists of [`CPUS_MAX`] numbers.
const LENGTH_MAX: usize = 1 << 16;

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

/// Checks kinds, counts and indexes, and that there are no more CPUs and objects than the limits say; returns
/// the description with single blanks, because hwloc knows no others.
pub(super) fn check(description: &str) -> Result<String, Problem> {
    const EXPECTED: &str = "levels such as \"numa:2 core:4 pu:2\"";
    if description.contains('\0') {
        return Err(Problem::new("a NUL character", EXPECTED));
    }
    if description.len() > LENGTH_MAX {
        return Err(Problem::new(
            format!("a description of {} bytes", description.len()),
            format!("at most {LENGTH_MAX} bytes"),
        ));
    }
    let words = words(description)?;
    if words.is_empty() {
        return Err(Problem::new("nothing", EXPECTED));
    }
    let mut size = Size::default();
    let mut innermost = "";
    for word in &words {
        let (level, attributes) = split_attributes(word);
        if !level.is_empty() && !level.starts_with('[') {
            if is_cpu_level(innermost) {
                return Err(Problem::new(
                    format!("{level:?} below {innermost:?}"),
                    "the CPUs as the last level",
                ));
            }
            innermost = level;
            size.widen(level, count(level)?)?;
        }
        // What stands in brackets is attached to each object of the level before it.
        size.add_objects(word)?;
        indexes::check(attributes, size.width)?;
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

/// How large the machine is, as far as it was read.
struct Size {
    /// The objects of the innermost level.
    width: u64,
    /// The objects of all levels.
    objects: u64,
}

impl Default for Size {
    fn default() -> Self {
        Self {
            width: 1,
            objects: 1,
        }
    }
}

impl Size {
    /// Goes down to a level of which each object so far has `count`.
    fn widen(&mut self, level: &str, count: u32) -> Result<(), Problem> {
        // No overflow: the width was at most `CPUS_MAX` before.
        self.width *= u64::from(count);
        // A level is no wider than the CPUs are many, because each object has at least one.
        if self.width > CPUS_MAX {
            return Err(Problem::new(
                format!("{} objects at {level:?}", self.width),
                format!("at most {CPUS_MAX} CPUs"),
            ));
        }
        Ok(())
    }

    /// Counts the objects that a word makes: its own, and the cache that newer ones of hwloc put before a memory.
    fn add_objects(&mut self, word: &str) -> Result<(), Problem> {
        let per_place = 1 + u64::from(word.contains("memorysidecachesize="));
        self.objects += self.width * per_place;
        if self.objects > OBJECTS_MAX {
            return Err(Problem::new(
                format!("{} objects down to {word:?}", self.objects),
                format!("at most {OBJECTS_MAX} objects"),
            ));
        }
        Ok(())
    }
}

fn is_cpu_level(word: &str) -> bool {
    word.split_once(':')
        .is_some_and(|(kind, _)| kind.eq_ignore_ascii_case("pu"))
}

/// Splits at blanks that stand in no parentheses and no brackets, and behind those, where hwloc needs no blank.
fn words(description: &str) -> Result<Vec<&str>, Problem> {
    let mut words = Vec::new();
    let mut open: Vec<char> = Vec::new();
    let mut start = None;
    for (index, character) in description.char_indices() {
        let is_outside = open.is_empty();
        if is_outside && (character.is_ascii_whitespace() || character == '[') {
            words.extend(start.take().map(|start| &description[start..index]));
        }
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
            blank if is_outside && blank.is_ascii_whitespace() => continue,
            _ => {}
        }
        start.get_or_insert(index);
        if !is_outside && open.is_empty() {
            words.extend(start.take().map(|start| &description[start..=index]));
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

/// Parts a word into the level, or the bracket that opens, and what stands in its parentheses.
fn split_attributes(word: &str) -> (&str, &str) {
    let (level, rest) = word.split_once('(').unwrap_or((word, ""));
    (level, rest.split_once(')').map_or(rest, |(inner, _)| inner))
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
    whole_number(digits).ok_or_else(|| {
        Problem::new(
            format!("{digits:?} as the count of {word:?}"),
            format!("a whole number from 1 to {CPUS_MAX}"),
        )
    })
}

/// Reads a number from 1 in decimal; hwloc would take `010` for eight.
fn whole_number(digits: &str) -> Option<u32> {
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse().ok().filter(|_| is_plain)
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
