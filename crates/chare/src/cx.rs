//! What an entry knows of where it runs, and what it can do besides sending messages.

use std::fmt;

use crate::array::Array;
use crate::chares::{Chares, Running, quiescence};
use crate::entry::{Chare, Message};
use crate::local::{self, Local};
use crate::part::Part;
use crate::proxy::{All, One};
use crate::reduction::{Group, NextRounds};
use crate::reply::Reply;
use crate::suspended::next_message;

/// An element's side of the runtime: entries have it as their parameter `cx: &mut Cx<Self>`.
pub struct Cx<T: Chare> {
    one: One<T>,
    index: Option<T::Index>,
    ends: bool,
    rounds: NextRounds,
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
            ends: false,
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

    /// The array that the element is in.
    ///
    /// # Panics
    /// When the chare is in no array.
    pub fn array(&self) -> Array<T> {
        self.index();
        Array::new(self.one.system, self.one.collection)
    }

    /// The proxy of all elements of the array.
    ///
    /// # Panics
    /// When the chare is in no array.
    pub fn all(&self) -> T::All {
        self.index();
        T::All::from(All::new(self.one.system, self.one.collection, None))
    }

    /// The worker that runs the entry, of those of its node.
    pub fn worker(&self) -> usize {
        self.with_local(|local| local.worker)
    }

    /// The number of workers of the node.
    pub fn worker_count(&self) -> usize {
        self.with_local(|local| local.system.worker_count())
    }

    /// The node that runs the entry, of several.
    pub fn node(&self) -> usize {
        self.with_local(|local| local.system.away.get().map_or(0, |away| away.me.into()))
    }

    /// The number of nodes; each has its workers.
    pub fn node_count(&self) -> usize {
        let count = |local: &Local| {
            local
                .system
                .away
                .get()
                .map_or(1, |away| away.node_count.into())
        };
        self.with_local(count)
    }

    /// Ends the element when the entry returns: it is dropped, and messages to it fail.
    ///
    /// So do those that have come and wait: for the end of an `async` entry, or to be received ([`next`](Self::next)). A message to one element
    /// that nobody receives is lost, and all who wait are told of it ([`Failure`](crate::Failure)); one to many is no loss to those that
    /// have ended. (Where an entry panics instead, that is what is told, and what the element has not received is dropped.)
    pub fn end(&mut self) {
        self.ends = true;
    }

    /// The runtime that runs the entry, for making arrays and groups.
    pub fn runtime(&self) -> impl Chares + use<'_, T> {
        Running(self)
    }

    /// Makes a chare that is in no array, on whatever worker; it can be sent messages at once.
    pub fn chare<C: Chare>(&self, make: impl FnOnce(&mut Cx<C>) -> C + Send + 'static) -> C::One {
        C::One::from(self.with_local(|local| local.sow(make)))
    }

    /// Waits for a message of a kind: the oldest that has come, or the next to come.
    ///
    /// # Panics
    /// What it returns, where that is polled outside of the element's `async` entries.
    pub fn next<M: Message<Chare = T>>(
        &self,
        kind: M,
    ) -> impl Future<Output = M::Content> + Send + use<T, M> {
        self.next_where(kind, |_| true)
    }

    /// Waits for a message of a kind that `is_it` says yes to: the oldest of those that have come, or the next to come.
    ///
    /// Those that it says no to stay where they are. It is asked again for them at each message of the kind: its cost is
    /// that times their number.
    ///
    /// # Panics
    /// As [`next`](Self::next).
    pub fn next_where<M: Message<Chare = T>, F>(
        &self,
        _kind: M,
        is_it: F,
    ) -> impl Future<Output = M::Content> + Send + use<T, M, F>
    where
        F: FnMut(&M::Content) -> bool + Send,
    {
        next_message::<M>(self.one, is_it)
    }

    /// The reductions to which the element contributes next.
    pub(crate) fn rounds(&self) -> &NextRounds {
        &self.rounds
    }

    /// The first reduction to which an element contributes that is inserted.
    pub(crate) fn set_rounds(&mut self, rounds: NextRounds) {
        self.rounds = rounds;
    }

    /// A section is no more.
    pub(crate) fn forget_rounds(&mut self, section: u32) {
        self.rounds.forget(section);
    }

    /// The reduction to which the element contributes now.
    pub(crate) fn next_round(&mut self, group: Group) -> u64 {
        let round = self.rounds.take(group);
        self.note_rounds();
        round
    }

    /// The scan to which the element contributes now.
    pub(crate) fn next_scan(&mut self, group: Group) -> u64 {
        let scan = self.rounds.take_scan(group);
        self.note_rounds();
        scan
    }

    fn note_rounds(&self) {
        self.with_part(|_, part| part.note_rounds(self.one.number, &self.rounds));
    }

    pub(crate) fn try_index(&self) -> Option<T::Index> {
        self.index
    }

    pub(crate) fn has_index(&self) -> bool {
        self.index.is_some()
    }

    /// Ends the program: whoever waits in [`Chares::until_exit`] goes on. Messages that are under way are not stopped.
    pub fn exit(&self) {
        self.with_local(|local| local.system.exit());
    }

    /// Comes when no message is under way and no entry runs, but for asynchronous ones that wait; as [`Chares::quiescence`].
    pub fn quiescence(&self) -> Reply<()> {
        self.with_local(|local| quiescence(&local.system))
    }

    #[inline]
    pub(crate) fn ends(&self) -> bool {
        self.ends
    }

    pub(crate) fn with_local<R>(&self, call: impl FnOnce(&Local) -> R) -> R {
        local::with(self.one.system, |local| {
            call(local.expect("entries run on workers of their system"))
        })
    }

    pub(crate) fn with_part<R>(&self, call: impl FnOnce(&Local, &Part<T>) -> R) -> R {
        self.with_local(|local| call(local, &local.part(self.one.collection)))
    }

    pub(crate) fn one(&self) -> One<T> {
        self.one
    }
}
