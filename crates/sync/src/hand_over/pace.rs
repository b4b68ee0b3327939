//! Which of two ways to copy is the sooner one, by the clock.

use super::Copying;

/// One copy of so many is timed.
const TIMED_OF: u32 = 16;
/// So many are timed at first, since nothing is known.
const TIMED_FIRST: u32 = 8;

/// What is known of copies of about one length.
#[derive(Clone, Debug, Default)]
pub(super) struct Pace {
    /// Copies so far; beyond [`TIMED_FIRST`], those since one was timed.
    count: u32,
    /// Of copies that were timed, whether the next one is streamed.
    next_is_streamed: bool,
    /// What one takes, in ticks; zero where none was timed.
    plain: u64,
    streamed: u64,
}

impl Pace {
    /// How the next one is to be copied.
    #[inline]
    pub(super) fn next(&mut self) -> Copying {
        self.count += 1;
        let is_timed = self.count <= TIMED_FIRST || self.count >= TIMED_FIRST + TIMED_OF;
        if !is_timed {
            return Copying {
                is_streamed: self.streaming_pays(),
                is_timed,
            };
        }
        if self.count > TIMED_FIRST {
            self.count = TIMED_FIRST;
        }
        self.next_is_streamed = !self.next_is_streamed;
        Copying {
            is_streamed: self.next_is_streamed,
            is_timed,
        }
    }

    /// Learns from one that was timed.
    pub(super) fn observe(&mut self, is_streamed: bool, ticks: u64) {
        let known = if is_streamed {
            &mut self.streamed
        } else {
            &mut self.plain
        };
        *known = after(*known, ticks.max(1));
    }

    /// True when it takes seven eighths of the time of the other way at most.
    #[inline]
    fn streaming_pays(&self) -> bool {
        // Both have been timed, and not merely chosen: where there was no room, no copy was made.
        self.streamed > 0 && 8 * self.streamed < 7 * self.plain
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

    /// Copies that take so long; returns how many of the last hundred were streamed.
    fn streamed_of_a_hundred(pace: &mut Pace, plain: u64, streamed: u64) -> usize {
        let mut copy = || {
            let copying = pace.next();
            let took = if copying.is_streamed { streamed } else { plain };
            if copying.is_timed {
                pace.observe(copying.is_streamed, took);
            }
            copying.is_streamed
        };
        (0..1_000).for_each(|_| _ = copy());
        (0..100).filter(|_| copy()).count()
    }

    #[test]
    fn the_quicker_way_is_taken_and_the_other_one_tried_now_and_then() {
        let mut pace = Pace::default();
        assert!((1..10).contains(&streamed_of_a_hundred(&mut pace, 300, 350)));
        assert!((90..100).contains(&streamed_of_a_hundred(&mut pace, 700, 350)));
        // The cores are near each other again.
        assert!((1..10).contains(&streamed_of_a_hundred(&mut pace, 300, 350)));
    }

    #[test]
    fn what_is_hardly_quicker_for_the_writer_is_not_worth_it() {
        let mut pace = Pace::default();
        assert!((1..10).contains(&streamed_of_a_hundred(&mut pace, 390, 350)));
    }

    #[test]
    fn one_disturbed_copy_changes_little() {
        assert!(after(300, 1_000_000) < 340);
        assert_eq!(after(300, 100), 275);
        assert_eq!(after(0, 77), 77);
    }
}
