//! Decides by the clock which of two ways to copy is faster.
//!
//! Occasionally a copy is timed, and occasionally some copies are made the other way. These are a
//! trial. The first copies of a trial are not timed, because they find the lines where the previous
//! way has left them. On a Zen 4, a plain copy of 3,456 bytes takes the writer 210 ticks of the
//! clock, and a streamed one 360. A single plain copy between streamed ones takes 420, since none
//! of its lines is near.

use super::Copying;

/// The interval of timed copies: one of this number is timed.
const TIMED_OF: u32 = 16;
/// The numbers of copies of a trial that are not timed, and that are timed.
const SETTLING: u32 = 2;
const TRIED: u32 = 2;
/// The maximum number of timed copies between two trials. It is reached once several trials have
/// shown that the other way is slower.
const BETWEEN_MAX: u32 = 32;

/// The state of the measurements for copies of about one length.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    /// Streaming is worth it if it takes fewer than this number of eighths of the time.
    pays_below: u64,
    /// The current copies are streamed.
    is_streamed: bool,
    /// The current copies are a trial.
    is_trial: bool,
    /// The number of copies until the next decision: to time a copy, or to change the way.
    until_next: u32,
    /// The number of copies that are still to be timed before the way changes.
    to_time: u32,
    /// The number of timed copies between this trial and the next.
    between: u32,
    /// True if the way on trial was faster in this trial.
    was_sooner: bool,
    /// The duration of a plain copy, in ticks. Zero if none was timed.
    plain: u64,
    /// The duration of a streamed copy, in ticks. Zero if none was timed.
    streamed: u64,
}

impl Pace {
    /// Creates the initial state. Streaming is worth it if it takes the writer less than
    /// `pays_below` eighths of the time.
    pub(super) const fn new(pays_below: u64) -> Self {
        // The initial state is that of a trial of plain copies.
        Self {
            pays_below,
            is_streamed: false,
            is_trial: true,
            until_next: SETTLING + 1,
            to_time: TRIED,
            between: 1,
            was_sooner: false,
            plain: 0,
            streamed: 0,
        }
    }

    /// Chooses how to make the next copy.
    #[inline]
    pub(super) fn next(&mut self) -> Copying {
        self.until_next -= 1;
        let is_timed = self.until_next == 0 && self.take_turn();
        Copying {
            is_streamed: self.is_streamed,
            is_timed,
        }
    }

    /// Makes the next decision. Starts a trial, or ends it, if enough copies were timed. Returns
    /// true if the next copy is timed.
    fn take_turn(&mut self) -> bool {
        // Outside trials, the current way is kept while it is the better one.
        let is_kept = self.is_trial || self.is_streamed == self.streaming_pays();
        if self.to_time > 0 && is_kept {
            self.to_time -= 1;
            self.until_next = if self.is_trial { 1 } else { TIMED_OF };
            return true;
        }
        // Enough copies were timed, or the way is abandoned. The next copies are made the other way
        // if a trial begins, and otherwise the better way.
        if self.is_trial && self.plain > 0 && self.streamed > 0 {
            // A way that was faster in this trial is tried again soon.
            self.between = if self.was_sooner {
                1
            } else {
                BETWEEN_MAX.min(2 * self.between)
            };
        }
        self.was_sooner = false;
        // A way that has become the slower one is abandoned at once.
        self.is_trial = !self.is_trial && is_kept;
        self.is_streamed = self.streaming_pays() != self.is_trial;
        (self.until_next, self.to_time) = if self.is_trial {
            (SETTLING, TRIED)
        } else {
            (TIMED_OF, self.between)
        };
        false
    }

    /// Learns from a timed copy.
    pub(super) fn observe(&mut self, is_streamed: bool, ticks: u64) {
        let ticks = ticks.max(1);
        let known = if is_streamed {
            &mut self.streamed
        } else {
            &mut self.plain
        };
        *known = after(*known, ticks);
        let would_stream = if is_streamed {
            self.is_worth_it(ticks, self.plain)
        } else {
            self.is_worth_it(self.streamed, ticks)
        };
        self.was_sooner |= self.is_trial && would_stream == is_streamed;
    }

