//! The names of the task pools. [`build`](super::build) says what each pool is made of.

use std::fmt;
use std::str::FromStr;

/// Declares the pools: one line each, with the name.
macro_rules! pools {
    ($($(#[doc = $about:literal])+ $(#[$default:ident])? $kind:ident = $name:literal,)*) => {
        /// The task pools, by name.
        ///
        /// The first part of a name says how tasks are distributed: `SQ` has one queue for all
        /// workers, `DQ` one for each worker, `DQ-BL` one of blocks of several tasks. The next part
        /// names the synchronisation: `PTH` a Pthreads mutex, `SL` the simple lock, `TL` the ticket
        /// lock, `CLH` the CLH lock, `LF` lock-free; `SP` (single put) lets the owner put without
        /// the lock. The rest is: `TRY`, thieves do not wait for a lock; `PRIV`, a private buffer
        /// of one task; `C`, each worker's part on cache lines of its own.
        ///
        /// Unlike in the study, other workers can reach tasks in private buffers and blocks when
        /// they find nothing else. So a program makes progress if its tasks wait for each other in
        /// their own way (by a channel, a lock, a flag).
        ///
        /// # Source
        /// Hoffmann, Korch, Rauber: Performance evaluation of task pools based on hardware
        /// synchronization. SC 2004, sect. 2.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum PoolKind {
            $($(#[doc = $about])+ $(#[$default])? $kind,)*
        }

        const COUNT: usize = [$($name),*].len();

        impl PoolKind {
            /// All pools.
            pub const ALL: [Self; COUNT] = [$(Self::$kind),*];

            /// Returns the name that `--pool` and `RADDLE_POOL` take.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            /// Returns a description of the pool in one sentence.
            pub fn about(self) -> &'static str {
                match self {
                    $(Self::$kind => concat!($($about),+).trim_start(),)*
                }
            }
        }
    };
}

pools! {
    /// One stack under a Pthreads mutex.
    SqPth = "SQ-PTH",
    /// One stack under a simple lock.
    SqSl = "SQ-SL",
    /// One stack under a ticket lock.
    SqTl = "SQ-TL",
    /// One lock-free stack.
    SqLf = "SQ-LF",
    /// A stack for each worker under a Pthreads mutex.
    DqPth = "DQ-PTH",
    /// A stack for each worker under a simple lock.
    DqSl = "DQ-SL",
    /// As DQ-SL, with a private buffer.
    DqSlPriv = "DQ-SL-PRIV",
    /// As DQ-SL-PRIV, on separate cache lines.
    DqSlPrivC = "DQ-SL-PRIV-C",
    /// As DQ-SL-PRIV-C, with thieves that do not wait.
    DqSlTryPrivC = "DQ-SL-TRY-PRIV-C",
    /// As DQ-SL-PRIV-C, under ticket locks.
    DqTlPrivC = "DQ-TL-PRIV-C",
    /// As DQ-SL-PRIV-C, under CLH locks.
    DqClhPrivC = "DQ-CLH-PRIV-C",
    /// A queue for each worker, which puts without a lock, and a private buffer.
    DqSlSpPrivC = "DQ-SL-SP-PRIV-C",
    /// A lock-free stack for each worker, and a private buffer.
    DqLfPrivC = "DQ-LF-PRIV-C",
    /// Blocks under Pthreads mutexes.
    DqBlPth = "DQ-BL-PTH",
    /// Blocks under simple locks.
    DqBlSlC = "DQ-BL-SL-C",
    /// As DQ-BL-SL-C, with thieves that do not wait.
    DqBlSlTryC = "DQ-BL-SL-TRY-C",
    /// Blocks under ticket locks.
    DqBlTlC = "DQ-BL-TL-C",
    /// As DQ-BL-TL-C, with thieves that do not wait.
    DqBlTlTryC = "DQ-BL-TL-TRY-C",
    /// Blocks that their owner puts without a lock.
    DqBlSpC = "DQ-BL-SP-C",
    /// As DQ-BL-SP-C, with thieves that do not wait.
    DqBlSpTryC = "DQ-BL-SP-TRY-C",
    /// Blocks under CLH locks.
    DqBlClhC = "DQ-BL-CLH-C",
    /// A lock-free deque for each worker (Chase and Lev).
    Deque = "deque",
    /// One of the others, chosen while the program runs; the default.
    #[default]
    Auto = "auto",
}

impl fmt::Display for PoolKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// The error for a name that no pool has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no pool named {found:?}; expected {}", PoolKind::expected())]
pub struct UnknownPool {
    /// The requested name.
    pub found: String,
}

impl PoolKind {
    /// The names of families of pools, and the pool that each name selects.
    pub const FAMILIES: [(&'static str, Self); 3] = [
        ("central", Self::SqTl),
        ("distributed", Self::DqTlPrivC),
        ("blocks", Self::DqBlTlC),
    ];

    /// Returns all accepted names: families, then pools.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let families = Self::FAMILIES.into_iter().map(|(name, _)| name);
        families.chain(Self::ALL.into_iter().map(Self::name))
    }

    /// Returns the accepted names as text, for messages.
    pub(crate) fn expected() -> String {
        let mut names: Vec<&str> = Self::names().collect();
        let last = names.pop().expect("there are pools");
        format!("{} or {last}", names.join(", "))
    }
}

impl FromStr for PoolKind {
    type Err = UnknownPool;

    /// Parses the name of a pool or of a family (`central`, `distributed`, `blocks`), ignoring
    /// case.
    fn from_str(name: &str) -> Result<Self, UnknownPool> {
        let kinds = Self::ALL.iter().map(|&kind| (kind.name(), kind));
        kinds
            .chain(Self::FAMILIES)
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, kind)| kind)
            .ok_or_else(|| UnknownPool {
                found: name.to_owned(),
            })
    }
}
