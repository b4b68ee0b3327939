//! The table in which threads block, and by which they are unblocked: by each other, or by the network interface.
//!
//! # States
//! ```text
//!            unblock            block
//!   CLEAR ────────────► SET ───────────► CLEAR (and goes on)
//!     │ block                  unblock
//!     └────────────► BLOCKED ──────────► CLEAR (and runs)
//! ```
//! An entry that is unblocked before its thread blocks is set, so that no wake-up is lost.
//!
//! # Source
//! Parker 2013, section 3.2, after Tullsen et al.: Supporting Fine-Grained Synchronization on a Simultaneous Multithreading Processor. HPCA 1999.

/// A thread's entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Entry {
    #[default]
    Clear,
    Set,
    Blocked,
}

/// Whether a thread blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Blocks {
    Yes,
    /// It was unblocked before.
    No,
}

/// What unblocking did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Unblocked {
    /// The thread was blocked, and runs.
    Runs,
    /// It was not, and will not block.
    IsSet,
}

impl Entry {
    /// The thread wants to block.
    pub(super) fn block(&mut self) -> Blocks {
        match *self {
            Self::Set => {
                *self = Self::Clear;
                Blocks::No
            }
            Self::Clear | Self::Blocked => {
                *self = Self::Blocked;
                Blocks::Yes
            }
        }
    }

    /// What it was unblocked for has been seen to otherwise.
    pub(super) fn clear(&mut self) {
        *self = Self::Clear;
    }

    /// Somebody wants it to run.
    pub(super) fn unblock(&mut self) -> Unblocked {
        match *self {
            Self::Blocked => {
                *self = Self::Clear;
                Unblocked::Runs
            }
            Self::Clear | Self::Set => {
                *self = Self::Set;
                Unblocked::IsSet
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_unblocked_before_does_not_block() {
        let mut entry = Entry::default();
        assert_eq!(entry.unblock(), Unblocked::IsSet);
        assert_eq!(entry.unblock(), Unblocked::IsSet);
        assert_eq!(entry.block(), Blocks::No);
        assert_eq!(entry.block(), Blocks::Yes);
        assert_eq!(entry.unblock(), Unblocked::Runs);
        assert_eq!(entry, Entry::Clear);
    }
}
