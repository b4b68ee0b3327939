//! The kinds of objects that a level may have.

use std::fmt;

use super::Problem;

/// What the objects of a level are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Package,
    Die,
    Numa,
    /// With its number, where one was given.
    Group(Option<u32>),
    Cache {
        /// How far from the CPU: 1 to 5.
        level: u8,
        content: Content,
    },
    Core,
    Pu,
}

/// What a cache holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Both,
    Data,
    Instructions,
}

/// Names that may be cut short to two letters, in any case.
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
    /// Reads the name of a kind as hwloc does: `pack`, `NUMANode`, `l1d`, `L3Cache`, `group2`.
    pub(super) fn read(word: &str) -> Result<Self, Problem> {
        let name = word.to_ascii_lowercase();
        let begun = |(whole, _): &&(&str, Self)| name.len() >= 2 && whole.starts_with(&name);
        NAMES
            .iter()
            .find(begun)
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

/// Reads `l2`, `l1d`, `l1icache`: only the first three levels have caches of instructions alone.
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
                let letter = match content {
                    Content::Both => "",
                    Content::Data => "d",
                    Content::Instructions => "i",
                };
                write!(formatter, "l{level}{letter}")
            }
            Self::Core => formatter.write_str("core"),
            Self::Pu => formatter.write_str("pu"),
        }
    }
}
