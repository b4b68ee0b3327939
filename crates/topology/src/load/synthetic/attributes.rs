//! The attributes in parentheses after a level: sizes, and the numbers of its objects.

use std::fmt;

use super::Problem;
use super::kind::Kind;

/// The maximum size of a memory or cache in bytes. No memory is that large, and the total of a
/// machine cannot overflow.
const BYTES_MAX: u64 = 1 << 48;

/// The units of sizes, in bytes: SI units and units of IEC 80000-13.
const UNITS: [(&str, u64); 9] = [
    ("", 1),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
];

/// The attributes of a level or of an attached memory.
#[derive(Default)]
pub(super) struct Attributes<'a> {
    /// The size of a cache.
    size_bytes: Option<u64>,
    /// The size of a memory.
    memory_bytes: Option<u64>,
    /// The size of a memory-side cache.
    pub(super) side_cache_bytes: Option<u64>,
    /// The list of numbers of the objects, as written.
    pub(super) indexes: Option<&'a str>,
    /// The numbers of the objects. Empty if hwloc should number them.
    pub(super) numbers: Vec<u32>,
}

impl<'a> Attributes<'a> {
    /// Parses the text between the parentheses of a level of `kind`.
    ///
    /// The size of a memory is allowed on every level but a cache. A level without a kind may turn
    /// out to be a level of memories, and on other levels hwloc ignores the size.
    pub(super) fn read(text: &'a str, kind: Option<Kind>) -> Result<Self, Problem> {
        let is_cache = kind.is_some_and(Kind::is_cache);
        let expected = if is_cache {
            "size= or indexes="
        } else {
            "memory=, memorysidecachesize= or indexes="
        };
        let mut attributes = Self::default();
        for word in text.split_ascii_whitespace() {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            let is_new = match name {
                "size" if is_cache => set(&mut attributes.size_bytes, bytes(word, value)?),
                "memory" if !is_cache => set(&mut attributes.memory_bytes, bytes(word, value)?),
                "memorysidecachesize" if !is_cache => {
                    set(&mut attributes.side_cache_bytes, bytes(word, value)?)
                }
                "indexes" => set(&mut attributes.indexes, value),
                _ => {
                    return Err(Problem::new(
                        format!("the unknown attribute {word:?}"),
                        expected,
                    ));
                }
            };
            if !is_new {
                return Err(Problem::new(
                    format!("a second {name}=, {word:?}"),
                    "each attribute once",
                ));
            }
        }
        Ok(attributes)
    }
}

/// Sets an attribute. Returns false if it was already set.
fn set<T>(place: &mut Option<T>, value: T) -> bool {
    place.replace(value).is_none()
}

/// Parses a size, with a unit or in bytes.
fn bytes(word: &str, value: &str) -> Result<u64, Problem> {
    let end = value
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(value.len());
    let (digits, unit) = value.split_at(end);
    let factor = UNITS
        .iter()
        .find(|(name, _)| unit.eq_ignore_ascii_case(name))
        .map(|(_, factor)| factor);
    digits
        .parse()
        .ok()
        .zip(factor)
        .and_then(|(count, factor): (u64, &u64)| count.checked_mul(*factor))
        .filter(|bytes| (1..=BYTES_MAX).contains(bytes))
        .ok_or_else(|| {
            Problem::new(
                format!("{value:?} as the size of {word:?}"),
                format!("1 to {BYTES_MAX} bytes, such as 65536, 64KiB or 16GB"),
            )
        })
}

/// Writes the attributes for hwloc: all of them in parentheses, or nothing if there are none.
impl fmt::Display for Attributes<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes = [
            ("size", self.size_bytes),
            ("memory", self.memory_bytes),
            ("memorysidecachesize", self.side_cache_bytes),
        ];
        let mut opening = "(";
        for (name, bytes) in sizes {
            if let Some(bytes) = bytes {
                write!(formatter, "{opening}{name}={bytes}")?;
                opening = " ";
            }
        }
        for (position, number) in self.numbers.iter().enumerate() {
            if position == 0 {
                write!(formatter, "{opening}indexes={number}")?;
                opening = " ";
            } else {
                write!(formatter, ",{number}")?;
            }
        }
        if opening == "(" {
            Ok(())
        } else {
            formatter.write_str(")")
        }
    }
}
