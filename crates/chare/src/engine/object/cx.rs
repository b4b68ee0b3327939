//! The context of an entry: the element's own data in the runtime.
//!
//! [`crate::engine::context`] has the methods that need the engine.

use std::fmt;

use crate::engine::object::chare::Chare;
use crate::engine::object::proxy::{All, One};
use crate::state::rounds::{Group, NextRounds};

/// An element's side of the runtime: entries have it as their parameter `cx: &mut Cx<Self>`.
///
/// # Forks
/// An entry may [`join`](raddle_runtime::join), open scopes and run loops. Its forks may run on
/// another worker or on a compensating thread. All methods work in a fork as in the entry itself,
/// on behalf of the element:
/// - [`worker`](Self::worker) is the element's worker, not the worker of the fork.
/// - Contributions to reductions reach the element's worker when the entry ends or waits. They are
///   numbered in the order of the calls.
/// - Futures of messages and scans ([`next`](Self::next), [`scan`](Self::scan)) must be awaited by
///   the entry itself. They panic if a fork polls them.
/// - Messages that forks send have an order of their own: see [the guarantees](crate#guarantees).
///
/// # Examples
/// ```
/// use raddle_chare::reduce::Sum;
/// use raddle_chare::{Chares, Cx, chare};
/// use raddle_runtime::{Runtime, join};
///
/// struct Field {
///     heights: Vec<u64>,
/// }
///
/// #[chare]
/// impl Field {
///     #[entry]
///     fn add_up(&mut self, cx: &mut Cx<Self>) {
///         let (left, right) = self.heights.split_at(self.heights.len() / 2);
///         // Any worker may run either half.
///         let add_right = |cx: &mut Cx<Self>| cx.contribute(Sum(right.iter().sum::<u64>()));
///         let (left, ()) = join(|| left.iter().sum(), || add_right(cx));
///         cx.contribute(Sum::<u64>(left));
///     }
/// }
///
/// let runtime = Runtime::builder().workers(2).build()?;
/// let fields = runtime.array(3, |_| Field { heights: vec![1, 2, 3, 4] });
/// fields.all().add_up();
/// assert_eq!(fields.reduction::<u64>().wait(), 3 * 7);
/// assert_eq!(fields.reduction::<u64>().wait(), 3 * 3);
/// # Ok::<(), raddle_runtime::BuildError>(())
/// ```
pub struct Cx<T: Chare> {
    one: One<T>,
    index: Option<T::Index>,
    /// The actions that the running entry has left for its end: [`ENDS`], [`DEFERRED`].
    rest: u8,
    rounds: NextRounds,
}

/// The element ends.
const ENDS: u8 = 1;

/// A fork has left a call for the element's worker ([`crate::engine::local::deferred`]).
const DEFERRED: u8 = 2;

/// The actions that an entry has left for its end.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    /// The element ends.
    pub(crate) ends: bool,
    /// The reductions to which the element contributes next.
    pub(crate) rounds: NextRounds,
}

impl<T: Chare> fmt::Debug for Cx<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Cx")
            .field("one", &self.one)
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}

impl<T: Chare> Cx<T> {
    pub(crate) fn new(one: One<T>, index: Option<T::Index>) -> Self {
        Self {
            one,
            index,
            rest: 0,
            rounds: NextRounds::default(),
        }
    }

    /// Returns the element's index in its array.
    ///
    /// # Panics
    /// When the chare is in no array.
    #[inline]
    pub fn index(&self) -> T::Index {
        match self.index {
            Some(index) => index,
            None => panic!("this {} is in no array", T::NAME),
        }
    }

    /// Returns the element's own proxy.
    pub fn this(&self) -> T::One {
        T::One::from(self.one)
    }

    /// Returns the proxy of all elements of the array.
    ///
    /// # Panics
    /// When the chare is in no array.
    pub fn all(&self) -> T::All {
        self.index();
        T::All::from(All::new(self.one.system, self.one.collection, None))
    }

    /// Ends the element when the entry returns: it is dropped, and messages to it fail.
    ///
    /// Messages that have arrived and wait, for the end of an `async` entry or to be received
    /// ([`next`](Self::next)), fail too. If no entry receives a message to one element, it is lost,
    /// and the loss is reported to all waiters ([`Failure`](crate::Failure)). A message to many
    /// elements does not count as lost if some of them have ended. If an entry panics, the panic is
    /// reported instead, and unreceived messages are dropped.
    pub fn end(&mut self) {
        self.rest |= ENDS;
    }

    /// Returns the reductions to which the element contributes next.
    pub(crate) fn rounds(&self) -> &NextRounds {
        &self.rounds
    }

    /// Sets the reductions to which the element contributes next, for an element that is inserted or
    /// comes from another node.
    pub(crate) fn set_rounds(&mut self, rounds: NextRounds) {
        self.rounds = rounds;
    }

    /// Removes the rounds of a section that no longer exists.
    pub(crate) fn forget_rounds(&mut self, section: u32) {
        self.rounds.forget(section);
    }

    /// Returns the number of the next reduction of a group, and counts it.
    pub(crate) fn take_round(&mut self, group: Group) -> u64 {
        self.rounds.take(group)
    }

    /// Counts the next scan of a group.
    pub(crate) fn take_scan(&mut self, group: Group) {
        self.rounds.take_scan(group);
    }

    /// Notes that a fork has left a call for the element's worker.
    pub(crate) fn note_deferred(&mut self) {
        self.rest |= DEFERRED;
    }

    /// Returns the element's index; `None` if the chare is in no array.
    pub(crate) fn try_index(&self) -> Option<T::Index> {
        self.index
    }

    /// Returns true if the chare is in an array.
    pub(crate) fn has_index(&self) -> bool {
        self.index.is_some()
    }

    /// Returns true if the entry that runs has left something to be done.
    #[inline]
    pub(crate) fn has_rest(&self) -> bool {
        self.rest != 0
    }

    /// Takes the actions that the finished entry has left.
    pub(crate) fn take_rest(&mut self) -> Rest {
        self.rest &= !DEFERRED;
        Rest {
            ends: self.rest & ENDS != 0,
            rounds: self.rounds.clone(),
        }
    }

    /// Returns the element's address.
    pub(crate) fn one(&self) -> One<T> {
        self.one
    }
}
