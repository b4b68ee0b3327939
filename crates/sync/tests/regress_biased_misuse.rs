//! Regression: `biased::Owner::with` and `Others::with` were safe functions, but their callers had
//! to promise not to nest them and not to panic. Nested calls returned two references to one value,
//! of which the outer one could dangle. After a nested call through the other access, or after a
//! panic, every other thread waited for ever.
//!
//! Now a use inside a use of the same thread panics, and a panic ends a use like a return does.

#![cfg(not(any(loom, shuttle)))]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;

use raddle_sync::biased::{Others, Owner, biased};

const REFUSAL: &str = "this thread has the biased value already: its uses must not be nested";

/// Calls `nested`, which must be refused. Afterwards both accesses work, on this thread and on
/// others.
fn expect_refusal(nested: impl FnOnce(&Owner<Vec<u32>>, &Others<Vec<u32>>)) {
    let (owner, others) = biased(vec![1]);
    let panic = catch_unwind(AssertUnwindSafe(|| nested(&owner, &others)))
        .expect_err("a use inside a use is refused");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&REFUSAL));
    expect_both_work(owner, others);
}

fn expect_both_work(owner: Owner<Vec<u32>>, others: Others<Vec<u32>>) {
    owner.with(|numbers| numbers.push(2));
    others.with(|numbers| numbers.push(3));
    let (owner, others) = thread::scope(|scope| {
        let owner = scope.spawn(move || {
            owner.with(|numbers| numbers.push(4));
            owner
        });
        others.with(|numbers| numbers.push(5));
        (owner.join().expect("no panic"), others)
    });
    assert_eq!(owner.with(|numbers| numbers.len()), 5);
    assert_eq!(others.with(|numbers| numbers.len()), 5);
}

#[test]
fn owner_inside_owner_is_refused() {
    expect_refusal(|owner, _| {
        owner.with(|numbers| {
            let first = &numbers[0];
            // This returned the vector again, and freed the memory of `first`.
            owner.with(|numbers| numbers.extend(0..1_000));
            assert_eq!(*first, 1);
        });
    });
}

#[test]
fn others_inside_owner_are_refused() {
    expect_refusal(|owner, others| {
        owner.with(|_| others.with(|numbers| numbers.clear()));
    });
}

#[test]
fn owner_inside_others_is_refused() {
    expect_refusal(|owner, others| {
        others.with(|_| owner.with(|numbers| numbers.clear()));
    });
}

#[test]
fn others_inside_others_are_refused() {
    expect_refusal(|_, others| {
        others.with(|_| others.with(|numbers| numbers.clear()));
    });
}

#[test]
fn different_values_may_be_used_inside_each_other() {
    let (outer, _) = biased(1);
    let (inner, others) = biased(2);
    let sum = outer.with(|one| *one + inner.with(|two| *two));
    assert_eq!(sum + outer.with(|one| *one + others.with(|two| *two)), 6);
}

#[test]
fn a_panic_ends_a_use_through_either_access() {
    let (owner, others) = biased(vec![1]);
    let in_owner = AssertUnwindSafe(|| owner.with(|_| panic!("on purpose")));
    assert!(catch_unwind(in_owner).is_err());
    let in_others = AssertUnwindSafe(|| others.with(|_| panic!("on purpose")));
    assert!(catch_unwind(in_others).is_err());
    expect_both_work(owner, others);
}

/// Checks that the owner's panic lets in a thread that waits for the owner.
#[test]
fn a_panic_of_the_owner_lets_a_waiter_in() {
    let (owner, others) = biased(vec![1]);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        let waiter = scope.spawn(move || {
            receiver.recv().expect("the owner is inside");
            others.with(|numbers| numbers.len())
        });
        let panics = AssertUnwindSafe(|| {
            owner.with(|numbers| {
                numbers.push(2);
                sender.send(()).expect("the waiter still receives");
                panic!("on purpose");
            });
        });
        assert!(catch_unwind(panics).is_err());
        assert_eq!(waiter.join().expect("no panic"), 2);
    });
}
