//! Generates the events of all triangles and sorts them.

use crate::kdtree::cells::event::{self, Event};
use crate::kdtree::cells::names::Reference;
use crate::kdtree::fork_join::ForkJoin;

/// The minimum number of references per part. Shorter lists of events are sorted by one thread.
const SORT_LEN_MIN: usize = 16 * 1024;

/// Generates the events of all axes. Returns several unsorted parts per axis, first all parts of
/// axis 0, then those of axis 1 and axis 2.
pub(in crate::kdtree) fn parts_of_events(
    references: &[Reference],
    threads: &impl ForkJoin,
) -> Vec<Vec<Event>> {
    let part_count = (references.len() / SORT_LEN_MIN)
        .clamp(1, threads.part_count().max(1))
        .next_power_of_two();
    let part_len = references.len().div_ceil(part_count).max(1);
    let mut parts = vec![Vec::new(); 3 * part_count];
    threads.for_each(&mut parts, |index, events| {
        let (axis, first) = (index / part_count, index % part_count * part_len);
        let first = first.min(references.len());
        let end = references.len().min(first + part_len);
        *events = Vec::with_capacity(2 * (end - first));
        for (index, reference) in (first..end).zip(&references[first..end]) {
            reference.push_events(index as u32, axis, events);
        }
    });
    parts
}

/// Sorts and merges the parts to one list per axis. Also returns memory that is no longer needed.
pub(in crate::kdtree) fn sorted(
    mut parts: Vec<Vec<Event>>,
    threads: &impl ForkJoin,
) -> ([Vec<Event>; 3], Vec<Vec<Event>>) {
    // Each part of each axis is sorted separately. Then neighbouring parts are merged until one
    // list per axis is left.
    let mut spare = vec![Vec::new(); parts.len()];
    let mut jobs: Vec<_> = parts.iter_mut().zip(&mut spare).collect();
    threads.for_each(&mut jobs, |_, (events, spare)| event::sort(events, spare));
    while parts.len() > 3 {
        let mut pairs: Vec<[Vec<Event>; 2]> = parts
            .chunks_exact_mut(2)
            .map(|pair| [0, 1].map(|index: usize| std::mem::take(&mut pair[index])))
            .collect();
        threads.for_each(&mut pairs, |_, [first, second]| {
            *first = event::merge(first, second);
        });
        parts = pairs.into_iter().map(|[merged, _]| merged).collect();
    }
    let events = [0, 1, 2].map(|axis: usize| std::mem::take(&mut parts[axis]));
    (events, spare)
}

/// Returns the sorted events of all axes.
#[cfg(test)]
pub(in crate::kdtree) fn events_of(
    references: &[Reference],
    threads: &impl ForkJoin,
) -> [Vec<Event>; 3] {
    sorted(parts_of_events(references, threads), threads).0
}
