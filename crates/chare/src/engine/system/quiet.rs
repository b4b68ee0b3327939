//! Quiescence: when no message is under way and none is being worked on.
//!
//! Each worker counts the messages that it has sent and those that it is done with, each in a word that it alone writes; threads that are
//! no workers count what they send in a word of their own. Who looks adds up all the done, then all the sent. If both sums are the same, all is
//! quiet: whatever was done had been sent before, and has sent what it sent before it was done, so that the messages counted as sent, no
//! more than those counted as done, have sent nothing but themselves. There are no waves and no messages.
//!
//! # Memory ordering
//! | label | release side                               | acquire side                    | what it publishes                |
//! |-------|--------------------------------------------|---------------------------------|----------------------------------|
//! | Q1    | `count_done` stores `done`                 | `is_quiet` loads `done`         | what was sent and failed before  |
//!
//! An entry that fails everybody has done so before it counts as done, so that whoever finds all quiet knows of it (Q1), and tells that
//! instead: a program in which something has failed has not come to its end.
//!
//! Somebody finds it: who is done with a message counts it, light fence, looks whether anybody waits; who begins to wait says so, heavy
//! fence, adds up (Q2). Of two who are done with the last messages, each counts, full fence, adds up (Q3).
//! # Source
//! Mattern: Algorithms for distributed termination detection. Distributed Computing 2, 1987: the four counters, of which
//! two looks at words in memory make two.

use std::fmt;

use raddle_sync::CachePadded;
use raddle_sync::prim::{
    Acquire, AtomicBool, AtomicU64, Mutex, Relaxed, Release, SeqCst, fence, heavy_fence,
    light_fence,
};

use crate::engine::local::Local;
use crate::engine::system::System;
use crate::failure::Failure;

/// Is called once all is quiet, or something has failed.
pub(crate) type Notify = Box<dyn FnOnce(Result<(), Failure>) + Send>;

/// Counts messages, and calls those that wait for the end of them.
pub(crate) struct Quiet {
    /// One for each worker, and a last one for everybody else.
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

    /// Worker `worker`, which this thread is, sends a message.
    #[inline]
    pub(crate) fn count_sent(&self, worker: usize) {
        let sent = &self.counts[worker].sent;
        // Relaxed: the only writer; published by the mailbox, or with `done`.
        sent.store(sent.load(Relaxed) + 1, Relaxed);
    }

    /// A thread that is no worker sends a message.
    pub(crate) fn count_sent_outside(&self) {
        let outside = &self.counts[self.counts.len() - 1];
        // Relaxed: published by the mailbox.
        outside.sent.fetch_add(1, Relaxed);
    }

    /// This worker is done with a message.
    #[inline]
    pub(crate) fn count_done(&self, local: &Local) {
        let done = &self.counts[local.worker()].done;
        // Relaxed: the only writer. ORDERING(Q1): Release, what was sent meanwhile.
        done.store(done.load(Relaxed) + 1, Release);
        // ORDERING(Q2): counted before the look.
        light_fence();
        // Relaxed: ordered by the fence.
        if self.is_awaited.load(Relaxed) {
            self.tell_if_quiet(local);
        }
    }

    /// Looks when this worker has no messages any more: before that there is no use in it.
    #[cold]
    fn tell_if_quiet(&self, local: &Local) {
        if !local.system().post.has_own_mail() {
            self.tell(local.system());
        } else if !local.looks_later().replace(true) {
            // The last of them may not be of chares, and nobody would look after it.
            local.post(local.worker(), |local| local.looks_later().set(false));
        }
    }

    /// Replies when all is quiet in `system`, whose counts these are.
    pub(crate) fn tell_when_quiet(&self, system: &System, notify: Notify) {
        let mut awaited = self.awaited.lock().expect("nothing panics under this lock");
        awaited.push(notify);
        // Relaxed: ordered by the fence.
        self.is_awaited.store(true, Relaxed);
        drop(awaited);
        // ORDERING(Q2): said before the sums.
        heavy_fence();
        self.tell(system);
    }

    /// Replies to all who wait, if all is quiet: that it is, or what has failed.
    fn tell(&self, system: &System) {
        // ORDERING(Q3): counted before the sums.
        fence(SeqCst);
        if !self.is_quiet() {
            return;
        }
        let mut awaited = self.awaited.lock().expect("nothing panics under this lock");
        // Again, under the lock: who is in the list has counted what it sent before this look.
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

    /// True when no message was under way or worked on at some moment during the call; false otherwise, or when one was sent meanwhile.
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
