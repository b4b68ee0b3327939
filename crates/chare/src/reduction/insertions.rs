//! The insertions into an array that are known to the root of its reductions; see
//! [`crate::insertion`].

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use crate::address::number::Number;
use crate::engine::local::Local;
use crate::state::{Feature, LocalState};

/// Has the element constructed, which contributes first to the given reduction.
pub(crate) type Make = Box<dyn FnOnce(&Local, u64) + Send>;

/// The insertions into an array that are known to its root.
#[derive(Default)]
pub(crate) struct Insertions {
    pub(crate) under_way: BTreeMap<Number, Insertion>,
    /// The insertions about which workers must be asked again. The root waits for the answers about
    /// the first one.
    pub(crate) turns: VecDeque<Number>,
    /// The number of insertions that have begun.
    pub(crate) begun: u64,
}

impl fmt::Debug for Insertions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Insertions")
            .field("under_way", &self.under_way.len())
            .finish_non_exhaustive()
    }
}

#[derive(Default)]
pub(crate) struct Insertion {
    /// The first reduction in which the element can take part, according to the answers.
    pub(crate) first: u64,
    /// The number of missing answers. Answers that arrive before the expected number is known make
    /// it negative.
    pub(crate) missing: isize,
    /// True if some worker had messages that had still to run when the mark arrived.
    pub(crate) must_wait: bool,
    pub(crate) make: Option<Make>,
}

impl LocalState for Insertions {
    const FEATURE: Feature = Feature::Insertion;
}

impl Insertions {
    /// Returns true if no inserted element can take part in `round`.
    pub(crate) fn are_clear_of(&self, round: u64) -> bool {
        self.under_way
            .values()
            .all(|insertion| insertion.first > round)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.under_way.is_empty()
    }

    /// Returns the number of insertions that have begun, as far as the root knows.
    pub(crate) fn begun(&self) -> u64 {
        self.begun
    }
}
