//! Raids: taking forks from workers that do not answer.
//!
//! A worker without work closes the gates of a busy one to ask it for a fork. A worker that runs a
//! long leaf does not come by its gates. It counts as *stalled* when its private forks are the same
//! at two looks that lie [`PATIENCE`] apart; then the worker without work publishes the oldest of
//! them itself ([`raddle_sync::split_stack`]).
//!
//! A worker that sleeps must not overlook a stalled one. It may have gone to sleep just before the
//! other pushed its fork, and an offer wakes no sleeper by itself. Therefore:
//!
//! - A worker that has gone to sleep looks again: after [`PATIENCE`], if it has seen a worker that
//!   may be stalled, or else after [`WATCH_TIME`]. As long as forks are made or offered, one
//!   sleeper, the *watch*, goes on to look, ever more seldom. It counts as asleep while it looks,
//!   so that nobody splits work for it. Without forks and offers, no worker wakes up by itself.
//! - A loop that offers what is left of it while workers sleep, and without a watch, wakes one of
//!   them ([`Worker::call_watch`]).
//!
//! # No offer is overlooked
//! | label | one side                                                         | other side                                            |
//! |-------|------------------------------------------------------------------|-------------------------------------------------------|
//! | O1    | a loop: pushes its first offer, light fence, looks for sleepers  | sleeper: its bit is set, heavy fence, looks for forks |
//!
//! A worker that is about to sleep without a timeout looks for private forks and offers last. If it
//! misses an offer, its bit was out before, and the loop sees that a worker sleeps while none keeps
//! the watch. Of a later offer of that loop no sleeper needs to be told: the worker that ends its
//! watch has seen no fork end since its look before, so it has not looked between two offers.

use std::time::Duration;

use raddle_sync::prim::{AtomicUsize, Relaxed, can_interrupt};
use raddle_sync::split_stack::Progress;

use super::{Shared, Worker};
use crate::clock::Instant;
use crate::task::Task;

/// The time between two looks at a worker. It is longer than a worker takes to answer.
pub(super) const PATIENCE: Duration = Duration::from_micros(20);
/// The time from going to sleep to the first look of the watch, and the longest time between looks.
const WATCH_TIME: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(8)];

/// Returns true if workers raid each other. They do not in exhaustive models of the runtime: the
/// models of the stack cover raids.
fn can_raid() -> bool {
    !cfg!(loom) && can_interrupt()
}

/// The workers that may be stalled, as one worker without work has seen them.
#[derive(Debug, Default)]
pub(super) struct Stalls {
    seen: Vec<(usize, Progress)>,
    /// When they were seen.
    since: Option<Instant>,
}

impl Stalls {
    /// Returns true if some worker is stalled, unless it goes on within [`PATIENCE`].
    pub(super) fn is_watching(&self) -> bool {
        !self.seen.is_empty()
    }

    /// Returns true if a worker that was seen has not gone on since.
    fn have_lasted(&self, shared: &Shared) -> bool {
        let mut seen = self.seen.iter();
        seen.any(|&(index, before)| shared.forks[index].progress() == Some(before))
    }
}

impl Shared {
    /// A number that changes only while some worker makes forks or offers.
    fn fork_activity(&self) -> u64 {
        self.present_forks()
            .fold(0, |sum, (_, forks)| sum.wrapping_add(forks.activity()))
    }
}

impl Worker {
    /// Raids the workers that have been stalled since the last look, and notes which may be stalled
    /// now. Returns true when it has published a fork.
    ///
    /// Looks at `only`, if there is one, or else at all workers. Does nothing until [`PATIENCE`]
    /// has passed since the last look.
    pub(super) fn raid_stalled(
        &self,
        stalls: &mut Stalls,
        only: Option<usize>,
        now: Instant,
    ) -> bool {
        if !can_raid() {
            return false;
        }
        if stalls.since.is_some_and(|since| now - since < PATIENCE) {
            return false;
        }
        let mut has_raided = false;
        for (victim, before) in stalls.seen.drain(..) {
            let is_stalled = self.shared.forks[victim].progress() == Some(before);
            has_raided |= is_stalled && self.raid(victim);
        }
        self.note_stalls(stalls, only);
        stalls.since = Some(now);
        has_raided
    }

    /// Notes which workers may be stalled.
    fn note_stalls(&self, stalls: &mut Stalls, only: Option<usize>) {
        stalls.seen.clear();
        for (index, forks) in self.shared.present_forks() {
            if index != self.index
                && only.is_none_or(|only| index == only)
                && forks.gates().are_closed()
                && let Some(progress) = forks.progress()
            {
                stalls.seen.push((index, progress));
            }
        }
    }

