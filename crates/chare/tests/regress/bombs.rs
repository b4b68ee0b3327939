//! Destructors and clones that panic. The runtime drops values that the program does not need,
//! between other messages. A panic there must not prevent those other messages from being
//! processed.
//!
//! Regression: loops that process messages caught panics around the whole loop only. An unused
//! result with a panicking destructor therefore lost all later iterations: the other receivers of a
//! broadcast, and the messages that waited for an element to be created.

use std::sync::mpsc;

use raddle_chare::{Array, Chares, Cx, chare};

use crate::FORMS;
use crate::blocker::block;
use crate::bomb::Bomb;
use crate::common::runtime;
use crate::soon::soon;

/// Panics when it is cloned on worker 1.
struct Shy;

impl Clone for Shy {
    fn clone(&self) -> Self {
        assert_ne!(raddle_runtime::worker_index(), Some(1), "a clone");
        Self
    }
}

/// Counts the messages that it receives.
#[derive(Default)]
struct Counter {
    count: u32,
}

#[chare(index = usize)]
impl Counter {
    #[message]
    fn go();

    #[entry]
    fn receive(&mut self) {
        self.count += 1;
    }
    #[entry]
    fn count(&self) -> u32 {
        self.count
    }
    /// Returns a bomb, which panics after the return if the result is unused.
    #[entry]
    fn give(&mut self) -> Bomb {
        self.count += 1;
        Bomb
    }
    #[entry]
    fn give_if_first(&mut self, cx: &mut Cx<Self>) -> Option<Bomb> {
        self.count += 1;
        match cx.index() {
            0 => Some(Bomb),
            _ => None,
        }
    }
    #[entry]
    fn give_and_end(&mut self, cx: &mut Cx<Self>) -> Bomb {
        cx.end();
        Bomb
    }
    #[entry]
    async fn give_later(&mut self, cx: &mut Cx<Self>) -> Bomb {
        cx.next(Self::go).await;
        self.count += 1;
        Bomb
    }
    #[entry]
    fn take(&mut self, _bomb: Bomb) {}
    #[entry]
    fn receive_shy(&mut self, _shy: Shy) {
        self.count += 1;
    }
    #[entry]
    async fn wait_and_end(&mut self, cx: &mut Cx<Self>) {
        cx.end();
        cx.next(Self::go).await;
    }
}

fn counts(counters: Array<Counter>, count: usize) -> Vec<u32> {
    let replies: Vec<_> = (0..count).map(|index| counters.at(index).count()).collect();
    // Messages that arrived are recorded, even if something else failed.
    while !replies.iter().all(|reply| reply.is_here()) {
        std::thread::yield_now();
    }
    let values = replies.into_iter().map(|reply| reply.try_wait());
    values.map(|value| value.expect("it is there")).collect()
}

#[test]
fn a_bomb_at_one_element_does_not_stop_a_broadcast() {
    let counts = soon(|| {
        let runtime = runtime(2);
        let counters = runtime.array(8, |_| Counter::default());
        counters.all().give_if_first();
        counts(counters, 8)
    });
    assert_eq!(counts, [1; 8]);
}

#[test]
fn a_bomb_at_one_member_does_not_stop_a_section_broadcast() {
    for form in FORMS {
        soon(move || {
            let runtime = runtime(2);
            let counters = runtime.array(8, |_| Counter::default());
            let section = counters.section_with(form, 0..8);
            section.all().give_if_first();
            // In the tree form, the message is under way from member to member.
            while counts(counters, 8) != [1; 8] {}
        });
    }
}

#[test]
fn a_panicking_clone_does_not_stop_the_other_clones() {
    let counts = soon(|| {
        let runtime = runtime(2);
        let counters = runtime.array(8, |_| Counter::default());
        counters.all().receive_shy(Shy);
        counts(counters, 8)
    });
    assert_eq!(counts, [1, 1, 1, 1, 0, 0, 0, 0]);
}

#[test]
fn messages_that_wait_for_an_element_survive_a_bomb_among_them() {
    let counts = soon(|| {
        let runtime = runtime(2);
        let counters = runtime.sparse_array::<Counter>();
        let (make, is_made) = mpsc::channel();
        let one = counters.insert_on(1, 0, move |_| {
            is_made.recv().expect("the test releases it");
            Counter::default()
        });
        drop(one.give());
        for _ in 0..5 {
            one.receive();
        }
        make.send(()).expect("it waits");
        counts(counters, 1)
    });
    assert_eq!(counts, [6]);
}

#[test]
fn messages_before_the_creation_of_an_array_survive_a_bomb_among_them() {
    let counts = soon(|| {
        let runtime = runtime(2);
        let end = block(&runtime, 1);
        let counters = runtime.array(2, |_| Counter::default());
        let urgent = counters.at(1).with_priority(-1);
        drop(urgent.give());
        for _ in 0..5 {
            urgent.receive();
        }
        end.send(()).expect("it is blocked");
        counts(counters, 2)
    });
    assert_eq!(counts, [0, 6]);
}

#[test]
fn messages_that_wait_for_the_end_of_an_entry_survive_its_bomb() {
    let counts = soon(|| {
        let runtime = runtime(1);
        let counters = runtime.array(1, |_| Counter::default());
        let one = counters.at(0);
        drop(one.give_later());
        for _ in 0..5 {
            one.receive();
        }
        one.go();
        counts(counters, 1)
    });
    assert_eq!(counts, [6]);
}

#[test]
fn an_element_with_a_bomb_as_its_last_result_ends() {
    let failure = soon(|| {
        let runtime = runtime(1);
        let one = runtime.array(1, |_| Counter::default()).at(0);
        // The reply is dropped before the bomb arrives, so that the worker drops the bomb.
        let end = block(&runtime, 0);
        drop(one.give_and_end());
        let reply = one.count();
        end.send(()).expect("it is blocked");
        while !reply.is_here() {
            std::thread::yield_now();
        }
        reply.try_wait().expect_err("it has ended")
    });
    assert!(failure.to_string().contains("which has ended"), "{failure}");
}

#[test]
fn bombs_for_an_ending_element_do_not_stop_replies_to_other_messages() {
    let failure = soon(|| {
        let runtime = runtime(1);
        let one = runtime.array(1, |_| Counter::default()).at(0);
        one.wait_and_end();
        one.take(Bomb);
        one.take(Bomb);
        let reply = one.count();
        one.go();
        while !reply.is_here() {
            std::thread::yield_now();
        }
        reply.try_wait().expect_err("it has ended")
    });
    assert!(failure.to_string().contains("which has ended"), "{failure}");
}
