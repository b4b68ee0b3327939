//! Models of a raid: a fork that its owner pops while a thief raids it is run once, by one of the
//! two.
//!
//! Weakening either side of K1, K2 or K3 makes a model here fail. What a fork stands for lies in
//! tracked cells, so that an ordering that is too weak is an error of the model even where the
//! value happens to be right.

#![cfg(loom)]

use std::ptr;
use std::time::Duration;

use loom::sync::Arc;
use loom::thread::{self, JoinHandle};
use raddle_sync::idle::IdleSet;
use raddle_sync::prim::Tracked;
use raddle_sync::split_stack::SplitStack;

/// Forks on the stack, by their address, and how often each was run.
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

    /// The owner's push. Publishes the oldest fork if the gates are closed, as a worker does.
    fn push(&self, index: usize) {
        let slot = self.stack.top();
        let is_asked = !self.stack.lets_push(slot);
        // SAFETY: this thread is the owner, and there is room.
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
        // SAFETY: this thread is the owner, and there is room.
        unsafe { self.stack.push(self.stack.top(), self.fork(index)) };
    }

    /// The owner's pop: runs the fork unless a thief has it.
    fn pop(&self, index: usize) {
        let slot = self.stack.top().wrapping_sub(1);
        // SAFETY: this thread is the owner, and this the newest fork.
        let published = if unsafe { self.stack.pop(slot) } {
            None
        } else {
            // SAFETY: as above.
            unsafe { self.stack.pop_slow(slot, || false) }
        };
        self.end(index, published);
    }

    fn pop_offer(&self, index: usize) {
        let slot = self.stack.top().wrapping_sub(1);
        // SAFETY: this thread is the owner, and this the newest fork.
        let published = unsafe { self.stack.pop_offer(slot, || false) };
        self.end(index, published);
    }

    /// What the owner has published itself is still its own here: no thief looks for it.
    fn end(&self, index: usize, published: Option<*mut ()>) {
        let fork = self.fork(index);
        if published.is_none_or(|stands_for_it| stands_for_it == fork) {
            self.run(fork);
        } else {
            assert!(published.is_some_and(<*mut ()>::is_null), "a thief has it");
        }
    }
}

/// A thief that raids once, and runs what it gets.
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

/// K1, K2: a fork and its join, while a thief raids.
#[test]
fn fork_that_is_raided_runs_once() {
    model(|| {
        let forks = Forks::new();
        let thief = thief(&forks);
        forks.push(0);
        forks.pop(0);
        thief.join().expect("no panic");
        assert_eq!(forks.runs[0].get(), 1);
    });
}

/// K1: forks two deep; the thief takes the older, whichever the owner is about to pop.
#[test]
fn older_of_two_forks_is_raided() {
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

/// K1, K3: an offer, and another in the same slot: neither is run twice, and none is lost.
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

/// A fork above an offer: the offer is the older one, and is published for whoever asks by the
/// fork's push.
#[test]
fn offer_below_a_fork_runs_once() {
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

/// Two thieves and one fork: one of the three runs it.
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

/// An offer is seen by a worker that goes to sleep, or its owner sees that worker sleep. Otherwise
/// the worker sleeps for ever, which loom reports as a deadlock.
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
