//! Tasks that put further tasks, for a pool and for none.

use raddle::Scope;
use raddle_sync::CachePadded;
use raddle_sync::prim::{AtomicU64, Relaxed};

use crate::harness::Sample;

/// Work made of tasks.
pub(crate) trait Workload: Sync {
    /// Does it once.
    fn measure(&self, how: How) -> Sample;
}

/// Where tasks wait.
#[derive(Debug, Clone, Copy)]
pub(crate) enum How {
    /// In the pool of the runtime whose worker calls.
    InPool,
    /// On a stack without synchronisation, all run by the caller.
    Alone,
}

impl How {
    /// Runs a task and all that come of it.
    pub(super) fn run(self, first: impl Job) {
        match self {
            Self::InPool => raddle::scope(|scope| scope.spawn(move || spawning(first, scope))),
            Self::Alone => {
                let mut stack = vec![first];
                while let Some(job) = stack.pop() {
                    job.run(&mut |child| stack.push(child));
                }
            }
        }
    }
}

fn spawning<'scope, J: Job + 'scope>(job: J, scope: &'scope Scope<'scope, '_>) {
    job.run(&mut |child| scope.spawn(move || spawning(child, scope)));
}

/// A task.
pub(super) trait Job: Send + Sized {
    /// Does its work, and puts what comes of it.
    fn run(self, put: &mut impl FnMut(Self));
}

/// A sum to which all workers add, each in a place of its own.
#[derive(Debug)]
pub(super) struct Sums(Box<[CachePadded<AtomicU64>]>);

impl Default for Sums {
    fn default() -> Self {
        /// Workers beyond share places, which costs time and nothing else.
        const PLACES: usize = 64;
        Self((0..PLACES).map(|_| CachePadded::default()).collect())
    }
}

impl Sums {
    /// Adds on the current worker.
    pub(super) fn add(&self, value: u64) {
        let place = raddle::worker_index().unwrap_or(0) % self.0.len();
        // Relaxed: read when all workers have done their work.
        self.0[place].fetch_add(value, Relaxed);
    }

    /// The sum so far; begins again at zero.
    pub(super) fn take(&self) -> u64 {
        self.0.iter().fold(0, |sum, place| {
            // Relaxed: as above.
            sum.wrapping_add(place.swap(0, Relaxed))
        })
    }
}
