//! Consecutive parts of lists and slices.

use std::ops::Range;

/// Cuts a list into consecutive parts of about the same length.
pub(super) fn parts(len: usize, part_count: usize) -> impl Iterator<Item = Range<usize>> {
    (0..part_count).map(move |part| len * part / part_count..len * (part + 1) / part_count)
}

/// Removes the first elements from a slice and returns them.
pub(super) fn take<'a, T>(slice: &mut &'a mut [T], len: usize) -> &'a mut [T] {
    let (first, rest) = std::mem::take(slice).split_at_mut(len);
    *slice = rest;
    first
}
