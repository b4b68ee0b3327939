//! Parses a synthetic description, and rewrites it for hwloc.
//!
//! hwloc itself only reports that a description is wrong, and leaks memory when it does. This
//! parser names the wrong word. It accepts the descriptions that hwloc accepts: levels
//! `TYPE:COUNT`, bare counts, attributes in parentheses, and attached memory in brackets. The
//! description for hwloc is rewritten with full names, sizes in bytes and plain numbers, so that
//! hwloc has no reason to refuse it.
//!
//! The size of the machine is limited too. hwloc compares the sets of every object with those of
//! its siblings, so its time grows with the cube of the size. It takes some seconds at the limits.
//! Without them, 65,536 CPUs side by side would take an hour.
//!
//! # Source
//! The hwloc manual, "Synthetic topologies".

mod attributes;
mod indexes;
mod kind;
mod problem;
mod rules;
mod words;

use std::fmt;

use self::attributes::Attributes;
use self::kind::Kind;
pub(super) use self::problem::Problem;
use self::words::whole_number;

/// The maximum number of CPUs. No shared-memory machine that was ever sold has more.
const CPUS_MAX: u64 = 5120;

/// The maximum number of objects of all kinds: eight per CPU, so that every CPU may have its own
/// core and caches.
const OBJECTS_MAX: u64 = 8 * CPUS_MAX;

/// The maximum number of levels. hwloc supports twice as many, plus a level for the machine.
const LEVELS_MAX: usize = 64;

/// The maximum length of a description in bytes, enough for two lists of [`CPUS_MAX`] numbers.
const LENGTH_MAX: usize = 1 << 16;

/// The expected content of a description, for error messages.
const LEVELS: &str = "levels such as \"numa:2 core:4 pu:2\"";

/// A description to test whether hwloc supports the attribute `memorysidecachesize`. Older versions
/// refuse it.
pub(super) const SIDE_CACHE_PROBE: &str = "numa:1(memorysidecachesize=1) pu:1";

/// Checks a description and returns the rewritten description for hwloc.
///
/// `knows_side_caches` tests whether hwloc supports memory-side caches. It is called only if the
/// description has such a cache.
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

/// A parsed description.
struct Machine<'a> {
    /// The levels from the outermost to the innermost. The first level is the whole machine, which
    /// has no word.
    levels: Vec<Level<'a>>,
    /// The number of objects of all levels.
    object_count: u64,
}

/// A level of objects of one kind.
struct Level<'a> {
    /// The word of the description.
    word: &'a str,
    kind: Option<Kind>,
    /// The number of objects in each object of the enclosing level.
    count: u32,
    /// The number of objects in the whole machine.
    width: u64,
    attributes: Attributes<'a>,
    /// The memories attached to each of the objects.
    memories: Vec<Memory<'a>>,
}

/// A memory in brackets, attached to the objects of a level.
struct Memory<'a> {
    word: &'a str,
    attributes: Attributes<'a>,
}

impl<'a> Machine<'a> {
    /// Parses a description. Limits on sizes are checked on the way.
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
                // Memory of the machine itself: hwloc no longer supports it, but accepts the word.
                Attributes::read(&word[1..word.len() - 1], None)?;
            } else {
                machine.add_level(word)?;
            }
        }
        Ok(machine)
    }

    /// Adds the level that `word` describes, inside the innermost one.
    fn add_level(&mut self, word: &'a str) -> Result<(), Problem> {
        let enclosing = self.innermost();
        if enclosing.kind == Some(Kind::Pu) {
            return Err(Problem::new(
                format!("{word:?} below {:?}", enclosing.word),
                "the CPUs as the last level",
            ));
        }
        let (name, attributes) = split_attributes(word);
        let (kind, count) = kind_and_count(name)?;
        // This cannot overflow, because the enclosing level is at most `CPUS_MAX` wide.
        let width = enclosing.width * u64::from(count);
        // Each object has at least one CPU, so a level is at most as wide as the number of CPUs.
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

    /// Attaches the memory in brackets to each object of the innermost level.
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
        let innermost = self
            .levels
            .last_mut()
            .expect("the first level is the machine");
        innermost.memories.push(Memory { word, attributes });
        self.count_objects(word)
    }

    /// Counts the objects that the latest word adds, including the memory-side cache of a memory.
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

    /// Returns the innermost level so far.
    fn innermost(&self) -> &Level<'a> {
        self.levels.last().expect("the first level is the machine")
    }

    /// Returns the levels that have a word: all but the machine.
    fn levels_with_words(&self) -> &[Level<'a>] {
        &self.levels[1..]
    }

    /// Returns the first word with a memory-side cache, if any.
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

    /// Iterates over the memories in brackets, each with its number of copies in the machine.
    fn attached(&self) -> impl Iterator<Item = (&Memory<'a>, u64)> {
        self.levels
            .iter()
            .flat_map(|level| level.memories.iter().map(|memory| (memory, level.width)))
    }
}

/// Splits a word into the text before its parentheses and the text inside them.
fn split_attributes(word: &str) -> (&str, &str) {
    word.strip_suffix(')')
        .and_then(|word| word.split_once('('))
        .unwrap_or((word, ""))
}

/// Parses `core:4`, or `4` alone.
fn kind_and_count(name: &str) -> Result<(Option<Kind>, u32), Problem> {
    let (kind, digits) = match name.split_once(':') {
        Some((kind, digits)) => (Some(Kind::read(kind)?), digits),
        None if name.starts_with(|first: char| first.is_ascii_digit()) => (None, name),
        None => {
            return Err(Problem::new(
                format!("{name:?} without a count"),
                format!("a count after it, such as \"{name}:2\""),
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

impl fmt::Display for Machine<'_> {
    /// Writes the description for hwloc.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for level in &self.levels {
            match level.kind {
                // The machine has no word.
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
