//! Elements that are inserted into an array during reductions, elements with a constructor that
//! panics after the insertion, and elements that are removed twice.
//!
//! Regressions:
//! - Broadcasts and insertions were not ordered. The root included the new element from the first
//!   reduction of which it had seen nothing, although contributions of all other elements to that
//!   reduction were already under way. The element never received the message that would have made
//!   it contribute, so that this reduction and all later ones never ended.
//! - All reductions waited for an element with a constructor that had panicked. Messages to this
//!   element were kept for ever.
//! - Removing an element twice was a failure if the first removal was not complete.

use std::panic::catch_unwind;

use raddle_chare::reduce::Count;
use raddle_chare::{Array, Chares, Cx, chare};
use raddle_runtime::{MailboxKind, Runtime};

use crate::common::runtime_with;
use crate::soon::soon;

fn runtime_with_mailbox(workers: usize, mailbox: MailboxKind) -> Runtime {
    runtime_with(workers, |builder| builder.mailbox(mailbox))
}

struct Voter;

#[chare(index = u64)]
impl Voter {
    #[entry]
    fn vote(&mut self, cx: &mut Cx<Self>) {
        cx.contribute(Count::one());
    }

    #[entry]
    fn go(&mut self, cx: &mut Cx<Self>, to: usize) {
        cx.migrate_to(to);
    }

    #[entry]
    fn ask(&mut self) -> u32 {
        1
    }
}

/// An action between two insertions.
#[derive(Clone, Copy, PartialEq)]
enum Between {
    Vote,
    VoteOfTheLast,
    VoteAndMove,
}

/// Inserts elements, and makes all elements vote before each insertion.
fn put_in(voters: Array<Voter>, workers: usize, between: Between) {
    for index in 0..COUNT {
        match between {
            Between::Vote => voters.all().vote(),
            // Only the element that was inserted last may not exist yet.
            Between::VoteOfTheLast => {
                if index > 0 {
                    voters.at(index - 1).vote();
                }
            }
            Between::VoteAndMove => {
                if index > 0 {
                    voters.at(index - 1).go(index as usize % workers);
                }
                voters.all().vote();
            }
        }
        voters.insert_on(index as usize * 3 % workers, index, |_| Voter);
    }
}

struct Driver;

#[chare]
impl Driver {
    #[entry]
    fn put_in(&mut self, cx: &mut Cx<Self>, voters: Array<Voter>, between: Between) {
        put_in(voters, cx.worker_count(), between);
    }

    #[entry]
    async fn ask_one_that_cannot_be(&mut self, cx: &mut Cx<Self>, voters: Array<Voter>) -> u32 {
        let on = cx.worker_count() - 1;
        voters.insert_on(on, 5, |_| panic!("no")).ask().await
    }
}

const COUNT: u64 = 12;

/// Runs a test for insertions by a thread and by a chare on each worker, with the root on each
/// worker.
fn for_all(test: impl Fn(&Runtime, Array<Voter>, &dyn Fn(Between)) + Copy + Send + 'static) {
    for workers in 1..=4 {
        for mailbox in [MailboxKind::LockFree, MailboxKind::Pairs] {
            for maker in 0..=workers {
                soon(move || {
                    let runtime = runtime_with_mailbox(workers, mailbox);
                    let driver = (maker < workers).then(|| runtime.chare_on(maker, |_| Driver));
                    for _ in 0..workers {
                        let voters = runtime.sparse_array::<Voter>();
                        test(&runtime, voters, &|between| match driver {
                            Some(driver) => driver.put_in(voters, between),
                            None => put_in(voters, workers, between),
                        });
                    }
                });
            }
        }
    }
}

#[test]
fn insertions_after_votes_do_not_disturb_reductions() {
    for_all(|runtime, voters, put_in| {
        voters.insert(1_000, |_| Voter);
        runtime.quiescence().wait();
        put_in(Between::Vote);
        for before in 0..COUNT {
            assert_eq!(voters.reduction::<u64>().wait(), 1 + before);
        }
        runtime.quiescence().wait();
        voters.all().vote();
        assert_eq!(voters.reduction::<u64>().wait(), 1 + COUNT);
    });
}

#[test]
fn elements_that_do_not_exist_yet_vote() {
    for_all(|runtime, voters, put_in| {
        put_in(Between::VoteAndMove);
        runtime.quiescence().wait();
        // The array was empty during the first vote.
        for before in 1..COUNT {
            assert_eq!(voters.reduction::<u64>().wait(), before);
        }
        voters.all().vote();
        assert_eq!(voters.reduction::<u64>().wait(), COUNT);
    });
}

#[test]
fn votes_before_the_creation_of_an_element_count() {
    for_all(|runtime, voters, put_in| {
        put_in(Between::VoteOfTheLast);
        runtime.quiescence().wait();
        // Each element but the last has voted once, each in the reduction after that of its
        // predecessor.
        for index in 0..COUNT {
            let votes = u64::from(index < COUNT - 1);
            for _ in index + votes..COUNT {
                voters.at(index).vote();
            }
        }
        for round in 0..COUNT {
            assert_eq!(voters.reduction::<u64>().wait(), round + 1);
        }
    });
}

#[test]
fn reductions_skip_an_element_with_a_panicking_constructor() {
    for workers in 1..=3 {
        soon(move || {
            let runtime = runtime_with_mailbox(workers, MailboxKind::LockFree);
            let driver = runtime.chare_on(0, |_| Driver);
            let voters = runtime.sparse_array::<Voter>();
            voters.insert(1, |_| Voter);
            let asked = driver.ask_one_that_cannot_be(voters);
            let failure = asked.try_wait().expect_err("it cannot be made");
            assert!(failure.to_string().contains("no"), "{failure}");
            let (mut there, mut tries) = (true, 0);
            while there && tries < 1_000_000 {
                there = voters.get(5).is_some();
                tries += 1;
                std::thread::yield_now();
            }
            assert!(!there);
            let result = voters.reduction::<u64>();
            voters.all().vote();
            while !result.is_here() {
                std::thread::yield_now();
            }
            // The panic fails all pending waits. Results that arrived before remain available.
            assert_eq!(result.try_wait().ok(), Some(1));
        });
    }
}

#[test]
fn removing_an_element_twice_is_allowed() {
    soon(|| {
        let runtime = runtime_with_mailbox(2, MailboxKind::LockFree);
        let voters = runtime.sparse_array::<Voter>();
        for index in 0..100 {
            voters.insert(index, |_| Voter);
            let voter = voters.at(index);
            voters.remove(index);
            // The element may have ended by now.
            let _ = catch_unwind(|| voters.remove(index));
            assert!(voter.ask().try_wait().is_err());
        }
        runtime.quiescence().wait();
        assert!((0..100).all(|index| voters.get(index).is_none()));
    });
}
