//! The operations of an entry's context that need the engine: where the entry runs, and access to
//! the element's part.

use std::sync::Arc;

use crate::engine::elements::collection::Collection;
use crate::engine::elements::part::Part;
use crate::engine::local::deferred::Deferred;
use crate::engine::local::{self, Local};
use crate::engine::object::chare::Chare;
use crate::engine::object::cx::Cx;
use crate::engine::object::proxy::One;
use crate::engine::system::System;
use crate::state::rounds::Group;

impl<T: Chare> Cx<T> {
    /// Returns the worker that runs the entry, of those of its node; the same in all forks of the
    /// entry.
    pub fn worker(&self) -> usize {
        let own = |collection: &Collection<T>| self.own_worker(collection);
        // An array that was destroyed meanwhile has no places.
        self.with_collection(own).unwrap_or(0)
    }

    /// Returns the number of workers of the node.
    pub fn worker_count(&self) -> usize {
        self.with_system(|system| system.worker_count())
    }

    /// Returns the node that runs the entry, of several.
    pub fn node(&self) -> usize {
        self.with_system(|system| system.other_nodes().map_or(0, |nodes| nodes.me().into()))
    }

    /// Returns the number of nodes; each has its workers.
    pub fn node_count(&self) -> usize {
        self.with_system(|system| {
            system
                .other_nodes()
                .map_or(1, |nodes| nodes.node_count().into())
        })
    }

    /// Ends the program: threads that wait in [`until_exit`](crate::Chares::until_exit) continue.
    /// Messages under way are not stopped.
    pub fn exit(&self) {
        self.with_system(|system| system.exit());
    }

    /// Returns the reduction to which the element contributes now.
    pub(crate) fn next_round(&mut self, group: Group) -> u64 {
        let round = self.take_round(group);
        self.note_rounds();
        round
    }

    /// Notes that the element has contributed to its next scan.
    pub(crate) fn count_scan(&mut self, group: Group) {
        self.take_scan(group);
        self.note_rounds();
    }

    /// Keeps the rounds with the element, for an entry that may wait.
    fn note_rounds(&mut self) {
        let number = self.one().number;
        let noted = self.with_own_part(|_, part| part.note_rounds(number, self.rounds()));
        if noted.is_none() {
            let rounds = self.rounds().clone();
            self.on_own_worker(move |_, part| part.raise_rounds(number, &rounds));
        }
    }

    /// Calls `call` with the system, on any thread.
    pub(crate) fn with_system<R>(&self, call: impl FnOnce(&Arc<System>) -> R) -> R {
        let id = self.one().system;
        local::with(id, |local| match local {
            Some(local) => call(local.system()),
            None => call(&System::of_entry(id)),
        })
    }

    /// Calls `call` with the shared state of the collection, on any thread.
    pub(crate) fn with_collection<R>(&self, call: impl FnOnce(&Collection<T>) -> R) -> R {
        let One {
            system, collection, ..
        } = self.one();
        local::with(system, |local| match local {
            Some(local) => call(Part::of(local, collection).collection()),
            None => call(&Collection::of(&System::of_entry(system), collection)),
        })
    }

    /// Returns the worker that runs the entry; `None` if the array was destroyed meanwhile.
    fn own_worker(&self, collection: &Collection<T>) -> Option<usize> {
        collection.directory().place(self.one().number).own_worker()
    }

    /// Calls `call` with the element's part, if this thread is the element's worker. Returns `None`
    /// in forks that other threads run.
    pub(crate) fn with_own_part<R>(&self, call: impl FnOnce(&Local, &Part<T>) -> R) -> Option<R> {
        local::with(self.one().system, |local| {
            let local = local?;
            let part = Part::of(local, self.one().collection);
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
        let collection = self.one().collection;
        let call = Box::new(move |local: &Local| call(local, &Part::of(local, collection)));
        self.with_system(|system| system.shared::<Deferred>().put(worker, call));
        self.note_deferred();
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
