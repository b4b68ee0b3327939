//! A loop that collects what its body returns.

use std::ops::Range;

use super::on_worker;
use super::pace::Pace;
use super::piece::Piece;
use crate::fork::current_worker;

/// Calls `body` with every index of `range` and collects the results in the order of the indices.
///
/// Cost: as [`for_each`](super::for_each), one allocation, and a copy of what other workers made.
///
/// # Panics
/// With the panic of some body.
///
/// # Examples
/// ```
/// let squares = raddle_runtime::map(0..5, |index| index * index);
/// assert_eq!(squares, [0, 1, 4, 9, 16]);
/// ```
pub fn map<T: Send>(range: Range<usize>, body: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut results = Vec::with_capacity(range.len());
    if !range.is_empty() {
        on_worker(|| extend(&mut results, range, Pace::start(), &body));
    }
    results
}

/// Appends the results of `range`; the halves that others make come in vectors of their own.
fn extend<T: Send>(
    results: &mut Vec<T>,
    mut range: Range<usize>,
    mut pace: Pace,
    body: &(impl Fn(usize) -> T + Sync),
) {
    let worker = current_worker().expect("loops run on workers");
    loop {
        let len = range.len();
        if len == 0 {
            return;
        }
        if let Some(cut) = pace.cut(len, worker) {
            let (left, right) = range.split(cut.left);
            let left = |pace| extend(results, left, pace, body);
            let right = |pace| {
                let mut others = Vec::with_capacity(right.len());
                extend(&mut others, right, pace, body);
                others
            };
            let ((), mut others) = pace.split(cut, worker, left, right);
            results.append(&mut others);
            return;
        }
        let Some(mut chunk) = pace.begin_chunk(len, worker) else {
            results.extend(range.map(body));
            return;
        };
        loop {
            let count = chunk.step();
            let (step, rest) = range.split(count);
            results.extend(step.map(body));
            range = rest;
            if chunk.is_over(count, worker) {
                break;
            }
        }
        pace.end_chunk(&chunk);
    }
}
