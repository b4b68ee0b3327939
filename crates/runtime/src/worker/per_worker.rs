//! A value for each worker and each compensating thread.
//!
//! The values of the workers exist from the start. There may be a thousand compensating threads,
//! but most programs have none: the value of such a thread is made when it is first asked for.

use std::fmt;
use std::sync::Arc;

use raddle_sync::late::Late;

/// A value for each worker and each compensating thread, by index.
pub(super) struct PerWorker<T> {
    workers: Box<[Arc<T>]>,
    compensating: Box<[Late<Arc<T>>]>,
    make: fn() -> T,
}

impl<T> PerWorker<T> {
    /// Creates values with `make` for `worker_count` workers, and later for up to `limit` threads.
    pub(super) fn new(worker_count: usize, limit: usize, make: fn() -> T) -> Self {
        Self {
            workers: (0..worker_count).map(|_| Arc::new(make())).collect(),
            compensating: (worker_count..limit).map(|_| Late::new()).collect(),
            make,
        }
    }

    /// Returns the number of values, including those that have not been made.
    pub(super) fn limit(&self) -> usize {
        self.workers.len() + self.compensating.len()
    }

    /// Returns the value of a thread.
    #[inline]
    pub(super) fn of(&self, index: usize) -> &Arc<T> {
        match self.workers.get(index) {
            Some(value) => value,
            None => self.of_compensating(index - self.workers.len()),
        }
    }

    #[inline(never)]
    fn of_compensating(&self, index: usize) -> &Arc<T> {
        let late = &self.compensating[index];
        loop {
            if let Some(value) = late.get() {
                return value;
            }
            // Another thread may be faster. Then its value counts.
            let _slower = late.set(Arc::new((self.make)()));
        }
    }

    /// Returns the values of the first `count` threads.
    pub(super) fn first(&self, count: usize) -> impl Iterator<Item = &T> {
        (0..count).map(|index| &**self.of(index))
    }
}

impl<T: fmt::Debug> fmt::Debug for PerWorker<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(&self.workers).finish()
    }
}
