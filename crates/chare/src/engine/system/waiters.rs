//! The threads and futures to notify when something fails or the runtime ends: waiting threads, and
//! futures that are polled outside of this runtime's workers.
//!
//! Asynchronous entries are not among them: the message that an entry waits for may still arrive,
//! and the observers outside are notified anyway.

use std::collections::BTreeMap;
use std::fmt;
use std::mem;
use std::sync::Arc;
use std::task::Waker;

use raddle_runtime::Waiter;
use raddle_sync::prim::Mutex;

use crate::engine::system::System;
use crate::engine::system::registry;
use crate::failure::contain;

/// A thread or a task that waits.
pub(crate) enum Waiting {
    Thread(Waiter),
    Task(Waker),
}

impl Waiting {
    /// Wakes the thread or the task.
    pub(crate) fn notify(self) {
        match self {
            Self::Thread(waiter) => waiter.notify(),
            // A waker is foreign code: its panics must not affect the waiters that are notified
            // next.
            Self::Task(waker) => contain(|| waker.wake(), |_| {}),
        }
    }
}

/// All waiters of a system.
#[derive(Default)]
pub(crate) struct Waiters(Mutex<List>);

#[derive(Default)]
struct List {
    waiting: BTreeMap<u64, Waiting>,
    /// The number of the next waiter.
    count: u64,
    /// The number of registrations that have not been dropped. A notified waiter stays registered
    /// until it has observed the notification.
    held: usize,
}

impl fmt::Debug for Waiters {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Waiters({})", self.list().waiting.len())
    }
}

impl Waiters {
    fn list(&self) -> impl std::ops::DerefMut<Target = List> {
        self.0.lock().expect("nothing panics under this lock")
    }

    /// Returns true if something waits.
    pub(crate) fn has_any(&self) -> bool {
        self.list().held > 0
    }

    /// Notifies all waiters that the awaited event will not come.
    pub(crate) fn notify_all(&self) {
        let waiting = mem::take(&mut self.list().waiting);
        // Outside of the lock: a notified waiter may register again at once, or leave.
        waiting.into_values().for_each(Waiting::notify);
    }

    /// Wakes the waiting threads to check again. They stay registered.
    pub(crate) fn notify_threads(&self) {
        for waiting in self.list().waiting.values() {
            if let Waiting::Thread(waiter) = waiting {
                waiter.notify();
            }
        }
    }
}

/// A registration of a waiter; dropping it ends the registration.
#[derive(Debug)]
pub(crate) struct Watch {
    /// A number rather than a reference, so that neither a waiter keeps its system alive nor a
    /// system itself through its waiters.
    system: u32,
    id: u64,
}

impl Watch {
    pub(crate) fn new(system: &System, waiting: Waiting) -> Self {
        let mut list = system.waiters.list();
        let id = list.count;
        list.count += 1;
        list.held += 1;
        list.waiting.insert(id, waiting);
        Self {
            system: system.id,
            id,
        }
    }

    /// Replaces the waiter to notify.
    pub(crate) fn renew(&self, system: &System, waiting: Waiting) {
        let before = system.waiters.list().waiting.insert(self.id, waiting);
        // Without the lock: a waker has a destructor.
        drop(before);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let system: Option<Arc<System>> = registry::find(self.system);
        if let Some(system) = system {
            let mut list = system.waiters.list();
            list.held -= 1;
            let left = list.waiting.remove(&self.id);
            drop(list);
            // Without the lock: a waker has a destructor.
            drop(left);
        }
    }
}
