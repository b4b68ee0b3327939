//! Times with a total order.

use std::cmp::Ordering;

/// The number of nanoseconds since the start. It is never NaN.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment(pub(super) f64);

impl Ord for Moment {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Moment {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Moment {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Moment {}
