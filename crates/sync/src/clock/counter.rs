//! The time-stamp counter of x86-64 as a clock. Its rate is learnt while the program runs.
//!
//! A calibration at the start of the program would take 10 ms or more. Here, a reading of the
//! system's clock is noted together with the counter: a pair. A pair at least 20 ms later gives the
//! rate, and from then on the counter alone is read. The next pair, and a better rate, follow after
//! four times the time in which the rate was measured, or after 2^32 ticks (1 to 4 s).
//!
//! # Invariants
//! 1. The counter is used only while the kernel itself reads the time from it. The kernel checks
//!    that all CPUs agree, and stops using a counter that proves unreliable.
//! 2. The counter differs from the system's clock by at most eight times the error of a pair:
//!    usually less than a microsecond, and at most 20 µs.
//! 3. A counter that jumps (when the machine wakes up, or a virtual machine moves) is wrong for at
//!    most 2^32 ticks. Then the new rate differs from the last one, and both are dropped.
//!
//! # Source
//! Intel 64 and IA-32 Architectures Software Developer's Manual, volume 3B, 19.17 (invariant TSC);
//! Linux, `arch/x86/kernel/tsc.c` and `tsc_sync.c` (what the kernel checks).

use std::arch::x86_64::_rdtsc;

use crate::latest::Latest;
use crate::prim::{AtomicU64, Relaxed, clock_ns};

/// The minimum time from which a rate is learnt.
const LEARNING_NS: u64 = 20_000_000;
/// The maximum number of ticks between the two readings of the counter around a pair. If they are
/// further apart, the thread was interrupted.
const PAIR_TICKS_MAX: u64 = 1 << 12;
/// The maximum number of ticks for which a pair is used.
const USED_TICKS_MAX: u64 = 1 << 32;
/// A rate is used for this many times as long as it was measured.
const USED_PER_LEARNT: u64 = 4;
/// Two rates agree if they differ by less than a part in this many. The clock of the system is
/// adjusted by at most a part in 2,000.
const AGREEMENT: u64 = 1_000;
/// The binary digits of a rate behind the point.
const RATE_DIGITS: u32 = 32;

/// The knowledge about the counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counter {
    /// The counter at the time of the pair.
    tick: u64,
    /// The system's clock at the time of the pair. Zero if there is no pair yet.
    ns: u64,
    /// The nanoseconds per tick, times 2^32. Zero if it is unknown.
    rate: u64,
    /// The number of ticks after the pair for which the counter is used.
    used_ticks: u64,
}

/// The words of the [`Counter`].
static COUNTER: Latest<4> = Latest::zeros();
/// The time at which the system's clock is compared next, if the rate is unknown.
static NEXT_NS: AtomicU64 = AtomicU64::new(0);

/// Returns the current time, or `None` if the system's clock has to be read.
#[inline]
pub(super) fn read_ns() -> Option<u64> {
    Counter::from_words(COUNTER.read()?).ns_at(ticks())
}

/// Returns true if the counter is used.
#[inline]
pub(super) fn is_used() -> bool {
    COUNTER
        .read()
        .is_some_and(|words| Counter::from_words(words).is_used())
}

/// Learns the rate of the counter, if the time for that has come. `now_ns` is the current time.
pub(super) fn learn(now_ns: u64) {
    // Relaxed: a thread that sees the time late learns at most once too often.
    if now_ns < NEXT_NS.load(Relaxed) {
        return;
    }
    let before = ticks();
    let ns = clock_ns();
    let between = ticks().wrapping_sub(before);
    if between > PAIR_TICKS_MAX {
        return;
    }
    let tick = before.wrapping_add(between / 2);
    let mut next_ns = ns + LEARNING_NS;
    // If another thread learns at the same time, one of the two is enough.
    let _updated = COUNTER.update(|words| {
        let next = Counter::from_words(words).after(tick, ns);
        if next.is_used() && !is_clock_of_kernel() {
            next_ns = u64::MAX;
            return Counter::at(tick, ns).to_words();
        }
        next.to_words()
    });
    // Relaxed: as above.
    NEXT_NS.store(next_ns, Relaxed);
}

/// Returns true if the kernel reads the time from the counter.
pub(super) fn is_clock_of_kernel() -> bool {
    const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    std::fs::read(SOURCE).is_ok_and(|source| source.trim_ascii() == b"tsc")
}

