//! Groups: an element for each worker, reached there without a message.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::address::number::Number;
use crate::array::{Array, ArrayOptions, Plan};
use crate::engine::elements::part::Part;
use crate::engine::local;
use crate::engine::object::chare::Chare;
use crate::engine::system::System;

/// An array with an element for each worker, which stays there.
pub struct Group<T: Chare> {
    array: Array<T>,
}

impl<T: Chare> Clone for Group<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Chare> Copy for Group<T> {}

impl<T: Chare> fmt::Debug for Group<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Group<{}>", T::NAME)
    }
}

impl<T: Chare> Deref for Group<T> {
    type Target = Array<T>;

    fn deref(&self) -> &Array<T> {
        &self.array
    }
}

impl<T: Chare<Index = usize>> Group<T> {
    pub(crate) fn new(array: Array<T>) -> Self {
        Self { array }
    }

    /// Returns the proxy of the calling worker's element; in a fork of an entry, that of the worker
    /// which runs the fork.
    ///
    /// A fork can also run on a compensating thread, which is not a worker and has no element.
    /// There this returns the element of some worker.
    ///
    /// # Panics
    /// On a thread that is not a worker of the group's runtime.
    #[track_caller]
    pub fn here(self) -> T::One {
        let system = self.array.system;
        let worker = local::with(system, |local| local.map(|local| local.worker()));
        let stand_in = || {
            let system = System::find(system).filter(|_| local::is_own_thread(system))?;
            Some(system.next_worker())
        };
        match worker.or_else(stand_in) {
            Some(worker) => self.array.at(worker),
            None => panic!("this thread is not a worker, and has no element of {self:?}"),
        }
    }

    /// Calls `call` with the calling worker's element, at once.
    ///
    /// # Panics
    /// On a thread that is not a worker of the group's runtime, for example a compensating thread.
    /// Also if the element is already running an entry or a call, waits in an asynchronous entry,
    /// or is under construction.
    #[track_caller]
    pub fn with_here<R>(self, call: impl FnOnce(&mut T) -> R) -> R {
        let called = local::with(self.array.system, |local| {
            let local = local?;
            let part = Part::<T>::of(local, self.array.collection);
            if part.is_under_construction() {
                part.construct(local);
            }
            let number = Number::new(0, 0, local.worker() as u32);
            let mut body = part.try_ready(number)?;
            Some(call(&mut body.me))
        });
        match called {
            Some(result) => result,
            None => panic!(
                "no element of {self:?} can be reached here: this thread is not a worker, \
                 or the element is already running, or not constructed yet"
            ),
        }
    }
}

/// Creates a group.
pub(crate) fn make_group<T: Chare<Index = usize>>(
    system: &Arc<System>,
    make: impl Fn(usize) -> T + Send + Sync + 'static,
) -> Group<T> {
    let options = ArrayOptions::new(system.worker_count())
        .placed(|worker| worker)
        .staying();
    Group::new(Plan::new(system, options, None).make(system, make))
}
