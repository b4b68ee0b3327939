//! The context of an entry: information about where it runs, and operations besides sending
//! messages.

use std::fmt;
use std::sync::Arc;

use crate::engine::elements::collection::Collection;
use crate::engine::elements::part::Part;
use crate::engine::local::{self, Local};
use crate::engine::object::chare::Chare;
use crate::engine::object::proxy::{All, One};
use crate::engine::system::System;
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

/// A fork has left a call for the element's worker ([`crate::engine::system::deferred`]).
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

    /// The element's index in its array.
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

    /// The element's own proxy.
    pub fn this(&self) -> T::One {
        T::One::from(self.one)
    }

    /// The proxy of all elements of the array.
    ///
    /// # Panics
    /// When the chare is in no array.
    pub fn all(&self) -> T::All {
        self.index();
        T::All::from(All::new(self.one.system, self.one.collection, None))
    }

    /// The worker that runs the entry, of those of its node; the same in all forks of the entry.
    pub fn worker(&self) -> usize {
        let own = |collection: &Collection<T>| self.own_worker(collection);
        // An array that was destroyed meanwhile has no places.
        self.with_collection(own).unwrap_or(0)
    }

    /// The number of workers of the node.
    pub fn worker_count(&self) -> usize {
        self.with_system(|system| system.worker_count())
    }

    /// The node that runs the entry, of several.
    pub fn node(&self) -> usize {
        self.with_system(|system| system.other_nodes().map_or(0, |nodes| nodes.me().into()))
    }

    /// The number of nodes; each has its workers.
    pub fn node_count(&self) -> usize {
        self.with_system(|system| {
            system
                .other_nodes()
                .map_or(1, |nodes| nodes.node_count().into())
        })
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

    /// The reductions to which the element contributes next.
    pub(crate) fn rounds(&self) -> &NextRounds {
        &self.rounds
    }

    /// The first reduction to which an element contributes that is inserted.
    pub(crate) fn set_rounds(&mut self, rounds: NextRounds) {
        self.rounds = rounds;
    }

    /// A section no longer exists.
    pub(crate) fn forget_rounds(&mut self, section: u32) {
        self.rounds.forget(section);
    }

    /// The reduction to which the element contributes now.
    pub(crate) fn next_round(&mut self, group: Group) -> u64 {
        let round = self.rounds.take(group);
        self.note_rounds();
        round
    }

    /// The element has contributed to its next scan.
    pub(crate) fn count_scan(&mut self, group: Group) {
        self.rounds.take_scan(group);
        self.note_rounds();
    }

    fn note_rounds(&mut self) {
        let number = self.one.number;
        let noted = self.with_own_part(|_, part| part.note_rounds(number, &self.rounds));
        if noted.is_none() {
            let rounds = self.rounds.clone();
            self.on_own_worker(move |_, part| part.catch_up_rounds(number, &rounds));
        }
    }

    pub(crate) fn try_index(&self) -> Option<T::Index> {
        self.index
    }

    pub(crate) fn has_index(&self) -> bool {
        self.index.is_some()
    }

    /// Ends the program: threads that wait in [`until_exit`](crate::Chares::until_exit) continue.
    /// Messages under way are not stopped.
    pub fn exit(&self) {
        self.with_system(|system| system.exit());
    }

    /// True when the entry that runs has left something to be done.
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

    /// Calls `call` with the system, on any thread.
    pub(crate) fn with_system<R>(&self, call: impl FnOnce(&Arc<System>) -> R) -> R {
        let id = self.one.system;
        local::with(id, |local| match local {
            Some(local) => call(local.system()),
            None => call(&System::of_entry(id)),
        })
    }

    /// Calls `call` with the shared state of the collection, on any thread.
    pub(crate) fn with_collection<R>(&self, call: impl FnOnce(&Collection<T>) -> R) -> R {
        let One {
            system, collection, ..
        } = self.one;
        local::with(system, |local| match local {
            Some(local) => call(local.part(collection).collection()),
            None => call(&System::of_entry(system).collection(collection)),
        })
    }

    /// The worker that runs the entry; `None` if the array was destroyed meanwhile.
    fn own_worker(&self, collection: &Collection<T>) -> Option<usize> {
        collection.directory().place(self.one.number).own_worker()
    }

    /// Calls `call` with the element's part, if this thread is the element's worker; `None` in
    /// forks that others run.
    pub(crate) fn with_own_part<R>(&self, call: impl FnOnce(&Local, &Part<T>) -> R) -> Option<R> {
        local::with(self.one.system, |local| {
            let local = local?;
            let part = local.part(self.one.collection);
            let is_own = self.own_worker(part.collection()) == Some(local.worker());
            is_own.then(|| call(local, &part))
        })
    }

    /// Calls `call` with the element's part, for an `async` entry.
    ///
    /// # Panics
    /// In a fork that another worker runs.
    pub(crate) fn with_part<R>(&self, call: impl FnOnce(&Local, &Part<T>) -> R) -> R {
        self.with_own_part(call)
            .unwrap_or_else(|| wait_outside::<T>())
    }

    /// Calls `call` with the element's part on the element's worker: at once if this thread is that
    /// worker, and in a fork that another one runs when the entry ends, or waits.
    pub(crate) fn on_own_worker(&mut self, call: impl FnOnce(&Local, &Part<T>) + Send + 'static) {
        let mut call = Some(call);
        let run = |local: &Local, part: &Part<T>| call.take().map(|call| call(local, part));
        self.with_own_part(run);
        let Some(call) = call else { return };
        // An array that was destroyed meanwhile has no reductions to contribute to.
        let own = |collection: &Collection<T>| self.own_worker(collection);
        let Some(worker) = self.with_collection(own) else {
            return;
        };
        let collection = self.one.collection;
        let call = Box::new(move |local: &Local| call(local, &local.part(collection)));
        self.with_system(|system| system.deferred().put(worker, call));
        self.rest |= DEFERRED;
    }

    pub(crate) fn one(&self) -> One<T> {
        self.one
    }
}

/// Panics on behalf of an element that waits outside of its `async` entries.
pub(crate) fn wait_outside<T: Chare>() -> ! {
    panic!(
        "a {} waits for a message outside of its `async` entries, \
             where none can come: make the entry `async` and `.await` it there",
        T::NAME
    )
}
