//! A loop that collects what its body returns.

use std::ops::Range;

use super::steps::run_piece;

/// Calls `body` with every index of `range` and collects the results in the order of the indices.
///
/// Cost: as [`for_each`](super::for_each), one allocation, and a copy of what other workers made.
///
/// # Panics
/// With the panic of some body. Results that were made are dropped then: a destructor that panics
/// as well ends the process, as it does without Raddle.
///
/// # Examples
/// ```
/// let squares = raddle_runtime::map(0..5, |index| index * index);
/// assert_eq!(squares, [0, 1, 4, 9, 16]);
/// ```
pub fn map<T: Send>(range: Range<usize>, body: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut results = Vec::with_capacity(range.len());
    run_piece(&mut results, range, move |results, range| {
        results.extend(range.map(&body))
    });
    results
}
