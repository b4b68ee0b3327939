//! The spin budget: how long a waiting thread spins before it sleeps, learnt from earlier gaps.

use std::sync::OnceLock;
use std::time::Duration;

use super::price::{price_ns, wake_price};
use super::{Monitor, WaitCell, Waited, Way};
use crate::clock::Instant;
use crate::prim::{LIGHT, process_cpu_count};

/// The shortest spin limit where spinning is useful at all: a neighbour that is about to hand over
/// work takes a microsecond or two.
const SPIN_MIN: Duration = Duration::from_micros(2);
/// The maximum number of times that the limit is halved.
const HALVINGS_MAX: u32 = 5;

/// The number of checks at the start of a wait, without a pause: about a microsecond if a check is
/// one load.
const LOOKS_FIRST: u32 = if LIGHT { 1 } else { 1_000 };

/// The number of waits without spinning after a wait in which the spinning thread lost its CPU.
const WAITS_WITHOUT: u32 = 64;

/// The spin limit of one waiting thread.
///
/// The limit is the full price of a wake-up while gaps are short, little while gaps are long, and
/// zero where other threads want the CPU. Every gap that is too long to pay for spinning halves the
/// limit, and a short gap restores it. Other threads want the CPU if this process may use only one,
/// and for some waits after the spinning thread lost its CPU.
///
/// Costs a few instructions per gap. The only shared memory is the price of a wake-up, which is
/// read.
#[derive(Clone, Debug)]
pub struct SpinBudget {
    halvings: u32,
    /// The price of a sleep, in wake-ups.
    wakes_per_sleep: u32,
    /// The number of following waits that do not spin.
    without: u32,
}

impl Default for SpinBudget {
    fn default() -> Self {
        Self::of_price(1)
    }
}

impl SpinBudget {
    /// Returns the budget of a thread that never spins, because threads that have work want its
    /// CPU.
    pub const fn none() -> Self {
        Self::of_price(0)
    }

    /// Returns the budget of a thread for which a sleep costs as much as `wakes_per_sleep`
    /// wake-ups. With 0, it never spins.
    pub const fn of_price(wakes_per_sleep: u32) -> Self {
        Self {
            halvings: 0,
            wakes_per_sleep,
            without: 0,
        }
    }

    /// Returns the time to spin in the next wait.
    pub fn spin(&self) -> Duration {
        if self.without > 0 || self.wakes_per_sleep == 0 || has_one_cpu() {
            return Duration::ZERO;
        }
        self.spin_at(wake_price())
    }

    /// Returns the budget of [`spin`](Self::spin) if a wake-up costs `wake_price`.
    fn spin_at(&self, wake_price: Duration) -> Duration {
        let price = wake_price * self.wakes_per_sleep;
        (price / (1 << self.halvings)).max(SPIN_MIN)
    }

    /// Learns from a wait that took `gap` in total.
    ///
    /// A gap that ended in the kernel includes the wake-up itself. Therefore a gap of up to twice
    /// the price counts as short.
    #[inline]
    pub fn observe(&mut self, gap: Duration) {
        if !gap.is_zero() || self.without > 0 {
            return self.observe_wait(gap);
        }
        self.halvings = 0;
    }

    fn observe_wait(&mut self, gap: Duration) {
        self.without = self.without.saturating_sub(1);
        // Integer arithmetic only, because this runs for each message.
        let limit_ns = 2 * u64::from(self.wakes_per_sleep) * price_ns();
        self.halvings = if gap.as_nanos() <= limit_ns.into() {
            0
        } else {
            (self.halvings + 1).min(HALVINGS_MAX)
        };
    }

    /// Waits in `cell`, which the caller owns, until `done`, and learns from the wait. See
    /// [`WaitCell::wait_until`].
    pub fn wait_until(&mut self, cell: &WaitCell, way: Way, done: impl Fn() -> bool) {
        if done() {
            return;
        }
        let spin = self.spin();
        // A short gap takes hardly longer than reading a clock, so no clock is read in it.
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

/// Detects the properties of the machine that waiting depends on, and caches them.
///
/// `cpu_count` is the number of CPUs that the threads of this process may use together.
///
/// Call it in a thread before it starts other threads. Otherwise the first wait detects the
/// properties, which reads some files. If another thread calls fork(2) during that time, the child
/// process inherits a half-finished initialisation that no thread completes.
pub fn prepare_waits(cpu_count: usize) {
    let _kept = HAS_ONE_CPU.get_or_init(|| is_one(cpu_count));
    let _kept = Monitor::detect();
}

static HAS_ONE_CPU: OnceLock<bool> = OnceLock::new();

/// Returns true if this process may use only one CPU. A spinning thread would then block the thread
/// that it waits for.
fn has_one_cpu() -> bool {
    *HAS_ONE_CPU.get_or_init(|| is_one(process_cpu_count()))
}

fn is_one(cpu_count: usize) -> bool {
    // Miri runs one thread at a time, and does not know the CPUs of other threads.
    cfg!(miri) || cpu_count == 1
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_pays_for_two_wake_ups_spins_twice_as_long() {
        let price = Duration::from_micros(10);
        assert_eq!(SpinBudget::default().spin_at(price), price);
        assert_eq!(SpinBudget::of_price(2).spin_at(price), 2 * price);
    }

    #[test]
    fn a_thread_without_a_budget_never_spins() {
        let mut budget = SpinBudget::none();
        for gap in [
            Duration::ZERO,
            Duration::from_nanos(1),
            Duration::from_secs(1),
        ] {
            budget.observe(gap);
            assert_eq!(budget.spin(), Duration::ZERO);
        }
    }
}
