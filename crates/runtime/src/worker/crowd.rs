//! The share of the CPUs that the workers take, and the threads outside that call them.
//!
//! If there are as many workers as CPUs, any other running thread takes a CPU from a worker. In
//! many programs the first thread calls the workers again and again: it waits during each call,
//! and the workers wait between two calls. A caller that spins delays the worker on its CPU, and
//! workers that spin delay the caller. So both offer their CPUs to other threads (`sched_yield`)
//! while they spin: the caller during a call, and the workers between the calls. A thread outside
//! that puts tasks without waiting for them needs a CPU, too.

use raddle_sync::CachePadded;
use raddle_sync::prim::{AtomicBool, AtomicUsize, Relaxed};

/// The CPUs and the callers of a runtime.
#[derive(Debug)]
pub(crate) struct Crowd {
    worker_count: usize,
    /// The number of CPUs that the workers have.
    cpu_count: AtomicUsize,
    /// The number of calls of threads outside that have not ended.
    callers: CachePadded<AtomicUsize>,
    /// True once a thread outside has called, or put a task. If none has, as between chares, no
    /// thread outside is waiting for a CPU.
    is_called: AtomicBool,
}

impl Crowd {
    /// Creates the state of a runtime without callers. Its workers have `cpu_count` CPUs.
    pub(super) fn new(worker_count: usize, cpu_count: usize) -> Self {
        Self {
            worker_count,
            cpu_count: AtomicUsize::new(cpu_count),
            callers: CachePadded::default(),
            is_called: AtomicBool::new(false),
        }
    }

    /// Records the number of CPUs that the workers have.
    pub(super) fn set_cpu_count(&self, cpu_count: usize) {
        // Relaxed, here and below: a hint for how to wait.
        self.cpu_count.store(cpu_count, Relaxed);
    }

    /// Returns true if there are more workers than CPUs: a spinning worker takes time from one that
    /// has work.
    pub(crate) fn is_over(&self) -> bool {
        self.worker_count > self.cpu_count.load(Relaxed)
    }

    /// Returns true if the workers take all CPUs: any other spinning thread takes time from one of
    /// them.
    pub(super) fn is_full(&self) -> bool {
        self.worker_count >= self.cpu_count.load(Relaxed)
    }

    /// Returns true if a searching worker has to offer its CPU to other threads.
    pub(super) fn must_yield(&self) -> bool {
        self.is_over()
            || (self.is_called.load(Relaxed) && self.is_full() && self.callers.load(Relaxed) == 0)
    }

    /// Records that a thread outside uses the workers.
    pub(crate) fn note_caller(&self) {
        // Relaxed: as above.
        if !self.is_called.load(Relaxed) {
            self.is_called.store(true, Relaxed);
        }
    }

    /// Counts a call of a thread outside until the result is dropped.
    pub(super) fn begin_call(&self) -> Call<'_> {
        self.note_caller();
        // Relaxed: as above.
        self.callers.fetch_add(1, Relaxed);
        Call(self)
    }
}

/// A call of a thread outside that has not ended.
#[derive(Debug)]
pub(crate) struct Call<'a>(&'a Crowd);

impl Drop for Call<'_> {
    fn drop(&mut self) {
        // Relaxed: a hint for how to wait.
        self.0.callers.fetch_sub(1, Relaxed);
    }
}
