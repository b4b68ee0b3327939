//! Tasks that create further tasks, for a pool or for a plain stack.

use raddle::Scope;
use raddle_sync::CachePadded;
use raddle_sync::prim::{AtomicU64, Relaxed};

use crate::harness::Sample;

/// Work that consists of tasks.
pub(crate) trait Workload: Sync {
    /// Does the work once.
    fn measure(&self, runner: Runner) -> Sample;
}

/// The place where tasks wait.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Runner {
    /// The pool of the runtime to which the calling worker belongs.
    Pool,
    /// A stack without synchronisation; the caller runs all tasks.
    Stack,
}

impl Runner {
    /// Runs a task and all tasks that it creates, directly or indirectly.
    pub(in crate::suites) fn run(self, first: impl Job) {
        match self {
            Self::Pool => raddle::scope(|scope| scope.spawn(move || run_in_scope(first, scope))),
            Self::Stack => {
                let mut stack = vec![first];
                while let Some(job) = stack.pop() {
                    job.run(&mut |child| stack.push(child));
                }
            }
        }
    }
}

fn run_in_scope<'scope, J: Job + 'scope>(job: J, scope: &'scope Scope<'scope, '_>) {
    job.run(&mut |child| scope.spawn(move || run_in_scope(child, scope)));
}

/// A task.
pub(in crate::suites) trait Job: Send + Sized {
    /// Does the task's work, and calls `put` with each task that it creates.
    fn run(self, put: &mut impl FnMut(Self));
}

/// A sum with a counter for each worker, so that adding causes no contention.
#[derive(Debug)]
pub(in crate::suites) struct Sums(Box<[CachePadded<AtomicU64>]>);

impl Default for Sums {
    fn default() -> Self {
        /// The number of counters. Further workers share counters, which costs only time.
        const PLACES: usize = 64;
        Self((0..PLACES).map(|_| CachePadded::default()).collect())
    }
}

impl Sums {
    /// Adds `value` to the current worker's counter.
    pub(in crate::suites) fn add(&self, value: u64) {
        let place = raddle::worker_index().unwrap_or(0) % self.0.len();
        // Relaxed: read after all workers have finished.
        self.0[place].fetch_add(value, Relaxed);
    }

    /// Returns the sum and resets it to zero.
    pub(in crate::suites) fn take(&self) -> u64 {
        self.0.iter().fold(0, |sum, place| {
            // Relaxed: as above.
            sum.wrapping_add(place.swap(0, Relaxed))
        })
    }
}
