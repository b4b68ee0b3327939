//! The price of a wake-up by the kernel, learnt from the wake-ups of this process.
//!
//! A thread that wakes a sleeper stores the time, and the sleeper computes the difference when it
//! runs: the time from the decision to wake until the sleeper runs. Cheap wake-ups have more weight
//! than expensive ones. A wake-up may be expensive for reasons other than the kernel (no CPU was
//! free, or the machine gave it to other programs), and spinning would not save that time.

use std::time::Duration;

/// The price before the first sample: typical for virtual machines, to within a factor of two.
const PRICE_NS_FIRST: u32 = 50_000;
#[cfg(not(any(loom, shuttle)))]
const PRICE_NS: std::ops::RangeInclusive<u32> = 2_000..=100_000;

/// Returns the time that the kernel recently needed to resume a sleeping thread: 2 to 100 µs.
pub fn wake_price() -> Duration {
    Duration::from_nanos(price_ns())
}

/// Returns the [`wake_price`] in nanoseconds.
#[inline]
pub(super) fn price_ns() -> u64 {
    process::price_ns().into()
}

/// Learns from a wake-up that took `sample_ns` nanoseconds.
pub(super) fn observe(sample_ns: u32) {
    process::observe(sample_ns);
}

/// Returns the price after one more sample. It moves down by a quarter of the difference, and up by
/// a sixteenth.
#[cfg(not(any(loom, shuttle)))]
fn after(price_ns: u32, sample_ns: u32) -> u32 {
    let sample_ns = sample_ns.clamp(*PRICE_NS.start(), *PRICE_NS.end());
    if sample_ns < price_ns {
        price_ns - (price_ns - sample_ns).div_ceil(4)
    } else {
        price_ns + (sample_ns - price_ns) / 16
    }
}

#[cfg(not(any(loom, shuttle)))]
mod process {
    use crate::prim::{AtomicU32, Relaxed};

    /// The price of the whole process, because it depends on the kernel and not on the thread.
    static PRICE_NS: AtomicU32 = AtomicU32::new(super::PRICE_NS_FIRST);

    pub(super) fn price_ns() -> u32 {
        // Relaxed, here and below: an independent number. Of two simultaneous samples one may be
        // lost.
        PRICE_NS.load(Relaxed)
    }

    pub(super) fn observe(sample_ns: u32) {
        PRICE_NS.store(super::after(price_ns(), sample_ns), Relaxed);
    }
}

/// Models have no clock, so the price is constant there.
#[cfg(any(loom, shuttle))]
mod process {
    pub(super) fn price_ns() -> u32 {
        super::PRICE_NS_FIRST
    }

    pub(super) fn observe(_sample_ns: u32) {}
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn the_price_settles_where_the_samples_are() {
        let learn = |from, sample_ns| (0..200).fold(from, |price, _| after(price, sample_ns));
        for sample_ns in [3_000, 20_000, 90_000] {
            let settled = [2_000, 50_000, 100_000].map(|from| learn(from, sample_ns));
            assert!(
                settled.iter().all(|price| price.abs_diff(sample_ns) < 16),
                "{settled:?} for {sample_ns}"
            );
        }
    }

    #[test]
    fn the_price_stays_between_its_bounds() {
        let learn = |sample_ns| (0..200).fold(PRICE_NS_FIRST, |price, _| after(price, sample_ns));
        assert_eq!(learn(0), *PRICE_NS.start());
        assert!(*PRICE_NS.end() - learn(u32::MAX) < 16);
    }

    #[test]
    fn one_late_wake_up_changes_little() {
        assert!(after(5_000, u32::MAX) < 11_000);
        assert_eq!(after(45_000, 5_000), 35_000);
    }
}
