//! The kinds of access to memory of another node.

use std::fmt;

/// The kind of access to memory that a connection allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Data may be put there.
    Put,
    /// The memory may be read.
    Get,
}

impl Access {
    /// Returns the number of the kind in a control frame.
    pub(crate) const fn word(self) -> u64 {
        match self {
            Self::Put => 0,
            Self::Get => 1,
        }
    }

    /// Returns the kind with a number; `None` if there is no such kind.
    pub(crate) fn of_word(word: u64) -> Option<Self> {
        let mut all = [Self::Put, Self::Get].into_iter();
        all.find(|access| access.word() == word)
    }
}

impl fmt::Display for Access {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Put => "puts",
            Self::Get => "reads",
        })
    }
}
