//! The clock of the runtime: that of the system, or the model's own in a model.

use std::time::Duration;

pub use raddle_sync::prim::Instant;

/// Converts a short time to nanoseconds.
#[inline]
pub(crate) fn nanoseconds(time: Duration) -> f32 {
    time.as_secs() as f32 * 1e9 + time.subsec_nanos() as f32
}

/// Returns the time in nanoseconds that two readings of the clock add to a measured time. It is
/// measured once.
#[cfg(not(any(loom, shuttle)))]
#[inline]
pub(crate) fn reading_ns() -> f32 {
    static READING_NS: std::sync::OnceLock<f32> = std::sync::OnceLock::new();
    *READING_NS.get_or_init(|| {
        let gap = |_| {
            let start = Instant::now();
            nanoseconds(start.elapsed())
        };
        (0..100).map(gap).fold(f32::INFINITY, f32::min)
    })
}

/// Returns 0 in a model, in which no value may be kept for the next execution.
#[cfg(any(loom, shuttle))]
pub(crate) fn reading_ns() -> f32 {
    0.0
}