/// Reads the counter.
#[inline]
pub(super) fn ticks() -> u64 {
    // SAFETY: reads a counter that every x86-64 processor has.
    unsafe { _rdtsc() }
}

impl Counter {
    #[inline]
    const fn from_words([tick, ns, rate, used_ticks]: [u64; 4]) -> Self {
        Self {
            tick,
            ns,
            rate,
            used_ticks,
        }
    }

    const fn to_words(self) -> [u64; 4] {
        [self.tick, self.ns, self.rate, self.used_ticks]
    }

    /// Returns the time at `tick`, or `None` if the pair must not be used for it.
    #[inline]
    const fn ns_at(self, tick: u64) -> Option<u64> {
        let ticks = tick.wrapping_sub(self.tick);
        if ticks < self.used_ticks {
            // Both factors are below 2^64, and their product below 2^96.
            let passed = (ticks as u128 * self.rate as u128) >> RATE_DIGITS;
            Some(self.ns + passed as u64)
        } else {
            None
        }
    }

    /// Returns what is known after the first pair.
    const fn at(tick: u64, ns: u64) -> Self {
        Self {
            tick,
            ns,
            rate: 0,
            used_ticks: 0,
        }
    }

    /// Returns true if the rate is known.
    #[inline]
    const fn is_used(self) -> bool {
        self.used_ticks > 0
    }

    /// Returns what is known after another pair.
    fn after(self, tick: u64, ns: u64) -> Self {
        let unknown = Self::at(tick, ns);
        if self.ns == 0 {
            return unknown;
        }
        let passed_ns = ns.saturating_sub(self.ns);
        if passed_ns < LEARNING_NS {
            return self;
        }
        let ticks = tick.saturating_sub(self.tick);
        let Some(rate) = (u128::from(passed_ns) << RATE_DIGITS)
            .checked_div(ticks.into())
            .and_then(|rate| u64::try_from(rate).ok())
        else {
            return unknown;
        };
        if self.rate != 0 && rate.abs_diff(self.rate) > self.rate / AGREEMENT {
            return unknown;
        }
        Self {
            rate,
            used_ticks: ticks.saturating_mul(USED_PER_LEARNT).min(USED_TICKS_MAX),
            ..unknown
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    /// The ticks per nanosecond of the counters in these tests.
    const TICKS: u64 = 3;

    fn learnt() -> Counter {
        let first = Counter::at(1_000, 5);
        first.after(1_000 + 20 * MS * TICKS, 5 + 20 * MS)
    }

    #[test]
    fn the_rate_is_learnt_from_two_pairs_and_used_four_times_as_long() {
        let learnt = learnt();
        let later = |ms: u64| learnt.ns_at(learnt.tick + ms * MS * TICKS);
        assert!(later(79).is_some_and(|ns| ns.abs_diff(5 + 99 * MS) < 10));
        assert_eq!(later(80), None);
        assert_eq!(learnt.ns_at(learnt.tick - 1), None);
    }

    #[test]
    fn a_pair_that_comes_too_early_changes_nothing() {
        let first = Counter::at(1_000, 5);
        assert_eq!(first.after(1_000 + 19 * MS * TICKS, 5 + 19 * MS), first);
        assert_eq!(Counter::at(0, 0).after(7, 8), Counter::at(7, 8));
    }

    #[test]
    fn a_counter_that_jumps_is_dropped_and_learnt_again() {
        let learnt = learnt();
        let ns = learnt.ns + 1_000 * MS;
        for tick in [0, learnt.tick, learnt.tick + 2_000 * MS * TICKS, u64::MAX] {
            let dropped = learnt.after(tick, ns);
            assert_eq!(dropped, Counter::at(tick, ns));
            assert_eq!(dropped.ns_at(tick), None);
            let again = dropped.after(tick.wrapping_add(20 * MS * TICKS), ns + 20 * MS);
            assert_eq!(again.is_used(), tick != u64::MAX);
        }
    }

    #[test]
    fn a_long_pause_gives_a_rate_that_is_used_for_a_limited_time() {
        let learnt = learnt();
        let week = 7 * 24 * 3_600 * 1_000 * MS;
        let later = learnt.after(learnt.tick + week * TICKS, learnt.ns + week);
        assert_eq!(later.used_ticks, USED_TICKS_MAX);
        assert_eq!(later.rate, (1 << RATE_DIGITS) / TICKS);
    }
}
