//! The clock of the runtime, for short times that are measured often.
//!
//! It shows the monotonic clock of the system. Where the kernel allows, it reads the time-stamp
//! counter of the CPU, which takes 10 ns instead of 25 ns (AMD EPYC, virtual machine). In a model,
//! it is the model's own clock.

use std::ops::{Add, Sub};
use std::time::Duration;

use crate::prim::clock_ns;
#[cfg(not(any(loom, shuttle)))]
use crate::prim::{AtomicU32, Relaxed};

#[cfg(all(
    target_arch = "x86_64",
    target_os = "linux",
    not(any(loom, shuttle, miri))
))]
mod counter;
#[cfg(not(all(
    target_arch = "x86_64",
    target_os = "linux",
    not(any(loom, shuttle, miri))
)))]
#[path = "clock/no_counter.rs"]
mod counter;

/// Returns the time-stamp counter of the CPU; where there is none, nanoseconds. Cost: about 10 ns.
#[inline]
pub fn ticks() -> u64 {
    counter::ticks()
}

/// Returns true if the counters of all CPUs agree and run at a constant rate: the system itself
/// reads the time from them. Without a counter, [`ticks`] are nanoseconds, and this is true.
pub fn ticks_are_time() -> bool {
    counter::is_clock_of_kernel()
}

/// The bits of the time that two readings add, in nanoseconds: without the counter, and with it.
/// Zero if it has not been measured yet.
#[cfg(not(any(loom, shuttle)))]
static READING_NS: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];

/// A moment on a clock that all threads share.
///
/// Two moments that different threads read within a microsecond may have the wrong order. The time
/// from the later to the earlier one is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant {
    ns: u64,
}

impl Instant {
    /// Returns the current moment.
    #[inline]
    pub fn now() -> Self {
        Self {
            ns: counter::read_ns().unwrap_or_else(read_system_ns),
        }
    }

    /// Returns the time since this moment.
    #[inline]
    pub fn elapsed(&self) -> Duration {
        Self::now() - *self
    }

    /// Returns the time that two readings add to what they measure, in nanoseconds. Measures it
    /// once with the counter and once without, which takes 2 µs.
    #[cfg(not(any(loom, shuttle)))]
    #[inline]
    pub fn reading_ns() -> f32 {
        let measured = &READING_NS[usize::from(counter::is_used())];
        // Relaxed: a thread that sees zero measures again.
        match f32::from_bits(measured.load(Relaxed)) {
            0.0 => measure_reading(measured),
            reading_ns => reading_ns,
        }
    }

    /// Returns 0 in a model, in which no value may be kept for the next execution.
    #[cfg(any(loom, shuttle))]
    pub fn reading_ns() -> f32 {
        0.0
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    #[inline]
    fn add(self, time: Duration) -> Self {
        // 2^64 nanoseconds are five hundred years.
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Self {
            ns: self.ns.saturating_add(ns),
        }
    }
}

impl Sub for Instant {
    type Output = Duration;

    #[inline]
    fn sub(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.ns.saturating_sub(earlier.ns))
    }
}

/// Reads the clock of the system, and lets the counter learn from it.
#[cold]
fn read_system_ns() -> u64 {
    let ns = clock_ns();
    counter::learn(ns);
    ns
}

/// Measures the time that two readings add, and stores it in `measured`.
#[cfg(not(any(loom, shuttle)))]
#[cold]
fn measure_reading(measured: &AtomicU32) -> f32 {
    let gap_ns = |_| {
        let start = Instant::now();
        start.elapsed().subsec_nanos() as f32
    };
    let reading_ns = (0..100).map(gap_ns).fold(f32::INFINITY, f32::min);
    // Relaxed: it publishes nothing else.
    measured.store(reading_ns.to_bits(), Relaxed);
    reading_ns
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::prim::thread;

    /// The error of a reading that the counter may have.
    const ERROR_NS: u64 = 20_000;

    #[test]
    fn every_reading_lies_between_two_of_the_system() {
        let read = || {
            // Long enough for three rates.
            let end_ns = clock_ns() + if cfg!(miri) { 0 } else { 500_000_000 };
            loop {
                let before_ns = clock_ns();
                let now = Instant::now();
                let after_ns = clock_ns();
                assert!(now.ns + ERROR_NS >= before_ns, "{now:?} before {before_ns}");
                assert!(now.ns <= after_ns + ERROR_NS, "{now:?} after {after_ns}");
                if after_ns >= end_ns {
                    return;
                }
            }
        };
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(read);
            }
        });
    }

    #[test]
    fn the_time_to_an_earlier_moment_is_zero() {
        let (earlier, later) = (Instant { ns: 3 }, Instant { ns: 5 });
        assert_eq!(later - earlier, Duration::from_nanos(2));
        assert_eq!(earlier - later, Duration::ZERO);
    }
}