    const fn streaming_pays(&self) -> bool {
        // Both ways must have been timed. A way that was only chosen may not have made a copy,
        // because there was no capacity for it.
        self.streamed > 0 && self.is_worth_it(self.streamed, self.plain)
    }

    const fn is_worth_it(&self, streamed: u64, plain: u64) -> bool {
        8 * streamed < self.pays_below * plain
    }
}

/// Returns the duration known after one more sample. It moves by an eighth of the difference, and
/// never as if the sample were more than twice as long. A disturbance makes a copy much longer.
/// Occasionally a copy seems short because it was not complete when the clock was read.
fn after(known: u64, sample: u64) -> u64 {
    if known == 0 {
        sample
    } else if sample < known {
        known - (known - sample).div_ceil(8)
    } else {
        known + (sample - known).min(known) / 8
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    /// Makes copies with the given durations. Returns the number of streamed copies.
    fn streamed_of(copies: u32, pace: &mut Pace, plain: u64, streamed: u64) -> usize {
        let mut copy = || {
            let copying = pace.next();
            let took = if copying.is_streamed { streamed } else { plain };
            if copying.is_timed {
                pace.observe(copying.is_streamed, took);
            }
            copying.is_streamed
        };
        (0..copies).filter(|_| copy()).count()
    }

    #[test]
    fn the_faster_way_is_taken_and_the_other_one_tried_occasionally() {
        let mut pace = Pace::new(7);
        let mut streamed_of_the_next = |plain, streamed| {
            streamed_of(3_000, &mut pace, plain, streamed);
            streamed_of(5_000, &mut pace, plain, streamed)
        };
        assert!((1..50).contains(&streamed_of_the_next(300, 350)));
        assert!((4_950..5_000).contains(&streamed_of_the_next(700, 350)));
        // The cores are near each other again.
        assert!((1..50).contains(&streamed_of_the_next(300, 350)));
        assert!((4_950..5_000).contains(&streamed_of_the_next(300, 100)));
    }

    #[test]
    fn a_change_is_noticed_after_some_hundreds_of_copies() {
        let mut pace = Pace::new(7);
        streamed_of(10_000, &mut pace, 300, 350);
        assert!(streamed_of(400, &mut pace, 1_200, 350) > 200);
        streamed_of(10_000, &mut pace, 1_200, 350);
        assert!(streamed_of(2_000, &mut pace, 300, 350) < 1_000);
    }

    /// Reproduces a bug: a single plain copy between streamed ones takes longer than all others, so
    /// plain copies were never recognised as the faster way.
    #[test]
    fn lines_left_by_the_other_way_do_not_decide() {
        let mut pace = Pace::new(7);
        let mut was_streamed = true;
        let mut streamed = 0;
        for copy in 0..10_000 {
            let copying = pace.next();
            let took = match (copying.is_streamed, was_streamed) {
                (true, _) => 360,
                (false, true) => 420,
                (false, false) => 210,
            };
            // The cores are far from each other at first.
            let took = if copy < 2_000 && !copying.is_streamed {
                1_200
            } else {
                took
            };
            if copying.is_timed {
                pace.observe(copying.is_streamed, took);
            }
            was_streamed = copying.is_streamed;
            streamed += u32::from(copying.is_streamed && copy >= 5_000);
        }
        assert!(streamed < 100, "{streamed}");
    }

    #[test]
    fn streaming_is_not_worth_it_if_it_hardly_saves_the_writer_time() {
        let mut pace = Pace::new(7);
        streamed_of(1_000, &mut pace, 390, 350);
        assert!(streamed_of(2_048, &mut pace, 390, 350) < 50);
    }

    #[test]
    fn one_disturbed_copy_changes_little() {
        assert!(after(300, 1_000_000) < 340);
        assert_eq!(after(300, 100), 275);
        assert_eq!(after(0, 77), 77);
    }
}
