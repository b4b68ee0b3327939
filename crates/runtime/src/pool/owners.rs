//! What only the owner of a part of a pool has, until the workers take their seats.

use raddle_sync::prim::Mutex;

/// One for each worker, taken once.
#[derive(Debug)]
pub(crate) struct Owners<T>(Mutex<Vec<Option<T>>>);

impl<T> Owners<T> {
    /// The parts of a pool as `make` makes them, one for each of `worker_limit` workers, and what their owners have.
    pub(crate) fn with_parts<P>(
        worker_limit: usize,
        make: impl Fn() -> (P, T),
    ) -> (Box<[P]>, Self) {
        let (parts, owners): (Vec<P>, Vec<Option<T>>) = (0..worker_limit)
            .map(|_| {
                let (part, owner) = make();
                (part, Some(owner))
            })
            .unzip();
        (parts.into(), Self(Mutex::new(owners)))
    }

    /// What the worker alone has.
    ///
    /// # Panics
    /// When it was taken before.
    pub(crate) fn take(&self, worker_index: usize) -> T {
        let mut owners = self.0.lock().expect("nothing panics under this lock");
        owners[worker_index]
            .take()
            .expect("every worker takes its seat once")
    }
}
