//! Models of raids: a fork that its owner pops while a thief raids it is run once, by one of the
//! two.
//!
//! Weakening either side of K1, K2 or K3 makes a model here fail. The run counts of the forks are
//! in tracked cells, so that an ordering that is too weak is an error of the model even if the
//! value happens to be right.

use std::ptr;
use std::time::Duration;

use loom::sync::Arc;
use loom::thread::{self, JoinHandle};
use raddle_sync::idle::IdleSet;
use raddle_sync::prim::Tracked;
use raddle_sync::split_stack::SplitStack;

/// A stack of forks, which are identified by their address, and the number of runs of each.
struct Forks {
    stack: SplitStack,
    runs: [Tracked; 2],
}

impl Forks {
    fn new() -> Arc<Self> {
        let forks = Self {
            stack: SplitStack::new(),
            runs: [Tracked::new(0), Tracked::new(0)],
        };
        forks.stack.allocate(3, || false);
        Arc::new(forks)
    }

    fn fork(&self, index: usize) -> *mut () {
        ptr::from_ref(&self.runs[index]).cast_mut().cast::<()>()
    }

    fn run(&self, fork: *mut ()) {
        let run = self
            .runs
            .iter()
            .find(|run| ptr::from_ref(*run).cast_mut().cast::<()>() == fork)
            .expect("a fork of this stack");
        run.set(run.get() + 1);
    }

    /// Pushes a fork as the owner. Publishes the oldest fork if the gates are closed, as a worker
    /// does.
    fn push(&self, index: usize) {
        let slot = self.stack.top();
        let is_asked = !self.stack.lets_push(slot);
        // SAFETY: this thread is the owner, and the slot is free.
        unsafe { self.stack.push(slot, self.fork(index)) };
        if is_asked {
            self.answer();
        }
    }

    fn answer(&self) {
        // SAFETY: this thread is the owner, and publishes below.
        if let Some(answer) = unsafe { self.stack.answer() } {
            // SAFETY: the fork of this answer.
            unsafe { self.stack.publish(answer.slot, answer.fork) };
        }
    }

    fn push_offer(&self, index: usize) {
        // SAFETY: this thread is the owner, and the slot is free.
        unsafe { self.stack.push(self.stack.top(), self.fork(index)) };
    }

    /// Pops a fork as the owner, and runs it unless a thief has it.
    fn pop(&self, index: usize) {
        let slot = self.stack.top().wrapping_sub(1);
        // SAFETY: this thread is the owner, and this is the slot of the newest fork.
        let published = if unsafe { self.stack.pop(slot) } {
            None
        } else {
            // SAFETY: as above.
            unsafe { self.stack.pop_slow(slot, || false) }
        };
        self.end(index, published);
    }

    /// Pops a fork as the owner of a stack with watched gates.
    fn pop_watched(&self, index: usize) {
        let slot = self.stack.top().wrapping_sub(1);
        // SAFETY: this thread is the owner, and this is the slot of the newest fork.
        let published = if unsafe { self.stack.pop_watched(slot) } {
            None
        } else {
            // SAFETY: as above.
            unsafe { self.stack.pop_slow(slot, || false) }
        };
        self.end(index, published);
    }

    /// Pushes a fork as the owner of a stack with watched gates.
    fn push_watched(&self, index: usize) {
        assert!(!self.stack.lets_push(self.stack.top()), "nothing passes");
        let is_asked = self.stack.gates().are_closed();
        // SAFETY: this thread is the owner, and the slot is free.
        unsafe { self.stack.push(self.stack.top(), self.fork(index)) };
        if is_asked {
            self.answer();
        }
    }

    fn pop_offer(&self, index: usize) {
        let slot = self.stack.top().wrapping_sub(1);
        // SAFETY: this thread is the owner, and this is the slot of the newest fork.
        let published = unsafe { self.stack.pop_offer(slot, || false) };
        self.end(index, published);
    }

    /// Ends a pop. A fork that the owner itself has published still belongs to it, because no thief
    /// looks for it here.
    fn end(&self, index: usize, published: Option<*mut ()>) {
        let fork = self.fork(index);
        if published.is_none_or(|published| published == fork) {
            self.run(fork);
        } else {
            assert!(published.is_some_and(<*mut ()>::is_null), "a thief has it");
        }
    }
}

/// Starts a thief that raids once, and runs what it gets.
fn thief(forks: &Arc<Forks>) -> JoinHandle<()> {
    let forks = Arc::clone(forks);
    thread::spawn(move || {
        let mut taken = None;
        let has_raided = forks.stack.raid(|fork, _slot| {
            taken = Some(fork);
            ptr::null_mut()
        });
        assert_eq!(has_raided, taken.is_some());
        taken.into_iter().for_each(|fork| forks.run(fork));
    })
}

