//! The stall watch: sleeping workers that look for stalled ones.
//!
//! A worker may have gone to sleep just before another pushed a fork, and an offer wakes no sleeper
//! by itself. Therefore:
//!
//! - A worker that has gone to sleep looks again: after [`PATIENCE`], if it has seen a worker that
//!   may be stalled ([`raid`](super::raid)), or else after [`STALL_WATCH_TIME`]. As long as forks
//!   are made or offered, one sleeper, the *stall watch*, goes on to look, each time after twice
//!   the time. A sleeper counts as asleep while it looks, so that no worker splits its work for it.
//!   Without forks and offers, no worker wakes up by itself.
//! - If a worker had forks but was not stalled, these times begin again with two of [`PATIENCE`].
//!   So a long item that begins soon after is found about as soon.
//! - A loop that offers what is left of it while workers sleep wakes one of them, if there is no
//!   stall watch ([`Worker::call_stall_watch`]). It does so also if some worker has been raided
//!   since the last time: then long items are likely, and the stall watch may look only after
//!   milliseconds. The worker that wakes raids the caller at once.
//!
//! # No offer is overlooked
//! | label | one side                                   | other side                          |
//! |-------|--------------------------------------------|-------------------------------------|
//! | O1    | loop: offers, light fence, looks at bits   | sleeper: bit, heavy fence, looks    |
//!
//! A worker that is about to sleep without a timeout looks for private forks and offers last. If it
//! misses an offer, its bit was set before, and the loop sees that a worker sleeps while there is
//! no stall watch. For later offers of that loop no sleeper needs to be woken: the worker that ends
//! its stall watch has seen no fork end since its previous look, so it has not looked between two
//! offers. A sleeper with a timeout may miss an offer and be missed, but looks again after it.

use std::time::Duration;

use super::raid::{PATIENCE, Stalls, can_raid};
use super::{Shared, Worker};
use crate::clock::Instant;

/// The time from going to sleep to the first look of the stall watch, and the longest time between
/// two looks.
pub(super) const STALL_WATCH_TIME: [Duration; 2] =
    [Duration::from_millis(1), Duration::from_millis(8)];

impl Worker {
    /// Wakes a sleeper that looks after this worker's offers, if no worker would do so otherwise.
    /// To be called after the first offer of a loop.
    #[inline]
    pub(crate) fn call_stall_watch(&self) {
        // ORDERING(O1): the fence is in `only_sleepers`.
        if self.shared.idle().only_sleepers() {
            self.call_stall_watch_slow();
        }
    }

    #[cold]
    fn call_stall_watch_slow(&self) {
        let watch = self.shared.stall_watch();
        let raids = watch.raids();
        let is_raided = self.raids_seen.replace(raids) != raids;
        if !can_raid() || (watch.is_kept() && !is_raided) {
            return;
        }
        watch.call(self.index, self.forks().activity());
        if self.shared.idle().wake_one(self.index).is_some() {
            self.counters().wakes.add(1);
        }
    }

    /// Raids the worker that has called for a stall watch, if it is stalled. To be called by a
    /// worker that was woken. A wake-up takes about as long as [`PATIENCE`], so the caller counts
    /// as stalled if it has popped nothing since its call.
    pub(super) fn raid_caller(&self) {
        let activity_of = |caller| self.shared.forks_of(caller).activity();
        if let Some(caller) = self.shared.stall_watch().take_call(activity_of)
            && caller != self.index
        {
            self.raid(caller);
        }
    }
}

/// The intervals at which a sleeping worker looks for stalled workers, during one search.
#[derive(Debug)]
pub(super) struct StallWatchTurn {
    /// The time until the next look. `None` once another worker is the stall watch, or none is
    /// needed.
    next: Option<Duration>,
    /// The sum of all workers' counters of forks at the last look, if there was one.
    activity: Option<u64>,
    /// A look has found forks of workers that were not stalled.
    has_seen_forks: bool,
}

impl StallWatchTurn {
    /// Creates the intervals of a worker that begins to search.
    pub(super) fn start() -> Self {
        Self {
            next: can_raid().then_some(STALL_WATCH_TIME[0]),
            activity: None,
            has_seen_forks: false,
        }
    }

    /// Returns the longest time for which a worker that is about to sleep sleeps, after it has
    /// waited without the kernel.
    pub(super) fn timeout(&mut self, stalls: &Stalls, shared: &Shared) -> Option<Duration> {
        self.next?;
        if self.activity.is_none() {
            self.activity = Some(shared.fork_activity());
        }
        // A worker that may be stalled is looked at again right after that.
        self.next
            .filter(|_| !stalls.any_suspect())
            .or(Some(Duration::ZERO))
    }

    /// Looks for stalled workers. Returns how long to sleep before the next look, or `None` if the
    /// worker should search: some worker is stalled, or this worker need not look any more.
    ///
    /// It need not look if no forks have been made since the previous look, or if another worker
    /// is the stall watch.
    pub(super) fn look(&mut self, worker: &Worker, stalls: &mut Stalls) -> Option<Duration> {
        let shared = &worker.shared;
        if stalls.any_suspect() {
            if stalls.since.is_some_and(|since| since.elapsed() < PATIENCE) {
                return Some(PATIENCE);
            }
            if stalls.have_lasted(shared) {
                return None;
            }
            stalls.seen.clear();
            if !self.has_seen_forks {
                self.has_seen_forks = true;
                self.next = self.next.map(|_| PATIENCE);
            }
        } else {
            worker.ask_everyone();
            worker.note_stalls(stalls, None);
            stalls.since = Some(Instant::now());
            if stalls.any_suspect() {
                return Some(PATIENCE);
            }
        }
        let activity = shared.fork_activity();
        let is_active = self.activity.replace(activity) != Some(activity);
        self.next = self
            .next
            .filter(|_| is_active && !shared.stall_watch().is_kept_by_others())
            .map(|time| STALL_WATCH_TIME[1].min(2 * time));
        self.next
    }
}
