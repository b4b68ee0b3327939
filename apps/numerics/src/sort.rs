//! Parallel quicksort in place.
//!
//! | function | parallel work | purpose |
//! |---|---|---|
//! | [`sort`], [`sort_with`] | parts of a split ([`raddle::join`]), large partitions | general |
//! | [`sort_tasks`] | parts of a split, a pool task each | measuring pools, as in the study |
//! | [`sort_sequential`] | nothing | reference and base of speedups |
//!
//! All of them split [`Part`]s until a part has at most as many items as the cut-off, and sort such
//! parts on one worker. All of them are unstable and need no additional memory. No input makes them
//! quadratic, or lets them recurse deeper than `2 log₂ N + 2`. Items must be `Copy`, because a
//! partition without branches also moves items that are already in place. If a comparison panics or
//! is inconsistent, the slice contains items that were in it before, in any order and number.
//!
//! # Examples
//! ```
//! let mut items: Vec<i32> = (0..10_000).map(|index| index * 7_919 % 10_007).collect();
//! raddle_numerics::sort::sort(&mut items);
//! assert!(items.is_sorted());
//! ```
//!
//! # Source
//! R. Hoffmann, M. Korch, T. Rauber: Performance evaluation of task pools based on hardware
//! synchronization. SC 2004, section 3.

pub mod ideal;
mod leaf;
mod parallel;
mod part;
mod partition;
mod pivot;

use raddle::Scope;

use self::parallel::Parallel;
use self::partition::Partition;
use crate::random;

pub use self::part::Part;

/// The cut-off of the study: one task sorts parts of at most this many items.
pub const CUTOFF: usize = 1_000;

/// Sorts `items` on all workers, with the cut-off [`CUTOFF`].
///
/// On a thread that is not a worker, sorts on the workers of the default runtime.
pub fn sort<T: Copy + Ord + Send>(items: &mut [T]) {
    sort_with(items, CUTOFF, |_| ());
}

/// Sorts `items` like [`sort`], with the given cut-off, and calls `note` to report progress.
///
/// After each split and after each part below the cut-off, a worker calls `note` with the number of
/// items that have reached their final places. These numbers add up to the number of items.
pub fn sort_with<T: Copy + Ord + Send>(
    items: &mut [T],
    cutoff: usize,
    note: impl Fn(usize) + Sync,
) {
    let mut sort_here = || {
        let sorting = Sorting {
            cutoff,
            note: &note,
            partition: Parallel::new(raddle::worker_count(), items.len()),
        };
        sorting.run(Part::whole(items));
    };
    if raddle::worker_index().is_some() {
        sort_here();
    } else {
        // Enter the runtime once, which is cheaper than entering it at every join.
        raddle::default_runtime().install(sort_here);
    }
}

/// Sorts `items` like [`sort_with`], with a pool task for the whole slice and for every part. Each
/// part is partitioned by one worker. `note` is called once per task.
pub fn sort_tasks<T: Copy + Ord + Send>(
    items: &mut [T],
    cutoff: usize,
    note: impl Fn(usize) + Sync,
) {
    let sorting = Sorting {
        cutoff,
        note,
        partition: partition::Sequential,
    };
    let sorting = &sorting;
    raddle::scope(|scope| scope.spawn(move || sorting.run_as_task(Part::whole(items), scope)));
}

/// Sorts `items` on this thread, with the same partitions.
pub fn sort_sequential<T: Copy + Ord + Send>(items: &mut [T]) {
    Part::whole(items).sort_sequential();
}

/// Returns a hash of the items that does not depend on their order.
///
/// It is the same before and after a sort. For different items, it is the same with a probability
/// of 2⁻⁶⁴.
pub fn fingerprint(items: &[i32]) -> u64 {
    const STRETCH_LEN: usize = 64 * 1024;
    let of = |items: &[i32]| {
        items.iter().fold(0, |sum: u64, &item| {
            sum.wrapping_add(random::mixed(u64::from(item.cast_unsigned()) + 1))
        })
    };
    raddle::map_reduce(
        0..items.len().div_ceil(STRETCH_LEN),
        || 0,
        |stretch| {
            let first = stretch * STRETCH_LEN;
            of(&items[first..items.len().min(first + STRETCH_LEN)])
        },
        u64::wrapping_add,
    )
}

/// The parameters of a sort.
struct Sorting<N, P> {
    cutoff: usize,
    note: N,
    partition: P,
}

impl<N: Fn(usize) + Sync, P: Sync> Sorting<N, P> {
    fn run<T: Copy + Ord + Send>(&self, part: Part<'_, T>)
    where
        P: Partition<T>,
    {
        if let Some((left, right)) = self.split(part) {
            raddle::join(|| self.run(left), || self.run(right));
        }
    }

    fn run_as_task<'scope, T: Copy + Ord + Send>(
        &'scope self,
        part: Part<'scope, T>,
        scope: &'scope Scope<'scope, '_>,
    ) where
        P: Partition<T>,
    {
        if let Some((left, right)) = self.split(part) {
            scope.spawn(move || self.run_as_task(left, scope));
            scope.spawn(move || self.run_as_task(right, scope));
        }
    }

    /// Splits a part that is larger than the cut-off, and returns the two parts. Sorts any other
    /// part and returns `None`.
    #[inline]
    fn split<'items, T: Copy + Ord + Send>(
        &self,
        part: Part<'items, T>,
    ) -> Option<(Part<'items, T>, Part<'items, T>)>
    where
        P: Partition<T>,
    {
        let len = part.len();
        if len <= self.cutoff.max(1) {
            part.sort_sequential();
            (self.note)(len);
            return None;
        }
        let (left, right) = part.split_by(&self.partition);
        (self.note)(len - left.len() - right.len());
        Some((left, right))
    }
}

#[cfg(test)]
mod tests;