fn model(body: impl Fn() + Sync + Send + 'static) {
    model_within(3, body);
}

fn model_within(preemptions: usize, body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 20_000;
    builder.check(body);
}

/// Checks K1 and K2: a fork and its join, while a thief raids.
#[test]
fn a_raided_fork_runs_once() {
    model(|| {
        let forks = Forks::new();
        let thief = thief(&forks);
        forks.push(0);
        forks.pop(0);
        thief.join().expect("no panic");
        assert_eq!(forks.runs[0].get(), 1);
    });
}

/// Checks K1 with two nested forks. The thief takes the older one, no matter which one the owner is
/// about to pop.
#[test]
fn the_older_of_two_forks_is_raided() {
    model(|| {
        let forks = Forks::new();
        forks.push(0);
        let thief = thief(&forks);
        forks.push(1);
        forks.pop(1);
        forks.pop(0);
        thief.join().expect("no panic");
        assert_eq!([0, 1].map(|index| forks.runs[index].get()), [1, 1]);
    });
}

/// Checks K1 and K2 with two nested forks of an owner that is watched.
#[test]
fn a_fork_of_a_watched_owner_runs_once() {
    model(|| {
        let forks = Forks::new();
        forks.stack.watch(true, || false);
        forks.push_watched(0);
        let thief = thief(&forks);
        forks.push_watched(1);
        forks.pop_watched(1);
        forks.pop_watched(0);
        thief.join().expect("no panic");
        assert_eq!([0, 1].map(|index| forks.runs[index].get()), [1, 1]);
    });
}

/// Checks an owner that begins to be watched, and ends it, between its forks.
#[test]
fn watching_begins_and_ends_between_forks() {
    model(|| {
        let forks = Forks::new();
        forks.push(0);
        let thief = thief(&forks);
        forks.stack.watch(true, || false);
        forks.pop_watched(0);
        forks.stack.watch(false, || false);
        forks.push(1);
        forks.pop(1);
        thief.join().expect("no panic");
        assert_eq!([0, 1].map(|index| forks.runs[index].get()), [1, 1]);
    });
}

/// Checks K1 and K3 with an offer, and then another one in the same slot. Neither runs twice, and
/// neither is lost.
#[test]
fn offers_in_one_slot_run_once_each() {
    model(|| {
        let forks = Forks::new();
        let thief = thief(&forks);
        forks.push_offer(0);
        forks.pop_offer(0);
        forks.push_offer(1);
        forks.pop_offer(1);
        thief.join().expect("no panic");
        assert_eq!([0, 1].map(|index| forks.runs[index].get()), [1, 1]);
    });
}

/// Checks a fork above an offer. The offer is older, so the push of the fork publishes it for an
/// asker.
#[test]
fn an_offer_below_a_fork_runs_once() {
    model(|| {
        let forks = Forks::new();
        forks.push_offer(0);
        let thief = thief(&forks);
        forks.push(1);
        forks.pop(1);
        forks.pop_offer(0);
        thief.join().expect("no panic");
        assert_eq!([0, 1].map(|index| forks.runs[index].get()), [1, 1]);
    });
}

/// Checks that one of three threads runs a fork: its owner or one of two thieves.
#[test]
fn two_raids_take_a_fork_once() {
    model_within(2, || {
        let forks = Forks::new();
        forks.push(0);
        let thieves = [thief(&forks), thief(&forks)];
        forks.pop(0);
        for thief in thieves {
            thief.join().expect("no panic");
        }
        assert_eq!(forks.runs[0].get(), 1);
    });
}

/// Checks that a worker that goes to sleep sees the offer, or the owner of the offer sees that the
/// worker sleeps. Otherwise the worker would sleep for ever, which loom reports as a deadlock.
#[test]
fn offer_and_sleep_do_not_miss_each_other() {
    model(|| {
        let forks = Forks::new();
        let idle = IdleSet::new(1);
        let sleeper = {
            let (forks, idle) = (Arc::clone(&forks), idle.clone());
            thread::spawn(move || {
                idle.start_search();
                let sees_forks = || forks.stack.progress().is_some();
                let _ = idle.sleep(0, Duration::ZERO, None, || None, sees_forks, || ());
                idle.found(0, false, || false);
            })
        };
        forks.push_offer(0);
        if idle.only_sleepers() {
            idle.wake_one(0);
        }
        sleeper.join().expect("no panic");
    });
}
