//! Decides which events get a time of their own.
//!
//! Reading the time-stamp counter is nearly all that an event costs (12 ns of 14 on an AMD EPYC in
//! a virtual machine). A program with a task or a message every 100 ns would be 20 % slower. Most
//! of these readings are worth little: a fork directly after a fork, or the fourth message that an
//! entry sends, comes a few nanoseconds after the event before it.
//!
//! So the time is also *expected*: for each pair of kinds, the mean time from an event of the first
//! kind to one of the second. After a few short times in a row, events of that pair read the
//! counter once in several times only: so often that the readings take about 1.5 % of the time.
//! Between two readings, [`crate::events`] spreads the time over the events without one. Only a
//! time that is so long that it has a record of its own is not spread: those events get the
//! expected time.
//!
//! When a reading shows that the events before it took much longer than expected, one of them is
//! new to the pair, and nothing says which. Then the next [`EXACT_EVENTS`] events all have a time,
//! so that the next long one is seen.

use std::cell::Cell;

use crate::record::kind::Kind;

/// The time from which on an event always has a time: a reading is 3 % of it.
pub(crate) const SHORT_NS: u64 = 400;
/// The largest number of events of one pair without a reading, between two with one.
const SKIPS_MAX: u64 = 31;
/// The number of short times after which readings are left out.
const SHORT_TIMES: u8 = 4;
/// The number of events that all have a time after a surprise.
const EXACT_EVENTS: u32 = 64;

/// The experience with the pairs of kinds, of one thread.
#[derive(Debug)]
pub(crate) struct Stamps {
    /// The kind of the event before.
    before: Cell<u8>,
    /// The number of events that have a time in any case.
    exact: Cell<u32>,
    /// The time that the events since the last reading are expected to have taken, in ticks.
    expected: Cell<u64>,
    pairs: [Cell<Pair>; Kind::SPAN * Kind::SPAN],
}

/// The experience with one pair of kinds.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    /// The number of events to come without a reading.
    skips: u8,
    /// The number of short times in a row, up to a limit.
    short: u8,
    /// The mean time of the second event after the first, in ticks.
    mean: u16,
}

impl Stamps {
    /// Creates the state of a thread that has recorded nothing.
    pub(crate) const fn new() -> Self {
        Self {
            before: Cell::new(0),
            exact: Cell::new(0),
            expected: Cell::new(0),
            pairs: [const {
                Cell::new(Pair {
                    skips: 0,
                    short: 0,
                    mean: 0,
                })
            }; Kind::SPAN * Kind::SPAN],
        }
    }

    #[inline(always)]
    fn pair(&self, before: u8, kind: Kind) -> &Cell<Pair> {
        let index = usize::from(before) * Kind::SPAN + kind as usize;
        &self.pairs[index % (Kind::SPAN * Kind::SPAN)]
    }

    /// Begins an event of this kind. Returns `None` if it needs no reading, and otherwise the kind
    /// of the event before.
    #[inline(always)]
    pub(crate) fn begin(&self, kind: Kind) -> Option<u8> {
        let before = self.before.replace(kind as u8);
        let place = self.pair(before, kind);
        let pair = place.get();
        if pair.skips == 0 {
            return Some(before);
        }
        let skips = pair.skips - 1;
        place.set(Pair { skips, ..pair });
        self.expected
            .set(self.expected.get() + u64::from(pair.mean));
        None
    }

    /// Begins an event that has a time in any case: scopes of the program, because a profile is
    /// made of them. Returns the kind of the event before.
    #[inline(always)]
    pub(crate) fn begin_timed(&self, kind: Kind) -> u8 {
        self.before.replace(kind as u8)
    }

    /// Returns true if events had no reading since the last one: the next reading says whether they
    /// took as long as expected.
    #[inline(always)]
    pub(crate) fn has_expected(&self) -> bool {
        self.expected.get() != 0
    }

    /// Returns the time that the events since the last reading are expected to have taken, in
    /// ticks.
    pub(crate) fn expected(&self) -> u64 {
        self.expected.get()
    }

    /// Learns from a reading for an event of this kind, `ticks` after the last one. `before` is
    /// from [`begin`](Self::begin), `short` is [`SHORT_NS`] in ticks.
    #[inline(always)]
    pub(crate) fn learn(&self, before: u8, kind: Kind, ticks: u64, short: u64) {
        let place = self.pair(before, kind);
        let pair = place.get();
        let own = ticks.saturating_sub(self.expected.replace(0));
        if own >= short {
            place.set(Pair::default());
            if pair.short > SHORT_TIMES && own >= 4 * short {
                self.begin_exact();
            }
            return;
        }
        let mean = (3 * u64::from(pair.mean) + own) / 4;
        let exact = self.exact.get();
        self.exact.set(exact.saturating_sub(1));
        let is_sure = pair.short >= SHORT_TIMES && exact == 0;
        let skips = if is_sure {
            SKIPS_MAX.min(2 * short / mean.max(1))
        } else {
            0
        };
        place.set(Pair {
            skips: skips as u8,
            short: (pair.short + 1).min(SHORT_TIMES + 1),
            mean: mean.min(u64::from(u16::MAX)) as u16,
        });
    }

    /// Gives a time to each of the next events.
    #[cold]
    fn begin_exact(&self) {
        self.exact.set(EXACT_EVENTS);
        for pair in &self.pairs {
            pair.set(Pair {
                skips: 0,
                ..pair.get()
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: u64 = 1_000;

    /// Returns the number of readings for events of one kind with these times between them.
    fn readings(stamps: &Stamps, kind: Kind, times: impl IntoIterator<Item = u64>) -> usize {
        let mut passed = 0;
        let mut count = 0;
        for time in times {
            passed += time;
            if let Some(before) = stamps.begin(kind) {
                stamps.learn(before, kind, passed, SHORT);
                passed = 0;
                count += 1;
            }
        }
        count
    }

    #[test]
    fn events_that_are_far_apart_all_have_a_time() {
        let stamps = Stamps::new();
        assert_eq!(readings(&stamps, Kind::RunTask, [5_000; 100]), 100);
    }

    #[test]
    fn of_events_that_come_soon_few_have_a_time() {
        let stamps = Stamps::new();
        let count = readings(&stamps, Kind::Send, [20; 1_000]);
        assert!((30..80).contains(&count), "{count}");
    }

    #[test]
    fn after_a_surprise_all_events_have_a_time() {
        let stamps = Stamps::new();
        // One long time among short ones: seen at the next reading at the latest.
        let times = [20; 1_000].into_iter().chain([90_000]).chain([20; 32]);
        readings(&stamps, Kind::Send, times);
        assert!(stamps.exact.get() > 0);
        assert_eq!(readings(&stamps, Kind::Send, [20; 16]), 16);
    }
}
