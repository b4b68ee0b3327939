//! The clock without a counter: every reading is one of the system.

/// Returns `None`, because there is no counter.
#[inline]
pub(super) fn read_ns() -> Option<u64> {
    None
}

/// Returns false, because there is no counter.
#[cfg(not(any(loom, shuttle)))]
#[inline]
pub(super) fn is_used() -> bool {
    false
}

/// Does nothing, because there is no counter.
#[inline]
pub(super) fn learn(_now_ns: u64) {}

/// Returns nanoseconds.
#[inline]
pub(super) fn ticks() -> u64 {
    crate::prim::clock_ns()
}

/// Returns true, because nanoseconds are a time.
pub(super) fn is_clock_of_kernel() -> bool {
    true
}
