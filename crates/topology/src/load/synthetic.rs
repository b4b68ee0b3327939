//! Reads a synthetic description, and writes for hwloc what it says.
//!
//! hwloc only says that a description is wrong, and loses memory when it does; here the word is named. What hwloc
//! accepts is accepted here: levels `TYPE:COUNT`, bare counts, attributes in parentheses, memory attached in brackets.
//! What hwloc gets is written anew, in plain names, bytes and numbers, so that there is nothing left for it to refuse.
//!
//! Sizes are bounded as well. hwloc compares every object with its siblings, set by set, so its time grows with the
//! cube of the machine: at the limits it takes some seconds, and without them 65,536 CPUs side by side take an hour.
//!
//! # Source
//! The hwloc manual, "Synthetic topologies".

mod attributes;
mod indexes;
mod kind;
mod rules;
mod words;

use std::fmt;

use self::attributes::Attributes;
use self::kind::Kind;

/// The most CPUs that a description may have: no machine with one memory that was ever sold has more.
const CPUS_MAX: u64 = 5120;

/// The most objects of all kinds: eight for each CPU, so that every one may have its own core and caches.
const OBJECTS_MAX: u64 = 8 * CPUS_MAX;

/// The most levels: hwloc has room for twice as many, and one of its own.
const LEVELS_MAX: usize = 64;

/// The longest description, in bytes: room for two lists of [`CPUS_MAX`] numbers.
const LENGTH_MAX: usize = 1 << 16;

/// What the first word may be, for those who wrote something else.
const LEVELS: &str = "levels such as \"numa:2 core:4 pu:2\"";

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
}

/// What only hwloc can say: whether it knows the attribute `memorysidecachesize`, which older ones refuse.
pub(super) const SIDE_CACHE_PROBE: &str = "numa:1(memorysidecachesize=1) pu:1";

/// Reads a description and returns it as hwloc shall read it.
///
/// `knows_side_caches` is asked where it matters.
pub(super) fn for_hwloc(
    description: &str,
    knows_side_caches: impl FnOnce() -> bool,
) -> Result<String, Problem> {
    if description.contains('\0') {
        return Err(Problem::new("a NUL character", LEVELS));
    }
    if description.len() > LENGTH_MAX {
        return Err(Problem::new(
            format!("a description of {} bytes", description.len()),
            format!("at most {LENGTH_MAX} bytes"),
        ));
    }
    let mut machine = Machine::read(description)?;
    rules::check(&machine)?;
    if let Some(word) = machine.word_with_side_cache()
        && !knows_side_caches()
    {
        return Err(Problem::new(
            format!("memorysidecachesize= in {word:?}, which the installed hwloc does not know"),
            "memory= or indexes=",
        ));
    }
    indexes::number(&mut machine)?;
    Ok(machine.to_string())
}

/// What a description says.
struct Machine<'a> {
    /// The levels from the outside in. The first is the whole machine, which no word stands for.
    levels: Vec<Level<'a>>,
    /// How many objects all levels have.
    object_count: u64,
}

/// Objects of one kind, as many in each object of the level around it.
struct Level<'a> {
    /// As it was written.
    word: &'a str,
    kind: Option<Kind>,
    count: u32,
    /// How many there are in the whole machine.
    width: u64,
    attributes: Attributes<'a>,
    /// The memories that hang at each of the objects.
    memories: Vec<Memory<'a>>,
}

/// A memory in brackets.
struct Memory<'a> {
    word: &'a str,
    attributes: Attributes<'a>,
}

impl<'a> Machine<'a> {
    fn read(description: &'a str) -> Result<Self, Problem> {
        let words = words::split(description)?;
        if words.is_empty() {
            return Err(Problem::new("nothing", LEVELS));
        }
        let mut machine = Self {
            levels: vec![Level {
                word: "",
                kind: None,
                count: 1,
                width: 1,
                attributes: Attributes::default(),
                memories: Vec::new(),
            }],
            object_count: 1,
        };
        for (position, word) in words.into_iter().enumerate() {
            if word.starts_with('[') {
                machine.attach(word)?;
            } else if position == 0 && word.starts_with('(') {
                // The machine's own memory: hwloc has no such thing any more, and takes the word.
                Attributes::read(&word[1..word.len() - 1], None)?;
            } else {
                machine.go_down(word)?;
            }
        }
        Ok(machine)
    }

