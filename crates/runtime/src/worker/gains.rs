//! The experience of a worker with splitting short loops: whether it pays off on this machine, at
//! this time.
//!
//! After a short split loop, its worker compares the duration with the time that the loop would
//! have taken on one worker, and adjusts the length from which on it splits. [`crate::loops`]
//! decides with it.

use std::cell::Cell;

use crate::clock::{Instant, nanoseconds};

/// The shortest loop, in ns, for which a split can pay while another worker searches.
pub(crate) const SPLIT_AWAKE_NS: f32 = 800.0;
/// The shortest loop, in ns, for which a split pays even while all other workers sleep.
pub(crate) const SPLIT_ASLEEP_NS: f32 = 60_000.0;
/// Loops with fewer items split before they know how long one item takes, unless such loops were
/// too short recently.
pub(crate) const FEW_ITEMS: usize = 64;
/// A short loop that was refused a split lowers the limit by this fraction, so that splitting is
/// tried again at some time. The fraction is halved each time that such a trial fails, down to the
/// second value.
const FADE: (f32, f32) = (1.0 / 4096.0, 1.0 / 65_536.0);
/// Splitting continues if a split loop takes less than this fraction of the time on one worker.
const SHARE_MAX: f32 = 0.9;
/// The value of that fraction that is assumed before it is known.
const SHARE_FIRST: f32 = 0.8;
/// The *handover* is the time after which another worker begins with its part of a loop. In
/// nanoseconds: the first assumption, and the upper limit.
const HANDOVER_NS: (f32, f32) = (300.0, 2_000.0);
/// One split loop in this many is timed, to learn whether such loops are worth splitting.
const LESSON_EVERY: u32 = 8;

/// The recent gains of one worker from splitting short loops.
#[derive(Debug)]
pub(crate) struct Gains {
    /// The shortest loop, in ns, that is split while another worker searches.
    limit_ns: Cell<f32>,
    /// The fraction by which a refused loop lowers the limit.
    fade: Cell<f32>,
    /// The time of split loops divided by their time on one worker, averaged.
    share: Cell<f32>,
    lessons: Cell<u32>,
    /// The handover, averaged.
    handover_ns: Cell<f32>,
    /// The time that splitting could have saved in loops that were too short to wake a worker for.
    missed_ns: Cell<f32>,
    missed_until: Cell<Option<Instant>>,
    /// The time on one worker of the latest loop with 1, 2 to 3, 4 to 7, … items.
    few_ns: [Cell<f32>; FEW_ITEMS.ilog2() as usize],
}

impl Default for Gains {
    fn default() -> Self {
        Self {
            limit_ns: Cell::new(SPLIT_AWAKE_NS),
            fade: Cell::new(FADE.0),
            share: Cell::new(SHARE_FIRST),
            lessons: Cell::new(0),
            handover_ns: Cell::new(HANDOVER_NS.0),
            missed_ns: Cell::new(0.0),
            missed_until: Cell::new(None),
            few_ns: std::array::from_fn(|_| Cell::new(f32::INFINITY)),
        }
    }
}

impl Gains {
    /// Returns true if splitting a loop of which `left_ns` are left has paid recently, or is worth
    /// another trial.
    pub(crate) fn allow_split(&self, left_ns: f32) -> bool {
        let limit_ns = self.limit_ns.get();
        if left_ns < limit_ns && left_ns >= SPLIT_AWAKE_NS {
            self.limit_ns.set(limit_ns * (1.0 - self.fade.get()));
        }
        left_ns >= limit_ns
    }

    /// Returns the same as [`allow_split`](Self::allow_split), for a loop of `len` items, fewer
    /// than [`FEW_ITEMS`], that does not know its own time yet.
    pub(crate) fn allow_split_of_few(&self, len: usize) -> bool {
        self.allow_split(self.few(len).get())
    }

    /// Remembers that a loop of `len` items, fewer than [`FEW_ITEMS`], takes `alone_ns` on one
    /// worker.
    pub(crate) fn remember_few(&self, len: usize, alone_ns: f32) {
        self.few(len).set(alone_ns);
    }

    fn few(&self, len: usize) -> &Cell<f32> {
        &self.few_ns[len.ilog2() as usize]
    }

    /// Returns true for one split loop in [`LESSON_EVERY`].
    pub(crate) fn is_lesson(&self) -> bool {
        let number = self.lessons.get().wrapping_add(1);
        self.lessons.set(number);
        number.is_multiple_of(LESSON_EVERY)
    }

    /// Learns that a loop that takes `alone_ns` on one worker took `both_ns` on two, measured from
    /// before the decision to split.
    ///
    /// A single lesson is unreliable because of interrupts and migrated CPUs, so the average over
    /// about eight decides.
    pub(crate) fn learn(&self, alone_ns: f32, both_ns: f32) {
        let share = self.share.get() + ((both_ns / alone_ns).min(2.0) - self.share.get()) / 8.0;
        let limit_ns = self.limit_ns.get();
        if share < SHARE_MAX {
            self.share.set(share);
            if share < SHARE_FIRST {
                self.fade.set(FADE.0);
            }
            self.limit_ns
                .set(limit_ns.min(alone_ns).max(SPLIT_AWAKE_NS));
        } else {
            // The next lessons start from the first assumption.
            self.share.set(SHARE_FIRST);
            self.fade.set((self.fade.get() / 2.0).max(FADE.1));
            self.limit_ns
                .set(limit_ns.max(1.5 * alone_ns).min(SPLIT_ASLEEP_NS));
        }
    }

    /// Returns the handover in nanoseconds, as far as it is known.
    pub(crate) fn handover_ns(&self) -> f32 {
        self.handover_ns.get()
    }

    /// Learns from a loop that was split: this worker ended its part at `own`, the other worker at
    /// `given`.
    ///
    /// If the other worker ended later, the handover is longer than assumed. One lesson changes it
    /// by less than ten nanoseconds, because interrupts and uneven items also make a part late.
    pub(crate) fn learn_handover(&self, own: Instant, given: Instant) {
        let late_ns = if given > own {
            nanoseconds(given - own)
        } else {
            -nanoseconds(own - given)
        };
        let step_ns = late_ns.clamp(-HANDOVER_NS.0, HANDOVER_NS.0) / 32.0;
        let handover_ns = self.handover_ns.get() + step_ns;
        self.handover_ns.set(handover_ns.clamp(0.0, HANDOVER_NS.1));
    }

    /// Remembers a loop of which `left_ns` are left. Returns true if all remembered loops together
    /// are worth a wake-up, and then forgets them.
    ///
    /// The sum fades with time, half as fast as it grows in loops that follow each other without a
    /// gap.
    pub(crate) fn allow_wake(&self, left_ns: f32, now: Instant) -> bool {
        if !self.allow_split(left_ns) {
            return false;
        }
        let passed_ns = self
            .missed_until
            .replace(Some(now))
            .map_or(0.0, |until| nanoseconds(now - until));
        let missed_ns =
            (self.missed_ns.get() - passed_ns / 2.0).max(0.0) + left_ns.min(SPLIT_ASLEEP_NS / 8.0);
        let is_due = missed_ns >= SPLIT_ASLEEP_NS;
        self.missed_ns.set(if is_due { 0.0 } else { missed_ns });
        is_due
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
