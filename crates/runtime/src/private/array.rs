//! Numbers of workers, side by side in one array.

use std::fmt;
use std::sync::Arc;

use raddle_sync::CachePadded;
use raddle_sync::prim::{AtomicU64, Relaxed};

use crate::runtime::Runtime;
use crate::worker::{Shared, with_worker};

/// The number of words from one slot to the next if each slot has its own cache lines.
const PADDED_WORDS: usize = size_of::<CachePadded<u64>>() / size_of::<u64>();

/// A number for each worker of a runtime, side by side in one array. This type serves to measure
/// the cost of such arrays.
///
/// The slots of several workers are on one cache line. Each change takes the line away from the
/// other workers (false sharing). If workers change their numbers all the time, a change costs
/// several times as much as in [`Private`](crate::Private), and more with more workers.
/// [`padded`](Self::padded) creates an array without this problem, at 128 bytes per worker. That
/// form is useful if numbers are read while they change.
///
/// # Examples
/// ```
/// use raddle_runtime::{PrivateArray, Runtime};
/// let runtime = Runtime::builder().workers(2).build()?;
/// let sums = PrivateArray::padded(&runtime);
/// runtime.scope(|scope| {
///     for number in 1..=100 {
///         let sums = &sums;
///         scope.spawn(move || sums.add(number));
///     }
/// });
/// assert_eq!(sums.values().sum::<u64>(), 5_050);
/// # Ok::<(), raddle_runtime::BuildError>(())
/// ```
/// # Source
/// The processor-private variables (`Cpv`) of Charm++ in their old form: Mei, Zheng, Gioachin,
/// Kalé: Optimizing a parallel runtime system for multicore clusters. 2010, sect. 3.3.
pub struct PrivateArray {
    slots: Box<[AtomicU64]>,
    stride: usize,
    shared: Arc<Shared>,
}

impl fmt::Debug for PrivateArray {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PrivateArray")
            .finish_non_exhaustive()
    }
}

impl PrivateArray {
    /// Creates an array with a zero for each worker of `runtime`, and for each possible
    /// compensating thread.
    pub fn new(runtime: &Runtime) -> Self {
        Self::with_stride(runtime, 1)
    }

    /// Creates an array as [`new`](Self::new) does, but with each number on separate cache lines.
    pub fn padded(runtime: &Runtime) -> Self {
        Self::with_stride(runtime, PADDED_WORDS)
    }

    fn with_stride(runtime: &Runtime, stride: usize) -> Self {
        let shared = Arc::clone(runtime.shared());
        let words = shared.worker_limit() * stride;
        Self {
            slots: (0..words).map(|_| AtomicU64::new(0)).collect(),
            stride,
            shared,
        }
    }

    /// Adds to the current worker's number. Wraps around at the end of the range.
    ///
    /// # Panics
    /// If the current thread is not a worker of the array's runtime.
    #[inline]
    #[track_caller]
    pub fn add(&self, number: u64) {
        let slot = self.own_slot();
        // Relaxed: only this worker writes the slot, and readers rely on nothing but the number.
        slot.store(slot.load(Relaxed).wrapping_add(number), Relaxed);
    }

    /// Returns the current worker's number.
    ///
    /// # Panics
    /// As for [`add`](Self::add).
    #[inline]
    #[track_caller]
    pub fn get(&self) -> u64 {
        // Relaxed: as in `add`.
        self.own_slot().load(Relaxed)
    }

    /// Replaces the current worker's number.
    ///
    /// # Panics
    /// As for [`add`](Self::add).
    #[inline]
    #[track_caller]
    pub fn set(&self, number: u64) {
        // Relaxed: as in `add`.
        self.own_slot().store(number, Relaxed);
    }

    /// Returns all numbers by worker index, each as it is when it is read.
    pub fn values(&self) -> impl Iterator<Item = u64> {
        // Relaxed: as in `add`.
        let slots = self.slots.iter().step_by(self.stride);
        slots.map(|slot| slot.load(Relaxed))
    }

    #[inline]
    #[track_caller]
    fn own_slot(&self) -> &AtomicU64 {
        let own = with_worker(|worker| {
            let own = worker.filter(|worker| Arc::ptr_eq(worker.shared(), &self.shared));
            own.map(|worker| worker.index())
        });
        match own {
            Some(index) => &self.slots[index * self.stride],
            None => refuse_others(),
        }
    }
}

#[cold]
#[track_caller]
fn refuse_others() -> ! {
    panic!("the current thread is not a worker of the runtime of this array");
}
