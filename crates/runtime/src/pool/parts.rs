//! The parts of a pool, one for each worker: a shared half, which all workers see, and a private
//! half, which only its owner has.
//!
//! The parts of the first workers lie side by side and exist from the start. There may be a
//! thousand compensating threads, but most programs have none: the part of such a thread is made
//! when it takes its seat.
//!
//! # Memory ordering
//! A compensating thread takes its seat before it puts its first task. The fences of
//! [`Pool::has_work`](super::Pool::has_work) order both: a caller that sees the task sees the part.

use std::fmt;

use raddle_sync::late::Late;
use raddle_sync::prim::{AtomicUsize, Mutex, Relaxed};

/// The parts of a pool, with shared halves `P` and private halves `T`.
pub(crate) struct Parts<P, T> {
    first: Box<[P]>,
    /// The private halves of the first workers, until they take them.
    owners: Mutex<Vec<Option<T>>>,
    compensating: Box<[Late<P>]>,
    /// No compensating thread with this or a larger index has taken its seat.
    late_count: AtomicUsize,
    make: Box<dyn Fn() -> (P, T) + Send + Sync>,
}

impl<P, T> Parts<P, T> {
    /// Creates the parts of `worker_count` workers with `make`. Later parts, up to `worker_limit`,
    /// are made on demand.
    pub(crate) fn new(
        worker_count: usize,
        worker_limit: usize,
        make: impl Fn() -> (P, T) + Send + Sync + 'static,
    ) -> Self {
        let (first, owners): (Vec<P>, Vec<Option<T>>) = (0..worker_count)
            .map(|_| {
                let (part, owner) = make();
                (part, Some(owner))
            })
            .unzip();
        let compensating = (worker_count..worker_limit).map(|_| Late::new());
        Self {
            first: first.into(),
            owners: Mutex::new(owners),
            compensating: compensating.collect(),
            late_count: AtomicUsize::new(0),
            make: Box::new(make),
        }
    }

    /// Takes the private half of a worker.
    ///
    /// # Panics
    /// If it was taken before.
    pub(crate) fn take(&self, worker_index: usize) -> T {
        const ONCE: &str = "every worker takes its seat once";
        let Some(index) = worker_index.checked_sub(self.first.len()) else {
            let mut owners = self.owners.lock().expect("nothing panics under this lock");
            return owners[worker_index].take().expect(ONCE);
        };
        let (part, owner) = (self.make)();
        assert!(self.compensating[index].set(part).is_ok(), "{ONCE}");
        // Relaxed: see the header.
        self.late_count.fetch_max(index + 1, Relaxed);
        owner
    }

    /// Returns the shared half of a worker. Returns `None` for a compensating thread that has not
    /// taken its seat, and therefore has no tasks.
    #[inline]
    pub(crate) fn get(&self, worker_index: usize) -> Option<&P> {
        match self.first.get(worker_index) {
            Some(part) => Some(part),
            None => self.compensating[worker_index - self.first.len()].get(),
        }
    }

    /// Returns the shared half of a worker that has taken its seat.
    #[inline]
    pub(crate) fn own(&self, worker_index: usize) -> &P {
        self.get(worker_index)
            .expect("the worker has taken its seat")
    }

    /// Returns all shared halves that exist.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &P> {
        // Relaxed: see the header.
        let late = &self.compensating[..self.late_count.load(Relaxed)];
        self.first.iter().chain(late.iter().filter_map(Late::get))
    }
}

impl<P: fmt::Debug, T> fmt::Debug for Parts<P, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
