//! The part of a runtime that Raddle's builder by tasks needs, implemented on rayon.

use raddle_graphics::kdtree::ForkJoin;
use rayon::prelude::*;

/// All threads of the current pool.
#[derive(Debug)]
pub(super) struct RayonTasks;

impl ForkJoin for RayonTasks {
    fn for_each<T: Send>(&self, items: &mut [T], body: impl Fn(usize, &mut T) + Sync) {
        // Each item is worth a task, because the items are parts of long lists.
        items
            .par_iter_mut()
            .with_max_len(1)
            .enumerate()
            .for_each(|(index, item)| body(index, item));
    }

    fn join<A: Send, B: Send>(
        &self,
        first: impl FnOnce() -> A + Send,
        second: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        rayon::join(first, second)
    }

    fn part_count(&self) -> usize {
        rayon::current_num_threads()
    }
}
