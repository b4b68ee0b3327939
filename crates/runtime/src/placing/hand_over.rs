//! Hands the CPU of a thread outside over to the worker that it wakes.
//!
//! A thread outside that calls the workers waits for the end of the call, so its CPU is free from
//! then on. The kernel does not know this: it wakes an unbound worker on another CPU, which has to
//! leave its idle state first. So the caller allows the worker only its own CPU before it wakes the
//! worker, and the worker takes back the CPUs that it had before it runs anything.
//!
//! The caller does so only while all other workers sleep (`Shared::put_call`).
//!
//! # Invariants
//! 1. A worker is confined only while it counts as asleep, from before it can be woken until it
//!    wakes up. Both change under the lock of the worker. So it never runs anything confined, not
//!    even if it wakes up for another reason while the caller confines it.

use std::sync::OnceLock;

use raddle_sync::CachePadded;
use raddle_sync::prim::{AllowedCpus, MovableThread, Mutex};

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;

/// The workers of a runtime, as threads that can be confined.
#[derive(Debug)]
pub(super) struct HandOver {
    workers: Box<[CachePadded<Sleeper>]>,
}

#[derive(Debug, Default)]
struct Sleeper {
    thread: OnceLock<MovableThread>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Awake,
    Asleep,
    /// Asleep and confined. These are the CPUs that it had before.
    Confined(AllowedCpus),
}

impl HandOver {
    /// Creates the state of workers that have not started.
    pub(super) fn new(worker_count: usize) -> Self {
        Self {
            workers: (0..worker_count).map(|_| CachePadded::default()).collect(),
        }
    }

    /// Records that the calling thread is this worker.
    pub(super) fn begin(&self, worker_index: usize) {
        if let (Some(worker), Some(thread)) =
            (self.workers.get(worker_index), MovableThread::current())
        {
            let _is_first = worker.thread.set(thread);
        }
    }

    /// Records that the calling thread, which is this worker, is about to sleep. Call it before the
    /// worker can be woken.
    pub(super) fn fall_asleep(&self, worker_index: usize) {
        if let Some(worker) = self.workers.get(worker_index) {
            *worker.lock() = State::Asleep;
        }
    }

    /// Lets a worker that sleeps wake up on the CPU of the calling thread, which is about to wake
    /// the worker, and then to wait.
    pub(super) fn hand_over(&self, worker_index: usize) {
        let Some(worker) = self.workers.get(worker_index) else {
            return;
        };
        let mut state = worker.lock();
        if let State::Asleep = *state
            && let Some(thread) = worker.thread.get()
            && let Some(before) = thread.confine_to_here()
        {
            *state = State::Confined(before);
        }
    }

    /// Records that the calling thread, which is this worker, has slept, and takes back its CPUs.
    pub(super) fn wake_up(&self, worker_index: usize) {
        if let Some(worker) = self.workers.get(worker_index)
            && let State::Confined(before) = std::mem::take(&mut *worker.lock())
        {
            before.restore();
        }
    }
}

impl Sleeper {
    fn lock(&self) -> impl std::ops::DerefMut<Target = State> + '_ {
        self.state.lock().expect("nothing panics under this lock")
    }
}
