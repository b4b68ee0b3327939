//! The clock of the runtime: that of the system, or the model's own in a model.

use std::time::Duration;

pub use raddle_sync::clock::Instant;

/// Converts a short time to nanoseconds.
#[inline]
pub(crate) fn nanoseconds(time: Duration) -> f32 {
    time.as_secs() as f32 * 1e9 + time.subsec_nanos() as f32
}
