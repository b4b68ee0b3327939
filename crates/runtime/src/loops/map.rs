//! A loop that collects the results of its body.

use std::ops::Range;

use super::steps::run_piece;

/// Calls `body` with every index of `range` and collects the results in the order of the indices.
///
/// Costs one allocation more than [`for_each`](super::for_each), and copies the results of other
/// workers.
///
/// # Panics
/// With the panic of one of the bodies. Results that exist by then are dropped. If a destructor
/// panics as well, the process ends, as it does without Raddle.
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
