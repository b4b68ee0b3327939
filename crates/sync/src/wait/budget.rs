//! How long a waiting thread spins before it sleeps, learnt from the gaps that it saw.

use std::sync::OnceLock;
use std::time::Duration;

use super::price::{price_ns, wake_price};
use super::{Monitor, WaitCell, Waited, Way};
use crate::prim::{Instant, LIGHT, process_cpu_count};

/// Never less than this where spinning is of use: a neighbour that is just about to hand over work takes a microsecond or two.
const SPIN_MIN: Duration = Duration::from_micros(2);
/// Halvings of the price beyond which there are no more.
const HALVINGS_MAX: u32 = 5;

/// Looks in a row, without a pause, before anything else: about a microsecond where a look is one load.
const LOOKS_FIRST: u32 = if LIGHT { 1 } else { 1_000 };

/// Waits without spinning after one in which the CPU was taken from who spun.
const WAITS_WITHOUT: u32 = 64;

/// The spin limit of one waiting thread: the full price of a wake-up while gaps are short, little while they are long, nothing where
/// others want the CPU.
///
/// Every gap longer than spinning can pay for halves the limit, a short one restores it. Others want the CPU where there is but one for this
/// process, and for a while after it was taken from who spun. Cost: a few instructions per gap, no shared memory but the price of a
/// wake-up, which is read.
#[derive(Clone, Debug)]
pub struct SpinBudget {
    halvings: u32,
    /// Wake-ups that a sleep costs.
    wakes_per_sleep: u32,
    /// Waits that are still to come without spinning.
    without: u32,
}

impl Default for SpinBudget {
    fn default() -> Self {
        Self::of_price(1)
    }
}

impl SpinBudget {
    /// Returns the budget of a thread for which a sleep costs as much as `wakes_per_sleep`
    /// wake-ups.
    pub const fn of_price(wakes_per_sleep: u32) -> Self {
        Self {
            halvings: 0,
            wakes_per_sleep,
            without: 0,
        }
    }

    /// How long to spin in the wait that comes.
    pub fn spin(&self) -> Duration {
        if self.without > 0 || has_one_cpu() {
            return Duration::ZERO;
        }
        self.spin_at(wake_price())
    }

    /// As [`spin`](Self::spin), when a wake-up costs `wake_price`.
    fn spin_at(&self, wake_price: Duration) -> Duration {
        let price = wake_price * self.wakes_per_sleep;
        (price / (1 << self.halvings)).max(SPIN_MIN)
    }

    /// Learns from a wait that took `gap` in all.
    ///
    /// A gap that ended in the kernel contains the wake-up itself: up to twice its price still counts as short.
    #[inline]
    pub fn observe(&mut self, gap: Duration) {
        if !gap.is_zero() || self.without > 0 {
            return self.observe_wait(gap);
        }
        self.halvings = 0;
    }

    fn observe_wait(&mut self, gap: Duration) {
        self.without = self.without.saturating_sub(1);
        // In plain numbers: this is done for each message.
        let limit_ns = 2 * u64::from(self.wakes_per_sleep) * price_ns();
        self.halvings = if gap.as_nanos() <= limit_ns.into() {
            0
        } else {
            (self.halvings + 1).min(HALVINGS_MAX)
        };
    }

    /// Waits in `cell`, which the caller owns, until `done`, and learns from it. See [`WaitCell::wait_until`].
    pub fn wait_until(&mut self, cell: &WaitCell, way: Way, done: impl Fn() -> bool) {
        if done() {
            return;
        }
        let spin = self.spin();
        // A short gap takes hardly longer than the reading of a clock: none is read in it.
        if !way.limit(spin).is_zero() && (0..LOOKS_FIRST).any(|_| done()) {
            return self.observe(Duration::ZERO);
        }
        let start = Instant::now();
        let waited = cell.wait_until(way, spin, done);
        self.observe(start.elapsed());
        if waited == Waited::Interrupted {
            self.without = WAITS_WITHOUT;
        }
    }
}

/// Finds out what waits ask of the machine, and keeps it.
///
/// A thread that is about to start others calls it. Otherwise the first wait finds it out, and a
/// process that fork(2) makes meanwhile has a copy in which nobody ends that. Cost: some files are
/// read, the first time.
pub fn prepare_waits() {
    let _kept = (has_one_cpu(), Monitor::detect());
}

/// True when this process may use one CPU: whoever spins there keeps away what it waits for.
fn has_one_cpu() -> bool {
    static HAS_ONE_CPU: OnceLock<bool> = OnceLock::new();
    // Miri runs one thread at a time, and knows no CPUs of other threads.
    *HAS_ONE_CPU.get_or_init(|| cfg!(miri) || process_cpu_count() == 1)
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn who_pays_for_two_wake_ups_spins_twice_as_long() {
        let price = Duration::from_micros(10);
        assert_eq!(SpinBudget::default().spin_at(price), price);
        assert_eq!(SpinBudget::of_price(2).spin_at(price), 2 * price);
    }
}
