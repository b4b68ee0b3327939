//! What it costs to be woken by the kernel, learnt from the wake-ups of this process.
//!
//! Whoever wakes a sleeper notes the time, and the sleeper subtracts it from its own: from the decision to wake until it runs. Cheap
//! wake-ups count for more than dear ones, since what makes one dear beside the kernel (no CPU was free, the machine gave it to others) is
//! not what spinning would save.

use std::time::Duration;

/// The price before anything is known: what it is on virtual machines, give or take a factor of two.
const PRICE_NS_FIRST: u32 = 50_000;
#[cfg(not(any(loom, shuttle)))]
const PRICE_NS: std::ops::RangeInclusive<u32> = 2_000..=100_000;

/// What the kernel needs to let a sleeping thread run again, as seen lately; between 2 and 100 µs.
pub fn wake_price() -> Duration {
    Duration::from_nanos(price_ns())
}

/// As [`wake_price`], in nanoseconds.
#[inline]
pub(super) fn price_ns() -> u64 {
    process::price_ns().into()
}

/// A wake-up took so many nanoseconds.
pub(super) fn observe(sample_ns: u32) {
    process::observe(sample_ns);
}

/// The price after one more sample: a quarter of the way down, a sixteenth of the way up.
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

    /// Of the whole process: threads come and go, the kernel stays.
    static PRICE_NS: AtomicU32 = AtomicU32::new(super::PRICE_NS_FIRST);

    pub(super) fn price_ns() -> u32 {
        // Relaxed, here and below: a number on its own; of two samples at once one may get lost.
        PRICE_NS.load(Relaxed)
    }

    pub(super) fn observe(sample_ns: u32) {
        PRICE_NS.store(super::after(price_ns(), sample_ns), Relaxed);
    }
}

/// In a model no time is known.
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
