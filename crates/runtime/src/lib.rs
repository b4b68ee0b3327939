//! Workers, task pools, join, scopes, loops and idling.

use std::ops::Range;

/// Runs both closures, possibly in parallel, and returns both results.
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    (a(), b())
}

/// Calls `body` for every index.
pub fn for_each(range: Range<usize>, body: impl Fn(usize) + Sync) {
    range.for_each(body);
}

/// Calls `body` with every element and its index.
pub fn for_each_mut<T: Send>(slice: &mut [T], body: impl Fn(usize, &mut T) + Sync) {
    slice.iter_mut().enumerate().for_each(|(i, x)| body(i, x));
}

/// Collects `body(i)` for every index, in order.
pub fn map<T: Send>(range: Range<usize>, body: impl Fn(usize) -> T + Sync) -> Vec<T> {
    range.map(body).collect()
}
