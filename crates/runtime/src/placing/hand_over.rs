//! Hands the CPU of a thread outside over to the worker that it wakes.
//!
//! A thread outside that calls the workers waits for the end of the call, so its CPU is free from
//! then on. The kernel does not know this: it wakes an unbound worker on another CPU, which has to
//! leave its idle state first. So the caller allows the worker only its own CPU before it wakes the
//! worker, and the worker takes back the CPUs that it had before it runs anything.
//!
//! # Memory ordering
//! The wake-up orders the two: the caller stores the mask before it notifies the worker, which
//! looks for the mask after each sleep. A worker that wakes for another reason at the same moment
//! may miss it until its next sleep.

use std::sync::OnceLock;

use raddle_sync::CachePadded;
use raddle_sync::prim::{AllowedCpus, AtomicBool, MovableThread, Mutex, Relaxed};

/// The workers of a runtime, as threads that can be confined.
#[derive(Debug)]
pub(super) struct HandOver {
    workers: Box<[CachePadded<Confined>]>,
}

#[derive(Debug, Default)]
struct Confined {
    thread: OnceLock<MovableThread>,
    /// True if there are CPUs in `before`.
    is_confined: AtomicBool,
    before: Mutex<Option<AllowedCpus>>,
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

    /// Lets a worker wake up on the CPU of the calling thread, which is about to wake the worker,
    /// and then to wait.
    pub(super) fn hand_over(&self, worker_index: usize) {
        let Some(worker) = self.workers.get(worker_index) else {
            return;
        };
        let mut before = worker.lock();
        if before.is_none()
            && let Some(thread) = worker.thread.get()
            && let Some(cpus) = thread.confine_to_here()
        {
            *before = Some(cpus);
            // Relaxed: the wake-up orders it.
            worker.is_confined.store(true, Relaxed);
        }
    }

    /// Takes back the CPUs of the calling thread, which is this worker and has slept.
    #[inline]
    pub(super) fn take_back(&self, worker_index: usize) {
        if let Some(worker) = self.workers.get(worker_index)
            // Relaxed: as above.
            && worker.is_confined.load(Relaxed)
        {
            worker.take_back();
        }
    }
}

impl Confined {
    #[cold]
    fn take_back(&self) {
        let mut before = self.lock();
        // Relaxed: under the lock.
        self.is_confined.store(false, Relaxed);
        if let Some(cpus) = before.take() {
            cpus.restore();
        }
    }

    fn lock(&self) -> impl std::ops::DerefMut<Target = Option<AllowedCpus>> + '_ {
        self.before.lock().expect("nothing panics under this lock")
    }
}
