//! The parts of a pool, one for each worker: what all workers see of it, and what only its owner
//! has.
//!
//! The parts of the first workers lie side by side and are there from the start. There may be a
//! thousand substitutes, but hardly ever is there one: its part is made when it takes its seat.
//!
//! # Memory ordering
//! A substitute takes its seat before it puts its first task. The fences of
//! [`Pool::has_work`](super::Pool::has_work) order both: a caller that sees the task sees the part.

use std::fmt;

use raddle_sync::late::Late;
use raddle_sync::prim::{AtomicUsize, Mutex, Relaxed};

/// Parts `P`, each with what its owner has, `T`.
pub(crate) struct Parts<P, T> {
    first: Box<[P]>,
    /// What the owners of the first ones have, until they take it.
    owners: Mutex<Vec<Option<T>>>,
    substitutes: Box<[Late<P>]>,
    /// Behind so many substitutes there is none that has taken its seat.
    seated: AtomicUsize,
    make: Box<dyn Fn() -> (P, T) + Send + Sync>,
}

impl<P, T> Parts<P, T> {
    /// Parts as `make` makes them for `worker_count` workers, and later for as many more as there
    /// may be with `worker_limit`.
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
        let substitutes = (worker_count..worker_limit).map(|_| Late::new());
        Self {
            first: first.into(),
            owners: Mutex::new(owners),
            substitutes: substitutes.collect(),
            seated: AtomicUsize::new(0),
            make: Box::new(make),
        }
    }

    /// What the worker alone has.
    ///
    /// # Panics
    /// When it was taken before.
    pub(crate) fn take(&self, worker_index: usize) -> T {
        const ONCE: &str = "every worker takes its seat once";
        let Some(index) = worker_index.checked_sub(self.first.len()) else {
            let mut owners = self.owners.lock().expect("nothing panics under this lock");
            return owners[worker_index].take().expect(ONCE);
        };
        let (part, owner) = (self.make)();
        assert!(self.substitutes[index].set(part).is_ok(), "{ONCE}");
        // Relaxed: see the header.
        self.seated.fetch_max(index + 1, Relaxed);
        owner
    }

    /// The part of a worker; none of a substitute that has not taken its seat: it has no tasks.
    #[inline]
    pub(crate) fn get(&self, worker_index: usize) -> Option<&P> {
        match self.first.get(worker_index) {
            Some(part) => Some(part),
            None => self.substitutes[worker_index - self.first.len()].get(),
        }
    }

    /// The part of a worker that has taken its seat.
    #[inline]
    pub(crate) fn own(&self, worker_index: usize) -> &P {
        self.get(worker_index)
            .expect("the worker has taken its seat")
    }

    /// All parts that there are.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &P> {
        // Relaxed: see the header.
        let seated = &self.substitutes[..self.seated.load(Relaxed)];
        self.first.iter().chain(seated.iter().filter_map(Late::get))
    }
}

impl<P: fmt::Debug, T> fmt::Debug for Parts<P, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