    /// Goes down to the level that `word` describes.
    fn go_down(&mut self, word: &'a str) -> Result<(), Problem> {
        let around = self.innermost();
        if around.kind == Some(Kind::Pu) {
            return Err(Problem::new(
                format!("{word:?} below {:?}", around.word),
                "the CPUs as the last level",
            ));
        }
        let (name, attributes) = split_attributes(word);
        let (kind, count) = kind_and_count(name)?;
        // No overflow: it was at most `CPUS_MAX` before.
        let width = around.width * u64::from(count);
        // A level is no wider than the CPUs are many, because each object has at least one.
        if width > CPUS_MAX {
            return Err(Problem::new(
                format!("{width} objects at {name:?}"),
                format!("at most {CPUS_MAX} CPUs"),
            ));
        }
        if self.levels.len() > LEVELS_MAX {
            return Err(Problem::new(
                format!("{word:?} below {LEVELS_MAX} levels"),
                format!("at most {LEVELS_MAX} levels"),
            ));
        }
        self.levels.push(Level {
            word,
            kind,
            count,
            width,
            attributes: Attributes::read(attributes, kind)?,
            memories: Vec::new(),
        });
        self.count_objects(word)
    }

    /// Attaches what stands in brackets to each object of the innermost level.
    fn attach(&mut self, word: &'a str) -> Result<(), Problem> {
        let inner = word[1..word.len() - 1].trim_ascii();
        let (name, attributes) = split_attributes(inner);
        if Kind::read(name)? != Kind::Numa {
            return Err(Problem::new(
                format!("{name:?} in brackets"),
                "numa, because only memories are attached",
            ));
        }
        let attributes = Attributes::read(attributes, Some(Kind::Numa))?;
        let innermost = self.levels.last_mut().expect("there is the machine");
        innermost.memories.push(Memory { word, attributes });
        self.count_objects(word)
    }

    /// Counts the objects that a word makes: its own, and the cache that may stand before a memory.
    fn count_objects(&mut self, word: &str) -> Result<(), Problem> {
        let innermost = self.innermost();
        let latest = innermost
            .memories
            .last()
            .map_or(&innermost.attributes, |memory| &memory.attributes);
        let per_place = 1 + u64::from(latest.side_cache_bytes.is_some());
        self.object_count += innermost.width * per_place;
        if self.object_count > OBJECTS_MAX {
            return Err(Problem::new(
                format!("{} objects down to {word:?}", self.object_count),
                format!("at most {OBJECTS_MAX} objects"),
            ));
        }
        Ok(())
    }

    fn innermost(&self) -> &Level<'a> {
        self.levels.last().expect("there is the machine")
    }

    /// The levels that words stand for.
    fn named_by_words(&self) -> &[Level<'a>] {
        &self.levels[1..]
    }

    fn word_with_side_cache(&self) -> Option<&'a str> {
        let levels = self
            .levels
            .iter()
            .map(|level| (level.word, &level.attributes));
        let memories = self
            .attached()
            .map(|(memory, _)| (memory.word, &memory.attributes));
        levels
            .chain(memories)
            .find(|(_, attributes)| attributes.side_cache_bytes.is_some())
            .map(|(word, _)| word)
    }

    /// All memories in brackets, each with how many of it there are.
    fn attached(&self) -> impl Iterator<Item = (&Memory<'a>, u64)> {
        self.levels
            .iter()
            .flat_map(|level| level.memories.iter().map(|memory| (memory, level.width)))
    }
}

/// Parts a word into what stands before its parentheses and what stands in them.
fn split_attributes(word: &str) -> (&str, &str) {
    word.strip_suffix(')')
        .and_then(|word| word.split_once('('))
        .unwrap_or((word, ""))
}

/// Reads `core:4`, or `4` alone.
fn kind_and_count(name: &str) -> Result<(Option<Kind>, u32), Problem> {
    let (kind, digits) = match name.split_once(':') {
        Some((kind, digits)) => (Some(Kind::read(kind)?), digits),
        None if name.starts_with(|first: char| first.is_ascii_digit()) => (None, name),
        None => {
            return Err(Problem::new(
                format!("{name:?} without a count"),
                format!("a count behind it, such as \"{name}:2\""),
            ));
        }
    };
    let count = whole_number(digits).ok_or_else(|| {
        Problem::new(
            format!("{digits:?} as the count of {name:?}"),
            format!("a whole number from 1 to {CPUS_MAX}"),
        )
    })?;
    Ok((kind, count))
}

/// Reads a number from 1 in decimal; hwloc would take `010` for eight.
fn whole_number(digits: &str) -> Option<u32> {
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse().ok().filter(|_| is_plain)
}

impl fmt::Display for Machine<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for level in &self.levels {
            match level.kind {
                // The machine.
                None if level.word.is_empty() => {}
                None => write!(formatter, " {}{}", level.count, level.attributes)?,
                Some(kind) => write!(formatter, " {kind}:{}{}", level.count, level.attributes)?,
            }
            for memory in &level.memories {
                write!(formatter, " [{}{}]", Kind::Numa, memory.attributes)?;
            }
        }
        Ok(())
    }
}
