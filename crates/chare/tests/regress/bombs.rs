//! Destructors and clones that panic. What is not wanted is dropped by the runtime, beside other messages: each of those runs all the same.
//!
//! Messages were run in loops that were guarded as a whole only. A result that nobody wanted, and whose destructor panicked, took along what
//! came after it: the other elements that a broadcast was for, and what had waited for an element that was still to be made.

use std::sync::mpsc::{self, Receiver, Sender};

use raddle_chare::{Array, Chares, Cx, SectionForm, chare};
use raddle_runtime::Runtime;

use crate::common::{runtime, soon};

/// Panics when it is dropped, if it is armed.
struct Bomb {
    armed: bool,
}

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.armed && !std::thread::panicking() {
            panic!("a destructor");
        }
    }
}

/// Cannot be cloned on worker 1.
struct Shy;

impl Clone for Shy {
    fn clone(&self) -> Self {
        assert_ne!(raddle_runtime::worker_index(), Some(1), "a clone");
        Self
    }
}

/// Counts what it hears.
#[derive(Default)]
struct Counter {
    count: u32,
}

#[chare(index = usize)]
impl Counter {
    #[message]
    fn go();

    #[entry]
    fn hear(&mut self) {
        self.count += 1;
    }
    #[entry]
    fn count(&self) -> u32 {
        self.count
    }
    /// Panics after it has returned, if nobody wants what it does.
    #[entry]
    fn give(&mut self) -> Bomb {
        self.count += 1;
        Bomb { armed: true }
    }
    #[entry]
    fn give_if_first(&mut self, cx: &mut Cx<Self>) -> Bomb {
        self.count += 1;
        Bomb {
            armed: cx.index() == 0,
        }
    }
    #[entry]
    fn give_and_end(&mut self, cx: &mut Cx<Self>) -> Bomb {
        cx.end();
        Bomb { armed: true }
    }
    #[entry]
    async fn give_later(&mut self, cx: &mut Cx<Self>) -> Bomb {
        cx.next(Self::go).await;
        self.count += 1;
        Bomb { armed: true }
    }
    #[entry]
    fn take(&mut self, _bomb: Bomb) {}
    #[entry]
    fn hear_shy(&mut self, _shy: Shy) {
        self.count += 1;
    }
    #[entry]
    async fn wait_and_end(&mut self, cx: &mut Cx<Self>) {
        cx.end();
        cx.next(Self::go).await;
    }
}

/// Keeps its worker until it is told to let it go.
struct Blocker;

#[chare]
impl Blocker {
    #[entry]
    fn block(&mut self, began: Sender<()>, end: Receiver<()>) {
        began.send(()).expect("somebody waits");
        end.recv().expect("somebody ends it");
    }
}

/// Keeps worker `worker` busy until what it returns is sent something.
fn block(runtime: &Runtime, worker: usize) -> Sender<()> {
    let ((began, has_begun), (end, ends)) = (mpsc::channel(), mpsc::channel());
    runtime.chare_on(worker, |_| Blocker).block(began, ends);
    has_begun.recv().expect("it begins");
    end
}

fn counts(counters: Array<Counter>, count: usize) -> Vec<u32> {
    let replies: Vec<_> = (0..count).map(|index| counters.at(index).count()).collect();
    // What has come is there, whatever has failed beside it.
    while !replies.iter().all(|reply| reply.is_here()) {
        std::thread::yield_now();
    }
    let values = replies.into_iter().map(|reply| reply.try_wait());
    values.map(|value| value.expect("it is there")).collect()
}

#[test]
fn a_bomb_at_one_element_of_a_broadcast_leaves_the_others_theirs() {
    let counts = soon(|| {
        let runtime = runtime(2);
        let counters = runtime.array(8, |_| Counter::default());
        counters.all().give_if_first();
        counts(counters, 8)
    });
    assert_eq!(counts, [1; 8]);
}

#[test]
fn a_bomb_at_one_member_of_a_section_leaves_the_others_theirs() {
    for form in [
        SectionForm::TwoLevel,
        SectionForm::PointToPoint,
        SectionForm::Binomial,
    ] {
        soon(move || {
            let runtime = runtime(2);
            let counters = runtime.array(8, |_| Counter::default());
            let section = counters.section_with(form, 0..8);
            section.all().give_if_first();
            // What travels by a tree is under way from member to member.
            while counts(counters, 8) != [1; 8] {}
        });
    }
}

#[test]
fn a_clone_that_panics_keeps_no_other_from_being_made() {
    let counts = soon(|| {
        let runtime = runtime(2);
        let counters = runtime.array(8, |_| Counter::default());
        counters.all().hear_shy(Shy);
        counts(counters, 8)
    });
    assert_eq!(counts, [1, 1, 1, 1, 0, 0, 0, 0]);
}

#[test]
fn what_waits_for_an_element_outlives_a_bomb_among_it() {
    let counts = soon(|| {
        let runtime = runtime(2);
        let counters = runtime.sparse_array::<Counter>();
        let (make, is_made) = mpsc::channel();
        let one = counters.insert_on(1, 0, move |_| {
            is_made.recv().expect("somebody makes it");
            Counter::default()
        });
        drop(one.give());
        for _ in 0..5 {
            one.hear();
        }
        make.send(()).expect("it waits");
        counts(counters, 1)
    });
    assert_eq!(counts, [6]);
}

#[test]
fn what_overtakes_the_birth_of_an_array_outlives_a_bomb_among_it() {
    let counts = soon(|| {
        let runtime = runtime(2);
        let end = block(&runtime, 1);
        let counters = runtime.array(2, |_| Counter::default());
        let urgent = counters.at(1).with_priority(-1);
        drop(urgent.give());
        for _ in 0..5 {
            urgent.hear();
        }
        end.send(()).expect("it is blocked");
        counts(counters, 2)
    });
    assert_eq!(counts, [0, 6]);
}

#[test]
fn what_waits_for_the_end_of_an_entry_outlives_its_bomb() {
    let counts = soon(|| {
        let runtime = runtime(1);
        let counters = runtime.array(1, |_| Counter::default());
        let one = counters.at(0);
        drop(one.give_later());
        for _ in 0..5 {
            one.hear();
        }
        one.go();
        counts(counters, 1)
    });
    assert_eq!(counts, [6]);
}

#[test]
fn an_element_whose_last_result_is_a_bomb_ends() {
    let failure = soon(|| {
        let runtime = runtime(1);
        let one = runtime.array(1, |_| Counter::default()).at(0);
        drop(one.give_and_end());
        let reply = one.count();
        while !reply.is_here() {
            std::thread::yield_now();
        }
        reply.try_wait().expect_err("it has ended")
    });
    assert!(failure.to_string().contains("which has ended"), "{failure}");
}

#[test]
fn bombs_for_an_element_that_ends_leave_the_others_that_wait_an_answer() {
    let failure = soon(|| {
        let runtime = runtime(1);
        let one = runtime.array(1, |_| Counter::default()).at(0);
        one.wait_and_end();
        one.take(Bomb { armed: true });
        one.take(Bomb { armed: true });
        let reply = one.count();
        one.go();
        while !reply.is_here() {
            std::thread::yield_now();
        }
        reply.try_wait().expect_err("it has ended")
    });
    assert!(failure.to_string().contains("which has ended"), "{failure}");
}
