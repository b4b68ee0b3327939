//! The kinds of objects that a level may consist of.

use std::fmt;

use super::Problem;

/// The kind of the objects of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Package,
    Die,
    Numa,
    /// A group, with its number if one is given.
    Group(Option<u32>),
    Cache {
        /// The level, from 1 (nearest to the CPU) to 5.
        level: u8,
        content: Content,
    },
    Core,
    Pu,
}

/// The content of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Both,
    Data,
    Instructions,
}

/// The names of kinds. They may be abbreviated to as few as two characters, in any case.
const NAMES: [(&str, Kind); 8] = [
    ("package", Kind::Package),
    ("socket", Kind::Package),
    ("die", Kind::Die),
    ("numanode", Kind::Numa),
    ("node", Kind::Numa),
    ("group", Kind::Group(None)),
    ("core", Kind::Core),
    ("pu", Kind::Pu),
];

impl Kind {
    /// Parses the name of a kind like hwloc: `pack`, `NUMANode`, `l1d`, `L3Cache`, `group2`.
    pub(super) fn read(word: &str) -> Result<Self, Problem> {
        let name = word.to_ascii_lowercase();
        let abbreviates = |(whole, _): &&(&str, Self)| name.len() >= 2 && whole.starts_with(&name);
        NAMES
            .iter()
            .find(abbreviates)
            .map(|&(_, kind)| kind)
            .or_else(|| cache(&name))
            .or_else(|| numbered_group(&name))
            .ok_or_else(|| {
                Problem::new(
                    format!("the unknown level {word:?}"),
                    "package, die, numa, group, l1 to l5, core or pu",
                )
            })
    }

    pub(super) fn is_cache(self) -> bool {
        matches!(self, Self::Cache { .. })
    }
}

/// Parses `l2`, `l1d`, `l1icache`. Only the first three levels can have instruction caches.
fn cache(name: &str) -> Option<Kind> {
    let mut characters = name.strip_prefix('l')?.chars();
    let level = characters
        .next()?
        .to_digit(10)
        .filter(|level| (1..=5).contains(level))?;
    let rest = characters.as_str();
    let (content, rest) = match rest.chars().next() {
        Some('d') => (Content::Data, &rest[1..]),
        Some('i') if level <= 3 => (Content::Instructions, &rest[1..]),
        Some('u') => (Content::Both, &rest[1..]),
        _ => (Content::Both, rest),
    };
    "cache".starts_with(rest).then_some(Kind::Cache {
        level: u8::try_from(level).ok()?,
        content,
    })
}

/// Parses `group2`.
fn numbered_group(name: &str) -> Option<Kind> {
    let number = name.strip_prefix("group")?;
    super::whole_number(number).map(|number| Kind::Group(Some(number)))
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Package => formatter.write_str("package"),
            Self::Die => formatter.write_str("die"),
            Self::Numa => formatter.write_str("numa"),
            Self::Group(None) => formatter.write_str("group"),
            Self::Group(Some(number)) => write!(formatter, "group{number}"),
            Self::Cache { level, content } => {
                let suffix = match content {
                    Content::Both => "",
                    Content::Data => "d",
                    Content::Instructions => "i",
                };
                write!(formatter, "l{level}{suffix}")
            }
            Self::Core => formatter.write_str("core"),
            Self::Pu => formatter.write_str("pu"),
        }
    }
}
