//! Loops that call a body for every item.

use std::ops::Range;

use super::piece::{Chunks, Elements, Piece};
use super::steps::run_piece;

/// Calls `body` with every index of `range`, on all workers that have time.
///
/// The calls have no order. Cost: that of the bodies, and about 1 % more if they are short. Does
/// not allocate.
///
/// # Panics
/// With the panic of one of the bodies. Items that have not begun by then are skipped, except for
/// items that other workers run within the next microseconds.
///
/// # Examples
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// let sum = AtomicUsize::new(0);
/// raddle_runtime::for_each(0..100, |index| {
///     sum.fetch_add(index, Ordering::Relaxed);
/// });
/// assert_eq!(sum.into_inner(), 4950);
/// ```
#[inline]
pub fn for_each(range: Range<usize>, body: impl Fn(usize) + Sync) {
    each(range, move |range: Range<usize>| range.for_each(&body));
}

/// Calls `body` with every element of `slice` and its index.
///
/// # Panics
/// As for [`for_each`].
///
/// # Examples
/// ```
/// let mut squares = vec![0; 1000];
/// raddle_runtime::for_each_mut(&mut squares, |index, square| *square = index * index);
/// assert_eq!(squares[31], 961);
/// ```
#[inline]
pub fn for_each_mut<T: Send>(slice: &mut [T], body: impl Fn(usize, &mut T) + Sync) {
    let elements = Elements { first: 0, slice };
    each(elements, move |elements: Elements<'_, T>| {
        // A bounded range, which zips into one counted loop.
        let indices = elements.first..elements.first + elements.slice.len();
        for (index, element) in indices.zip(elements.slice) {
            body(index, element);
        }
    });
}

/// Cuts `slice` into chunks of `chunk_len` elements, and calls `body` with every chunk and its
/// index, which begins at 0.
///
/// The last chunk may be shorter.
///
/// # Panics
/// As for [`for_each`], and if `chunk_len` is 0.
///
/// # Examples
/// ```
/// let mut picture = vec![0; 7 * 3];
/// raddle_runtime::for_each_chunk_mut(&mut picture, 7, |row, pixels| pixels.fill(row));
/// assert_eq!(picture[20], 2);
/// ```
pub fn for_each_chunk_mut<T: Send>(
    slice: &mut [T],
    chunk_len: usize,
    body: impl Fn(usize, &mut [T]) + Sync,
) {
    assert!(
        chunk_len > 0,
        "chunk_len is 0: a chunk has at least one element"
    );
    let chunks = Chunks {
        first: 0,
        chunk_len,
        slice,
    };
    each(chunks, move |chunks: Chunks<'_, T>| {
        let first = chunks.first;
        for (offset, chunk) in chunks.slice.chunks_mut(chunk_len).enumerate() {
            body(first + offset, chunk);
        }
    });
}

/// Calls `body` with parts of `piece`, on all workers that have time.
///
/// Together, the parts are the whole piece. No part is empty. The calls have no order.
///
/// Use this function for your own collections, and for bodies that process several items in a row.
/// The cost of a part beyond its items arises about once per microsecond, or once per item if
/// items take longer.
///
/// # Panics
/// As for [`for_each`].
///
/// # Examples
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// let sum = AtomicUsize::new(0);
/// raddle_runtime::for_each_piece(0..100, |part: std::ops::Range<usize>| {
///     sum.fetch_add(part.sum(), Ordering::Relaxed);
/// });
/// assert_eq!(sum.into_inner(), 4950);
/// ```
#[inline]
pub fn for_each_piece<P: Piece>(piece: P, body: impl Fn(P) + Sync) {
    each(piece, body);
}

#[inline]
fn each<P: Piece>(piece: P, run: impl Fn(P) + Sync) {
    run_piece(&mut (), piece, move |(), piece| run(piece));
}
