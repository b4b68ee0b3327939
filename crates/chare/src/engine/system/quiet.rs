//! Quiescence: when no message is under way and none is being worked on.
//!
//! Each worker counts the messages that it has sent and those that it has finished, each in a word
//! that only this worker writes. Threads that are not workers count the messages that they send in
//! a word of their own. A check adds up all the `done` counts, then all the `sent` counts. If both
//! sums are equal, the system is quiet. Proof: every finished message had been sent before, and had
//! counted the messages that it sent before it was finished. So the messages counted as sent, which
//! are no more than those counted as done, have sent nothing but themselves. Detection needs no
//! waves and no messages.
//!
//! # Memory ordering
//! | label | release side | acquire side | publishes |
//! |---|---|---|---|
//! | Q1 | `count_done` stores `done` | `is_quiet` loads `done` | what was sent and failed before |
//!
//! An entry that fails the system does so before it counts as done. So a thread that finds the
//! system quiet also sees the failure (Q1) and reports the failure instead: a program in which
//! something has failed has not completed.
//!
//! At least one thread detects quiescence. A worker that finishes a message counts it, executes a
//! light fence, then checks for waiters. A thread that begins to wait registers, executes a heavy
//! fence, then adds up the counts (Q2). Of two workers that finish the last messages, each counts,
//! executes a full fence, then adds up (Q3).
//! # Source
//! Mattern: Algorithms for distributed termination detection. Distributed Computing 2, 1987: the
//! four-counter method. Since the words are in shared memory, two passes over two counters suffice.

use std::fmt;

use raddle_sync::CachePadded;
use raddle_sync::prim::{
    Acquire, AtomicBool, AtomicU64, Mutex, Relaxed, Release, SeqCst, fence, heavy_fence,
    light_fence,
};

use crate::engine::system::System;
use crate::failure::Failure;

/// Is called once all is quiet, or something has failed.
pub(crate) type Notify = Box<dyn FnOnce(Result<(), Failure>) + Send>;

/// Counts messages, and calls those that wait for the end of them.
pub(crate) struct Quiet {
    /// One for each worker, and a last one for all other threads.
    counts: Box<[CachePadded<Counts>]>,
    is_awaited: AtomicBool,
    awaited: Mutex<Vec<Notify>>,
}

#[derive(Debug, Default)]
struct Counts {
    sent: AtomicU64,
    done: AtomicU64,
}

impl fmt::Debug for Quiet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Quiet")
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}

impl Quiet {
    pub(crate) fn new(worker_count: usize) -> Self {
        raddle_sync::prim::prepare_fences();
        Self {
            counts: (0..=worker_count).map(|_| CachePadded::default()).collect(),
            is_awaited: AtomicBool::new(false),
            awaited: Mutex::default(),
        }
    }

    /// Counts a message that `worker`, the current worker, sends.
    #[inline]
    pub(crate) fn count_sent(&self, worker: usize) {
        let sent = &self.counts[worker].sent;
        // Relaxed: the only writer; published by the mailbox, or with `done`.
        sent.store(sent.load(Relaxed) + 1, Relaxed);
    }

    /// Counts a message that a thread which is no worker sends.
    pub(crate) fn count_sent_outside(&self) {
        let outside = &self.counts[self.counts.len() - 1];
        // Relaxed: published by the mailbox.
        outside.sent.fetch_add(1, Relaxed);
    }

    /// Counts a message that `worker`, the current worker, has finished. Returns true if something
    /// waits for quiescence: the worker then checks for it.
    #[inline]
    #[must_use]
    pub(crate) fn count_done(&self, worker: usize) -> bool {
        let done = &self.counts[worker].done;
        // Relaxed: the only writer. ORDERING(Q1): Release, what was sent meanwhile.
        done.store(done.load(Relaxed) + 1, Release);
        // ORDERING(Q2): counted before the look.
        light_fence();
        // Relaxed: ordered by the fence.
        self.is_awaited.load(Relaxed)
    }

    /// Calls `notify` when `system`, which owns these counters, is quiet.
    pub(crate) fn notify_when_quiet(&self, system: &System, notify: Notify) {
        let mut awaited = self.awaited.lock().expect("nothing panics under this lock");
        awaited.push(notify);
        // Relaxed: ordered by the fence.
        self.is_awaited.store(true, Relaxed);
        drop(awaited);
        // ORDERING(Q2): registered before the counts are added up.
        heavy_fence();
        self.check(system);
    }

    /// If the system is quiet, notifies all waiters of that, or of the failure.
    pub(crate) fn check(&self, system: &System) {
        // ORDERING(Q3): counted before the sums.
        fence(SeqCst);
        if !self.is_quiet() {
            return;
        }
        let mut awaited = self.awaited.lock().expect("nothing panics under this lock");
        // Check again under the lock: a waiter in the list has counted its messages before this
        // check.
        if !self.is_quiet() {
            return;
        }
        let all = std::mem::take(&mut *awaited);
        // Relaxed: written under the lock only.
        self.is_awaited.store(false, Relaxed);
        drop(awaited);
        let outcome = system.failure().map_or(Ok(()), Err);
        for notify in all {
            notify(outcome.clone());
        }
    }

    /// Returns true only if there was a moment during the call without a message under way or being
    /// processed. May return false if a message was sent meanwhile.
    pub(crate) fn is_quiet(&self) -> bool {
        let (sent, done) = self.counts();
        sent == done
    }

    /// The messages that have been sent so far, and those that are done with; equal when no message
    /// was under way at some moment during the call.
    pub(crate) fn counts(&self) -> (u64, u64) {
        // ORDERING(Q1): Acquire, what was counted as sent before it.
        let done: u64 = self
            .counts
            .iter()
            .map(|counts| counts.done.load(Acquire))
            .sum();
        // Relaxed: after those above.
        let sent: u64 = self
            .counts
            .iter()
            .map(|counts| counts.sent.load(Relaxed))
            .sum();
        (sent, done)
    }
}
