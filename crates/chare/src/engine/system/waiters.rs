//! Who is told when something fails, or the runtime ends: threads that wait, and futures that others than this runtime's workers poll.
//!
//! Asynchronous entries are not among them: what one of them waits for may still come, and whoever looks from outside is told.

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

/// Who waits.
pub(crate) enum Waiting {
    Thread(Waiter),
    Task(Waker),
}

impl Waiting {
    pub(crate) fn tell(self) {
        match self {
            Self::Thread(waiter) => waiter.notify(),
            // A waker is code of whoever polls, and its panics are no affair of who is told next.
            Self::Task(waker) => contain(|| waker.wake(), |_| {}),
        }
    }
}

/// All who wait for anything of a system.
#[derive(Default)]
pub(crate) struct Waiters(Mutex<List>);

#[derive(Default)]
struct List {
    waiting: BTreeMap<u64, Waiting>,
    /// Numbers those who come.
    count: u64,
    /// The number of places that have not been dropped. One that has been told keeps its place
    /// until it has seen that.
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

    /// True when something waits.
    pub(crate) fn has_any(&self) -> bool {
        self.list().held > 0
    }

    /// Tells all: what they wait for will not come.
    pub(crate) fn tell_all(&self) {
        let waiting = mem::take(&mut self.list().waiting);
        // Without the lock: who is told may come again at once, or leave.
        waiting.into_values().for_each(Waiting::tell);
    }

    /// Tells the threads, and lets them go on waiting.
    pub(crate) fn tell_threads(&self) {
        for waiting in self.list().waiting.values() {
            if let Waiting::Thread(waiter) = waiting {
                waiter.notify();
            }
        }
    }
}

/// A place among those who wait; dropping it leaves.
#[derive(Debug)]
pub(crate) struct Watch {
    /// A number, so that who waits keeps no system, nor a system itself by way of who waits.
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

    /// Has somebody else told.
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
