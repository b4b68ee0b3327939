//! Runtimes of Raddle and of the peers that are libraries, one per number of workers.
//!
//! They are created on first use, outside any timed section, and kept. Idle runtimes sleep, as they
//! would in a user's program.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::num::NonZero;

use raddle_sync::prim::{AtomicUsize, Relaxed};

use crate::error::BenchError;

/// Raddle's runtimes.
#[derive(Debug, Default)]
pub(crate) struct RaddlePools {
    builder: raddle::Builder,
    by_workers: BTreeMap<usize, raddle::Runtime>,
}

impl RaddlePools {
    /// Creates the collection; `builder` configures each runtime.
    pub(crate) fn of(builder: raddle::Builder) -> Self {
        Self {
            builder,
            ..Self::default()
        }
    }

    /// Runs `work` on a worker of the runtime with that number of workers.
    pub(crate) fn install<R: Send>(
        &mut self,
        workers: usize,
        work: impl FnOnce() -> R + Send,
    ) -> Result<R, BenchError> {
        Ok(self.of_workers(workers)?.install(work))
    }

    /// Returns the runtime with that number of workers.
    pub(crate) fn of_workers(&mut self, workers: usize) -> Result<&raddle::Runtime, BenchError> {
        get_or_create(&mut self.by_workers, workers, || {
            placed_alone(self.builder.clone())
                .workers(workers)
                .build()
                .map_err(|error| BenchError::contender("raddle", error))
        })
    }
}

/// Configures the builder for a placement that ignores all other runtimes on the machine.
///
/// A run keeps several runtimes, which take turns. Each is to be placed like the first.
pub(crate) fn placed_alone(builder: raddle::Builder) -> raddle::Builder {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    // Relaxed: the numbers only have to be distinct.
    let number = COUNT.fetch_add(1, Relaxed);
    let group = format!("raddle-bench-{}-{number}", std::process::id());
    builder.claims(raddle::topology::Claims::in_group(group))
}

/// Rayon's thread pools.
#[derive(Debug, Default)]
pub(crate) struct RayonPools {
    by_workers: BTreeMap<usize, rayon::ThreadPool>,
}

impl RayonPools {
    /// Runs `work` on a thread of the pool with that number of threads.
    pub(crate) fn install<R: Send>(
        &mut self,
        workers: usize,
        work: impl FnOnce() -> R + Send,
    ) -> Result<R, BenchError> {
        Ok(self.of_workers(workers)?.install(work))
    }

    /// Returns the pool with that number of threads.
    pub(crate) fn of_workers(&mut self, workers: usize) -> Result<&rayon::ThreadPool, BenchError> {
        get_or_create(&mut self.by_workers, workers, || {
            rayon::ThreadPoolBuilder::new()
                .num_threads(workers)
                .build()
                .map_err(|error| BenchError::contender("rayon", error))
        })
    }
}

/// Chili's thread pools; the calling thread counts as one of the workers.
#[derive(Debug, Default)]
pub(crate) struct ChiliPools {
    by_workers: BTreeMap<usize, chili::ThreadPool>,
}

impl ChiliPools {
    /// Returns the pool with that number of threads, including the caller's.
    pub(crate) fn pool(&mut self, workers: usize) -> &chili::ThreadPool {
        self.by_workers.entry(workers).or_insert_with(|| {
            chili::ThreadPool::with_config(chili::Config {
                thread_count: NonZero::new(workers),
                ..chili::Config::default()
            })
        })
    }
}

fn get_or_create<T>(
    by_workers: &mut BTreeMap<usize, T>,
    workers: usize,
    make: impl FnOnce() -> Result<T, BenchError>,
) -> Result<&T, BenchError> {
    Ok(match by_workers.entry(workers) {
        Entry::Occupied(there) => there.into_mut(),
        Entry::Vacant(free) => free.insert(make()?),
    })
}
