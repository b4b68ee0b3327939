//! The queue on real threads, with each kind of slot: order, completeness, and values that are
//! never taken.

use std::sync::Arc;
use std::thread;

use super::*;
use crate::deque::Word;

/// The number of a producer, a number, and something that must be dropped once.
type Content = (usize, usize, Option<Arc<()>>);

#[derive(Debug)]
struct Item(Box<Content>);

// SAFETY: the pointer is the box.
unsafe impl Word for Item {
    type Target = Content;

    fn into_raw(self) -> *mut Content {
        Box::into_raw(self.0)
    }

    unsafe fn from_raw(pointer: *mut Content) -> Self {
        // SAFETY: from `into_raw` (contract).
        Self(unsafe { Box::from_raw(pointer) })
    }
}

fn item(producer: usize, number: usize) -> Item {
    Item(Box::new((producer, number, None)))
}

fn values_of_one_producer_come_in_order_over_many_blocks<S: Slot<Value = Item>>() {
    let (producer, consumer) = mpsc::<S>();
    assert!(consumer.is_empty() && consumer.pop().is_none());
    for round in 0..5 {
        let count = 10 * S::COUNT + round;
        (0..count).for_each(|number| producer.push(item(0, number)));
        assert!(!consumer.is_empty());
        let all = std::iter::from_fn(|| consumer.pop()).map(|item| item.0.1);
        assert!(all.eq(0..count));
        assert!(consumer.is_empty());
    }
}

fn values_of_many_producers_come_once_and_in_order_of_each<S: Slot<Value = Item>>() {
    const PRODUCERS: usize = 4;
    const COUNT: usize = if cfg!(miri) { 200 } else { 50_000 };
    let (producer, consumer) = mpsc::<S>();
    let mut seen = [0; PRODUCERS];
    thread::scope(|scope| {
        for number in 0..PRODUCERS {
            let producer = producer.clone();
            scope.spawn(move || (0..COUNT).for_each(|value| producer.push(item(number, value))));
        }
        while seen.iter().sum::<usize>() < PRODUCERS * COUNT {
            match consumer.pop() {
                Some(value) => {
                    let (number, value, _) = *value.0;
                    assert_eq!(value, seen[number], "producer {number}");
                    seen[number] += 1;
                }
                None => thread::yield_now(),
            }
        }
    });
    assert!(consumer.pop().is_none());
}

fn values_that_are_not_taken_are_dropped_with_the_queue<S: Slot<Value = Item>>() {
    for count in [0, 1, S::COUNT - 1, S::COUNT, S::COUNT + 1, 3 * S::COUNT] {
        let held = Arc::new(());
        let held_by = |number| Item(Box::new((0, number, Some(Arc::clone(&held)))));
        let (producer, consumer) = mpsc::<S>();
        (0..count).for_each(|number| producer.push(held_by(number)));
        drop(consumer.pop());
        drop(consumer);
        producer.push(held_by(count));
        drop(producer);
        assert_eq!(Arc::strong_count(&held), 1, "{count}");
    }
}

/// Checks that the queue works while the number of the round, which has 32 bits, overflows to 0.
#[test]
fn rounds_start_again() {
    let (producer, consumer) = mpsc::<LineSlot<Item>>();
    let block = producer.shared.tail.block.load(Relaxed);
    // SAFETY: the block of the queue, which nothing has been put into.
    unsafe { &*block }.round.store(u32::MAX - 1, Relaxed);
    producer.shared.head.with_mut(|head| {
        // SAFETY: no other thread uses the queue.
        unsafe { *head = Head::at(block) };
    });
    for number in 0..10 * LineSlot::<Item>::COUNT {
        assert!(consumer.is_empty() && consumer.pop().is_none());
        producer.push(item(0, number));
        assert_eq!(consumer.pop().expect("it was put").0.1, number);
    }
}

/// Defines a test of each function for each kind of slot.
macro_rules! for_each_slot {
    ($($check:ident)*) => {
        mod pointers {
            $(#[test]
            fn $check() {
                super::$check::<super::PointerSlot<super::Item>>();
            })*
        }

        mod lines {
            $(#[test]
            fn $check() {
                super::$check::<super::LineSlot<super::Item>>();
            })*
        }
    };
}

for_each_slot! {
    values_of_one_producer_come_in_order_over_many_blocks
    values_of_many_producers_come_once_and_in_order_of_each
    values_that_are_not_taken_are_dropped_with_the_queue
}
