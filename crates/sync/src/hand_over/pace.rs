//! Which of two ways to copy is the sooner one, by the clock.
//!
//! Now and then a copy is timed, and now and then some are made the other way, which are a trial. The first of a trial are not timed: they find lines where the way before has
//! left them. On a Zen 4 a plain copy of 3,456 bytes takes the writer 210 ticks of the clock, and a streamed one 360; but a single plain one between streamed ones takes
//! 420, since none of its lines is near.

use super::Copying;

/// One copy of so many is timed.
const TIMED_OF: u32 = 16;
/// Copies of a trial that are not timed, and those that are.
const SETTLING: u32 = 2;
const TRIED: u32 = 2;
/// Copies that are timed between two trials, at most: once a few trials have shown that the other way is the longer one.
const BETWEEN_MAX: u32 = 32;

/// What is known of copies of about one length.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    /// Streaming is worth it where it takes fewer eighths of the time.
    pays_below: u64,
    /// The way of the copies at hand.
    is_streamed: bool,
    /// They are a trial.
    is_trial: bool,
    /// The next of these copies that is not a mere copy.
    until_next: u32,
    /// Those that are still to be timed before it is the other way's turn.
    to_time: u32,
    /// How many there will be between this trial and the next.
    between: u32,
    /// In this trial, the way that is tried was the sooner one.
    was_sooner: bool,
    /// What one takes, in ticks; zero where none was timed.
    plain: u64,
    streamed: u64,
}

impl Pace {
    /// Nothing is known yet; streaming is going to be worth it where it takes the writer less than so many eighths of the time.
    pub(super) const fn new(pays_below: u64) -> Self {
        // Begins with a trial of the plain way, as it were.
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

    /// How the next one is to be copied.
    #[inline]
    pub(super) fn next(&mut self) -> Copying {
        self.until_next -= 1;
        let is_timed = self.until_next == 0 && self.take_turn();
        Copying {
            is_streamed: self.is_streamed,
            is_timed,
        }
    }

    /// Goes on to the next kind of copies where those at hand are over; true when the copy that comes is timed.
    fn take_turn(&mut self) -> bool {
        let is_kept = self.is_trial || self.is_streamed == self.streaming_pays();
        if self.to_time > 0 && is_kept {
            self.to_time -= 1;
            self.until_next = if self.is_trial { 1 } else { TIMED_OF };
            return true;
        }
        if self.is_trial && self.plain > 0 && self.streamed > 0 {
            // Where it was the sooner one, that is soon looked into again.
            self.between = if self.was_sooner {
                1
            } else {
                BETWEEN_MAX.min(2 * self.between)
            };
        }
        self.was_sooner = false;
        // What has become the longer one is given up at once.
        self.is_trial = !self.is_trial && is_kept;
        self.is_streamed = self.streaming_pays() != self.is_trial;
        (self.until_next, self.to_time) = if self.is_trial {
            (SETTLING, TRIED)
        } else {
            (TIMED_OF, self.between)
        };
        false
    }

    /// Learns from one that was timed.
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
        // Both have been timed, and not merely chosen: where there was no room, no copy was made.
        self.streamed > 0 && self.is_worth_it(self.streamed, self.plain)
    }

    const fn is_worth_it(&self, streamed: u64, plain: u64) -> bool {
        8 * streamed < self.pays_below * plain
    }
}

/// What is known after one more sample: an eighth of the way there, but no further than if it were twice as long. What disturbs makes a copy longer by much, and now
/// and then one is short that went on behind the clock's back.
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

    /// So many copies that take so long; returns how many of them were streamed.
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
    fn the_quicker_way_is_taken_and_the_other_one_tried_now_and_then() {
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

    /// One plain copy between streamed ones is longer than all others, so that it was not taken for the quicker way.
    #[test]
    fn what_the_other_way_has_left_behind_does_not_decide() {
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
            // The cores were far from each other at first.
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
    fn what_is_hardly_quicker_for_the_writer_is_not_worth_it() {
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
