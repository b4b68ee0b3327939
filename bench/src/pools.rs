//! One runtime for each number of workers, of Raddle and of the peers that are libraries.
//!
//! They are made on first use, outside any timed section, and kept: idle ones sleep, as a user's would.

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
    /// Those that this builder makes.
    pub(crate) fn of(builder: raddle::Builder) -> Self {
        Self {
            builder,
            ..Self::default()
        }
    }

    /// Runs `work` on a worker of a runtime of so many.
    pub(crate) fn install<R: Send>(
        &mut self,
        workers: usize,
        work: impl FnOnce() -> R + Send,
    ) -> Result<R, BenchError> {
        Ok(self.of_workers(workers)?.install(work))
    }

    /// The runtime of so many workers.
    pub(crate) fn of_workers(&mut self, workers: usize) -> Result<&raddle::Runtime, BenchError> {
        made_once(&mut self.by_workers, workers, || {
            alone(self.builder.clone())
                .workers(workers)
                .build()
                .map_err(|error| failure("raddle", &error))
        })
    }
}

/// The same, placed as if no other runtime were on the machine: those that a run keeps take turns, and each shall be placed like the first.
pub(crate) fn alone(builder: raddle::Builder) -> raddle::Builder {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    // Relaxed: all that counts is that no number comes twice.
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
    /// Runs `work` on a thread of a pool of so many.
    pub(crate) fn install<R: Send>(
        &mut self,
        workers: usize,
        work: impl FnOnce() -> R + Send,
    ) -> Result<R, BenchError> {
        Ok(self.of_workers(workers)?.install(work))
    }

    /// The pool of so many threads.
    pub(crate) fn of_workers(&mut self, workers: usize) -> Result<&rayon::ThreadPool, BenchError> {
        made_once(&mut self.by_workers, workers, || {
            rayon::ThreadPoolBuilder::new()
                .num_threads(workers)
                .build()
                .map_err(|error| failure("rayon", &error))
        })
    }
}

/// Chili's thread pools; the calling thread counts as one of the workers.
#[derive(Debug, Default)]
pub(crate) struct ChiliPools {
    by_workers: BTreeMap<usize, chili::ThreadPool>,
}

impl ChiliPools {
    /// The pool of so many threads, the caller's included.
    pub(crate) fn pool(&mut self, workers: usize) -> &chili::ThreadPool {
        self.by_workers.entry(workers).or_insert_with(|| {
            chili::ThreadPool::with_config(chili::Config {
                thread_count: NonZero::new(workers),
                ..chili::Config::default()
            })
        })
    }
}

fn made_once<T>(
    by_workers: &mut BTreeMap<usize, T>,
    workers: usize,
    make: impl FnOnce() -> Result<T, BenchError>,
) -> Result<&T, BenchError> {
    Ok(match by_workers.entry(workers) {
        Entry::Occupied(there) => there.into_mut(),
        Entry::Vacant(free) => free.insert(make()?),
    })
}

pub(crate) fn failure(who: &str, error: &dyn std::error::Error) -> BenchError {
    BenchError::Contender {
        who: who.to_owned(),
        message: error.to_string(),
    }
}