    /// Publishes the oldest private fork of a stalled worker as a task of this worker. Returns
    /// false if there is none.
    fn raid(&self, victim: usize) -> bool {
        let cell = self.take_cell();
        let has_raided = self.shared.forks[victim].raid(|job, frame| {
            cell.make_fork(frame, victim, job);
            cell
        });
        if !has_raided {
            self.give_back(cell);
            return false;
        }
        // The owner may have taken the fork back already: then the task is a stale one, like any
        // other.
        self.seat.share(Task::new(cell));
        self.tally().forks_published.add(1);
        self.tally().forks_raided.add(1);
        if self.shared.idle.work_came(self.index).is_some() {
            self.tally().wakes.add(1);
        }
        true
    }

    /// Returns true when some other worker has private forks or offers.
    pub(super) fn sees_forks(&self) -> bool {
        can_raid()
            && self
                .shared
                .present_forks()
                .any(|(index, forks)| index != self.index && forks.progress().is_some())
    }

    /// Wakes a sleeper that looks after this worker's offers, if no worker would. For after the
    /// first offer of a loop.
    #[inline]
    pub(crate) fn call_watch(&self) {
        // ORDERING(O1): the fence is in `only_sleepers`.
        if self.shared.idle.only_sleepers() && !self.shared.watch.is_kept() {
            self.call_watch_slow();
        }
    }

    #[cold]
    fn call_watch_slow(&self) {
        if can_raid() && self.shared.idle.wake_one(self.index).is_some() {
            self.tally().wakes.add(1);
        }
    }
}

/// How long a worker sleeps before it looks for stalled workers again, during one search.
#[derive(Debug)]
pub(super) struct WatchTurn {
    /// None once another worker keeps the watch, or nothing is to be watched.
    next: Option<Duration>,
    /// The sum of all workers' counters of forks at the last look, if there was one.
    activity: Option<u64>,
}

impl WatchTurn {
    /// A worker begins to search.
    pub(super) fn start() -> Self {
        Self {
            next: can_raid().then_some(WATCH_TIME[0]),
            activity: None,
        }
    }

    /// How long a worker that is about to sleep does so at most, after it has waited without the
    /// kernel.
    pub(super) fn timeout(&mut self, stalls: &Stalls, shared: &Shared) -> Option<Duration> {
        self.next?;
        if self.activity.is_none() {
            self.activity = Some(shared.fork_activity());
        }
        // A worker that may be stalled is looked at again right after that.
        self.next
            .filter(|_| !stalls.is_watching())
            .or(Some(Duration::ZERO))
    }

    /// A look of the watch. Returns how long to sleep before the next one, or `None` if the worker
    /// shall search: some worker is stalled, or nothing is to be watched any more.
    ///
    /// Nothing is to be watched when no forks have been made since the look before, or when another
    /// worker keeps the watch.
    pub(super) fn look(&mut self, worker: &Worker, stalls: &mut Stalls) -> Option<Duration> {
        let shared = &worker.shared;
        if stalls.is_watching() {
            if stalls.since.is_some_and(|since| since.elapsed() < PATIENCE) {
                return Some(PATIENCE);
            }
            if stalls.have_lasted(shared) {
                return None;
            }
            stalls.seen.clear();
        } else {
            worker.ask_everyone();
            worker.note_stalls(stalls, None);
            stalls.since = Some(Instant::now());
            if stalls.is_watching() {
                return Some(PATIENCE);
            }
        }
        let activity = shared.fork_activity();
        let is_active = self.activity.replace(activity) != Some(activity);
        self.next = self
            .next
            .filter(|_| is_active && !shared.watch.is_kept_by_others())
            .map(|time| WATCH_TIME[1].min(2 * time));
        self.next
    }
}

/// The number of workers that sleep until they look for stalled workers again.
#[derive(Debug, Default)]
pub(crate) struct WatchCount(AtomicUsize);

impl WatchCount {
    /// Returns true if some sleeper will look for stalled workers.
    #[inline]
    pub(super) fn is_kept(&self) -> bool {
        // Relaxed, here and below: a hint.
        self.0.load(Relaxed) > 0
    }

    /// As [`is_kept`](Self::is_kept), for the watch itself.
    fn is_kept_by_others(&self) -> bool {
        self.0.load(Relaxed) > 1
    }

    /// Calls `sleep`, counting this worker as the watch if it sleeps with a timeout.
    pub(super) fn during<R>(&self, timeout: Option<Duration>, sleep: impl FnOnce() -> R) -> R {
        let counts = usize::from(timeout.is_some());
        self.0.fetch_add(counts, Relaxed);
        let result = sleep();
        self.0.fetch_sub(counts, Relaxed);
        result
    }
}
