//! Who does the work that both builders have in common: the calling thread alone, or all workers.

/// A way to work through a list. Each element is visited once, so that the outcome is the same for every crew.
pub(super) trait Crew: Sync {
    /// Calls `body` with every element and its index.
    fn for_each<T: Send>(&self, items: &mut [T], body: impl Fn(usize, &mut T) + Sync);

    /// How many parts to cut work into that costs more the more parts there are.
    fn part_count(&self) -> usize;
}

/// The calling thread.
#[derive(Debug)]
pub(super) struct Alone;

impl Crew for Alone {
    fn for_each<T: Send>(&self, items: &mut [T], body: impl Fn(usize, &mut T) + Sync) {
        for (index, item) in items.iter_mut().enumerate() {
            body(index, item);
        }
    }

    fn part_count(&self) -> usize {
        1
    }
}

/// All workers of the runtime.
#[derive(Debug)]
pub(super) struct Everybody;

impl Crew for Everybody {
    fn for_each<T: Send>(&self, items: &mut [T], body: impl Fn(usize, &mut T) + Sync) {
        raddle::for_each_mut(items, body);
    }

    fn part_count(&self) -> usize {
        raddle::worker_count()
    }
}

/// Takes the first `len` elements off a slice.
pub(super) fn take<'a, T>(slice: &mut &'a mut [T], len: usize) -> &'a mut [T] {
    let (head, tail) = std::mem::take(slice).split_at_mut(len);
    *slice = tail;
    head
}
