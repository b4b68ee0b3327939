//! How long a waiting thread spins before it sleeps, learnt from the gaps that it saw.

use std::time::Duration;

/// Spinning pays up to the price of a wake-up from the kernel; on virtual machines that is about 50 µs.
const SPIN_NS_MAX: u64 = 60_000;
/// Never less than this: a neighbour that is just about to hand over work takes a microsecond or two.
const SPIN_NS_MIN: u64 = 2_000;
/// A gap that ended in the kernel contains the wake-up itself: up to this much still counts as short.
const SHORT_NS_MAX: u64 = 2 * SPIN_NS_MAX;

/// The spin limit of one waiting thread: twice the gap that it usually sees, or little when gaps are long.
///
/// Holds an exponential average over about eight gaps, where a gap longer than spinning can ever pay counts as
/// a miss. Cost: a few instructions per gap, no shared memory.
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
        let gap_ns = u64::try_from(gap.as_nanos()).unwrap_or(u64::MAX);
        if gap_ns <= SHORT_NS_MAX {
            let aim = (2 * gap_ns).clamp(SPIN_NS_MIN, SPIN_NS_MAX);
            // Up at once, since sleeping was the dearer mistake; down slowly.
            self.spin_ns = if aim > self.spin_ns {
                aim
            } else {
                (7 * self.spin_ns + aim) / 8
            };
        } else {
            self.spin_ns = (self.spin_ns * 3 / 4).max(SPIN_NS_MIN);
        }
    }
}
