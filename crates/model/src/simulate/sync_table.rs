//! The sync table, in which threads block until another thread or the network interface unblocks
//! them.
//!
//! # States
//! ```text
//!            unblock            block
//!   CLEAR ────────────► SET ───────────► CLEAR (and goes on)
//!     │ block                  unblock
//!     └────────────► BLOCKED ──────────► CLEAR (and runs)
//! ```
//! If an entry is unblocked before its thread blocks, it is set, so that no wake-up is lost.
//!
//! # Source
//! Parker 2013, section 3.2, after Tullsen et al.: Supporting Fine-Grained Synchronization on a
//! Simultaneous Multithreading Processor. HPCA 1999.

/// The entry of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Entry {
    #[default]
    Clear,
    Set,
    Blocked,
}

/// The outcome of [`Entry::block`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Blocks {
    Yes,
    /// The thread was unblocked before, and continues.
    No,
}

/// The outcome of [`Entry::unblock`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Unblocked {
    /// The thread was blocked, and runs again.
    Runs,
    /// The thread was not blocked. Its next attempt to block will continue at once.
    IsSet,
}

impl Entry {
    /// Blocks the thread, unless it has been unblocked before.
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

    /// Discards an earlier unblocking that has been handled in another way.
    pub(super) fn clear(&mut self) {
        *self = Self::Clear;
    }

    /// Unblocks the thread, or prevents its next attempt to block.
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
    fn an_entry_that_is_unblocked_early_does_not_block() {
        let mut entry = Entry::default();
        assert_eq!(entry.unblock(), Unblocked::IsSet);
        assert_eq!(entry.unblock(), Unblocked::IsSet);
        assert_eq!(entry.block(), Blocks::No);
        assert_eq!(entry.block(), Blocks::Yes);
        assert_eq!(entry.unblock(), Unblocked::Runs);
        assert_eq!(entry, Entry::Clear);
    }
}
