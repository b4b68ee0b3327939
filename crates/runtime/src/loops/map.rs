//! A loop that collects what its body returns.

use std::ops::Range;

use super::on_worker;
use super::pace::Pace;
use super::piece::Piece;
use super::stop::Stop;
use crate::fork::{Offered, current_worker, offer_during};

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
    if !range.is_empty() {
        let stop = Stop::new();
        on_worker(|| extend(&mut results, range, Pace::start(), &stop, &body));
    }
    results
}

/// Appends the results of `range`; parts that others make come in vectors of their own. Appends fewer once a body has panicked.
fn extend<T: Send>(
    results: &mut Vec<T>,
    mut range: Range<usize>,
    mut pace: Pace,
    stop: &Stop,
    body: &(impl Fn(usize) -> T + Sync),
) {
    let worker = current_worker().expect("loops run on workers");
    let mut is_first = true;
    let others = |range: Range<usize>, pace| {
        let mut others = Vec::with_capacity(range.len());
        extend(&mut others, range, pace, stop, body);
        others
    };
    loop {
        let len = range.len();
        if len == 0 || (pace.may_take_long() && stop.is_set()) {
            return;
        }
        if let Some(cut) = pace.cut(len, worker) {
            let (left, right) = range.split(cut.left);
            let left = |pace| extend(results, left, pace, stop, body);
            let ((), mut made) = pace.split(cut, worker, left, |pace| others(right, pace));
            results.append(&mut made);
            return;
        }
        let Some(mut chunk) = pace.begin_chunk(len, worker) else {
            stop.unless_panics(|| results.extend(range.map(body)));
            return;
        };
        loop {
            let count = chunk.step();
            let (step, rest) = range.split(count);
            let is_first_step = std::mem::take(&mut is_first);
            let run_step = || {
                if is_first_step {
                    worker.call_watch();
                }
                stop.unless_panics(|| results.extend(step.map(body)));
            };
            let offered = if rest.is_empty() || worker.is_alone() {
                (run_step(), Offered::Kept(rest))
            } else {
                offer_during(rest, |rest| others(rest, Pace::start()), run_step)
            };
            match offered {
                ((), Offered::Kept(rest)) => range = rest,
                ((), Offered::Taken(mut made)) => {
                    results.append(&mut made);
                    return;
                }
            }
            if chunk.is_over(count, worker) || stop.is_set() {
                break;
            }
        }
        pace.end_chunk(&chunk);
        if stop.is_set() {
            return;
        }
    }
}
