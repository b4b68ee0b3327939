//! The insertions into an array that the root of its reductions knows of; see [`crate::insertion`].

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use crate::address::number::Number;
use crate::engine::local::Local;
use crate::state::{Feature, State};

/// Has the element made, which contributes to this reduction first.
pub(crate) type Make = Box<dyn FnOnce(&Local, u64) + Send>;

/// The insertions into an array that its root knows of.
#[derive(Default)]
pub(crate) struct Insertions {
    pub(crate) under_way: BTreeMap<Number, Insertion>,
    /// Elements that must be asked for again; the root waits for the answers for the first.
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
    /// The element takes part in no reduction before this one.
    pub(crate) first: u64,
    /// The number of missing answers, minus the answers that came before the expected number was
    /// known.
    pub(crate) missing: isize,
    /// A mark has met messages that had still to run.
    pub(crate) must_wait: bool,
    pub(crate) make: Option<Make>,
}

impl State for Insertions {
    const FEATURE: Feature = Feature::Insertion;
}

impl Insertions {
    /// True when it is known of each whether it takes part in `round`.
    pub(crate) fn are_clear_of(&self, round: u64) -> bool {
        self.under_way
            .values()
            .all(|insertion| insertion.first > round)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.under_way.is_empty()
    }

    /// The number of begun insertions that the root knows of.
    pub(crate) fn begun(&self) -> u64 {
        self.begun
    }
}
