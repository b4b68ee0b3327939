//! Tests of the queue with one producer, on real threads.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::thread;

use super::*;
use crate::lock::{SimpleLock, TicketLock};

#[test]
fn values_are_taken_in_the_order_in_which_they_were_put() {
    let (putter, queue) = single_put::<TicketLock, usize>();
    let count = if LIGHT { 50 } else { 1_000 };
    for value in 0..count {
        putter.put(value);
    }
    assert_eq!(queue.len(), count);
    let taken: Vec<usize> = std::iter::from_fn(|| queue.take_where(|_| true)).collect();
    assert!(taken.into_iter().eq(0..count));
    assert!(queue.is_empty());
}

#[test]
fn a_wanted_value_is_taken_from_the_middle_and_the_others_keep_their_order() {
    let (putter, queue) = single_put::<SimpleLock, usize>();
    // The values wrap around the end of the ring, or move to a larger ring if the ring is small.
    let oldest = CAPACITY - CAPACITY.min(3);
    for value in 0..CAPACITY {
        putter.put(value);
        if value < oldest {
            queue.take_where(|_| true);
        }
    }
    for value in 100..105 {
        putter.put(value);
    }
    assert_eq!(queue.take_where(|&value| value == 102), Some(102));
    assert_eq!(queue.take_where(|&value| value == 7_000), None);
    let rest: Vec<usize> = std::iter::from_fn(|| queue.take_where(|_| true)).collect();
    let expected: Vec<usize> = (oldest..CAPACITY).chain([100, 101, 103, 104]).collect();
    assert_eq!(rest, expected);
}

#[test]
fn values_left_behind_are_dropped() {
    let witness = Rc::new(());
    let (putter, queue) = single_put::<SimpleLock, Rc<()>>();
    for _ in 0..100 {
        putter.put(Rc::clone(&witness));
    }
    drop(queue.take_where(|_| true));
    drop((putter, queue));
    assert_eq!(Rc::strong_count(&witness), 1);
}

#[test]
fn each_value_is_taken_once_while_the_ring_grows() {
    let count = if LIGHT { 200 } else { 50_000 };
    let (putter, queue) = single_put::<TicketLock, usize>();
    let taken: Vec<usize> = thread::scope(|scope| {
        let takers: Vec<_> = (0..3)
            .map(|taker| {
                let queue = &queue;
                scope.spawn(move || {
                    let mut taken = Vec::new();
                    while taken.last() != Some(&usize::MAX) {
                        let value = match taker {
                            0 => queue.take_where(|_| true),
                            _ => {
                                queue.try_take_where(|value| value % 3 > 0 || *value == usize::MAX)
                            }
                        };
                        match value {
                            Some(value) => taken.push(value),
                            None => thread::yield_now(),
                        }
                    }
                    taken.pop();
                    taken
                })
            })
            .collect();
        for value in 0..count {
            putter.put(value);
        }
        for _ in 0..3 {
            putter.put(usize::MAX);
        }
        takers
            .into_iter()
            .flat_map(|taker| taker.join().expect("no panic"))
            .collect()
    });
    let left: Vec<usize> = std::iter::from_fn(|| queue.take_where(|_| true)).collect();
    let all: BTreeSet<usize> = taken.iter().chain(&left).copied().collect();
    assert_eq!(taken.len() + left.len(), count);
    assert!(all.into_iter().eq(0..count));
}
