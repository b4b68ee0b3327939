//! How long a waiting thread spins before it sleeps, learnt from the gaps that it saw.

use std::time::Duration;

/// Spinning pays up to the price of a wake-up from the kernel; on virtual machines that is about 50 µs.
const SPIN_NS_MAX: u64 = 60_000;
/// Never less than this: a neighbour that is just about to hand over work takes a microsecond or two.
const SPIN_NS_MIN: u64 = 2_000;
/// A gap that ended in the kernel contains the wake-up itself: up to this much still counts as short.
const SHORT_NS_MAX: u64 = 2 * SPIN_NS_MAX;

/// The spin limit of one waiting thread: the full price of a wake-up while gaps are short, little while they are long.
///
/// Every gap longer than spinning can pay for halves the limit, a short one restores it. Cost: a few instructions per
/// gap, no shared memory.
#[derive(Clone, Debug)]
pub struct SpinBudget {
    spin_ns: u64,
}

impl Default for SpinBudget {
    fn default() -> Self {
        Self {
            spin_ns: SPIN_NS_MAX,
        }
    }
}

impl SpinBudget {
    /// How long to spin in the wait that comes.
    pub fn spin(&self) -> Duration {
        Duration::from_nanos(self.spin_ns)
    }

    /// Learns from a wait that took `gap` in all.
    pub fn observe(&mut self, gap: Duration) {
        self.spin_ns = if gap.as_nanos() <= u128::from(SHORT_NS_MAX) {
            SPIN_NS_MAX
        } else {
            (self.spin_ns / 2).max(SPIN_NS_MIN)
        };
    }
}
