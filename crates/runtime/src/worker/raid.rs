//! Raids: taking forks from workers that do not answer.
//!
//! A worker without work closes the gates of a busy one to ask it for a fork. A worker that runs a
//! long leaf does not come by its gates. It counts as *stalled* when its private forks are the same
//! at two looks that lie [`PATIENCE`] apart; then the worker without work publishes the oldest of
//! them itself ([`raddle_sync::split_stack`]).
//!
//! A worker that sleeps must not overlook a stalled one: see [`stall_watch`](super::stall_watch).

use std::time::Duration;

use raddle_sync::prim::can_interrupt;
use raddle_sync::split_stack::Progress;
use raddle_trace::record;

use super::{Shared, Worker};
use crate::clock::Instant;
use crate::task::Task;

/// The time between two looks at a worker. It is longer than a worker takes to answer.
pub(super) const PATIENCE: Duration = Duration::from_micros(20);

/// Returns true if workers raid each other. They do not in exhaustive models of the runtime: the
/// models of the stack cover raids.
pub(super) fn can_raid() -> bool {
    !cfg!(loom) && can_interrupt()
}

/// The workers that may be stalled, as one worker without work has seen them.
#[derive(Debug, Default)]
pub(super) struct Stalls {
    pub(super) seen: Vec<(usize, Progress)>,
    /// The time at which these workers were seen.
    pub(super) since: Option<Instant>,
}

impl Stalls {
    /// Returns true if some worker may be stalled: it is, unless it goes on within [`PATIENCE`].
    pub(super) fn any_suspect(&self) -> bool {
        !self.seen.is_empty()
    }

    /// Returns true if a worker that was seen has not gone on since.
    pub(super) fn have_lasted(&self, shared: &Shared) -> bool {
        let mut seen = self.seen.iter();
        seen.any(|&(index, before)| shared.forks_of(index).progress() == Some(before))
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
            let is_stalled = self.shared.forks_of(victim).progress() == Some(before);
            has_raided |= is_stalled && self.raid(victim);
        }
        self.note_stalls(stalls, only);
        stalls.since = Some(now);
        has_raided
    }

    /// Notes which workers may be stalled.
    pub(super) fn note_stalls(&self, stalls: &mut Stalls, only: Option<usize>) {
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
    pub(super) fn raid(&self, victim: usize) -> bool {
        let cell = self.take_cell();
        let has_raided = self.shared.forks_of(victim).raid(|job, frame, depth| {
            cell.make_fork(frame, victim, job);
            record::publish(cell.trace_id(), victim, depth);
            cell
        });
        if !has_raided {
            self.give_back(cell);
            return false;
        }
        // The owner may have taken the fork back already: then the task is a stale one, like any
        // other.
        self.seat.share(Task::new(cell));
        self.counters().forks_published.add(1);
        self.counters().forks_raided.add(1);
        self.shared.stall_watch().count_raid();
        if self.shared.idle().work_came(self.index).is_some() {
            self.counters().wakes.add(1);
        }
        true
    }

    /// Returns true when some other worker has private forks or offers.
    pub(super) fn has_private_forks_elsewhere(&self) -> bool {
        can_raid()
            && self
                .shared
                .present_forks()
                .any(|(index, forks)| index != self.index && forks.progress().is_some())
    }
}
