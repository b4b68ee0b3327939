//! Parallel quicksort in place.
//!
//! | | what runs in parallel | for |
//! |---|---|---|
//! | [`sort`], [`sort_with`] | the two parts of every split, by [`raddle::join`]; large partitions too | users |
//! | [`sort_tasks`] | the two parts of every split, a pool task each | measuring pools, as the study did |
//! | [`sort_sequential`] | nothing | reference and base of every speedup |
//!
//! All of them split [`Part`]s and sort the parts of at most a cut-off of items on one worker. All are unstable and
//! need no further memory, and no input makes them quadratic or lets them recurse deeper than `2 log₂ N + 2`. An item is
//! `Copy`, since a partition without branches moves items whether they need it or not. Where a comparison panics or
//! contradicts itself the items may be any of those that were there, in any order and number.
//!
//! # Examples
//! ```
//! let mut items: Vec<i32> = (0..10_000).map(|index| index * 7_919 % 10_007).collect();
//! raddle_numerics::sort::sort(&mut items);
//! assert!(items.is_sorted());
//! ```
//!
//! # Source
//! R. Hoffmann, M. Korch, T. Rauber: Performance evaluation of task pools based on hardware synchronization. SC 2004,
//! section 3.

pub mod ideal;
mod leaf;
mod part;
mod partition;
mod pivot;
mod together;

use raddle::Scope;

use self::partition::Partition;
use self::together::Together;
use crate::random;

pub use self::part::Part;

/// The study's cut-off: parts of at most so many items are sorted by one task.
pub const CUTOFF: usize = 1_000;

/// Sorts `items` on all workers, with the cut-off [`CUTOFF`].
///
/// On a thread that is no worker, on those of the default runtime.
pub fn sort<T: Copy + Ord + Send>(items: &mut [T]) {
    sort_with(items, CUTOFF, |_| ());
}

/// As [`sort`]: parts of at most `cutoff` items are sorted by one worker, and `note` hears how it goes on.
///
/// It is called from any worker, at the end of each split and of each part below the cut-off, with how many items
/// have come to their places by that; together these are all items.
pub fn sort_with<T: Copy + Ord + Send>(
    items: &mut [T],
    cutoff: usize,
    note: impl Fn(usize) + Sync,
) {
    let mut sort_here = || {
        let sorting = Sorting {
            cutoff,
            note: &note,
            how: Together::new(raddle::worker_count(), items.len()),
        };
        sorting.run(Part::whole(items));
    };
    if raddle::worker_index().is_some() {
        sort_here();
    } else {
        // Entering the runtime once is cheaper than at every join.
        raddle::default_runtime().install(sort_here);
    }
}

/// As [`sort_with`], a pool task for every part and for all of the items, each partitioned by one worker; so `note` is
/// called once a task.
pub fn sort_tasks<T: Copy + Ord + Send>(
    items: &mut [T],
    cutoff: usize,
    note: impl Fn(usize) + Sync,
) {
    let sorting = Sorting {
        cutoff,
        note,
        how: partition::Alone,
    };
    let sorting = &sorting;
    raddle::scope(|scope| scope.spawn(move || sorting.run_as_task(Part::whole(items), scope)));
}

/// Sorts `items` on this thread by the same partitions.
pub fn sort_sequential<T: Copy + Ord + Send>(items: &mut [T]) {
    Part::whole(items).sort_sequential();
}

/// A number that depends on which items there are and not on their order.
///
/// Equal for what a sort got and what it made; for anything else equal by a chance of 2⁻⁶⁴.
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

/// What all parts of one sort know.
struct Sorting<N, P> {
    cutoff: usize,
    note: N,
    how: P,
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

    /// The parts of a part above the cut-off; below it there are none left to sort.
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
        let (left, right) = part.split_by(&self.how);
        (self.note)(len - left.len() - right.len());
        Some((left, right))
    }
}

#[cfg(test)]
mod tests;
