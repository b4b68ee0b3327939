//! The queue on real threads: order, completeness, and values that are never taken.

use std::sync::Arc;
use std::thread;

use super::*;

#[derive(Debug)]
struct Item<T>(Box<T>);

// SAFETY: the pointer is the box.
unsafe impl<T: Send + std::fmt::Debug> Word for Item<T> {
    type Target = T;

    fn into_raw(self) -> *mut T {
        Box::into_raw(self.0)
    }

    unsafe fn from_raw(pointer: *mut T) -> Self {
        // SAFETY: from `into_raw` (contract).
        Self(unsafe { Box::from_raw(pointer) })
    }
}

fn item<T>(value: T) -> Item<T> {
    Item(Box::new(value))
}

#[test]
fn values_of_one_producer_come_in_order_over_many_blocks() {
    let (producer, consumer) = mpsc();
    assert!(consumer.is_empty() && consumer.pop().is_none());
    for round in 0..5 {
        let count = 10 * SLOTS + round;
        (0..count).for_each(|value| producer.push(item(value)));
        assert!(!consumer.is_empty());
        let all: Vec<usize> = std::iter::from_fn(|| consumer.pop())
            .map(|item| *item.0)
            .collect();
        assert!(all.into_iter().eq(0..count));
        assert!(consumer.is_empty());
    }
}

#[test]
fn values_of_many_producers_come_once_and_in_order_of_each() {
    const PRODUCERS: usize = 4;
    const COUNT: usize = if cfg!(miri) { 200 } else { 50_000 };
    let (producer, consumer) = mpsc();
    let mut seen = [0; PRODUCERS];
    thread::scope(|scope| {
        for number in 0..PRODUCERS {
            let producer = producer.clone();
            scope.spawn(move || (0..COUNT).for_each(|value| producer.push(item((number, value)))));
        }
        while seen.iter().sum::<usize>() < PRODUCERS * COUNT {
            match consumer.pop() {
                Some(value) => {
                    let (number, value) = *value.0;
                    assert_eq!(value, seen[number], "producer {number}");
                    seen[number] += 1;
                }
                None => thread::yield_now(),
            }
        }
    });
    assert!(consumer.pop().is_none());
}

#[test]
fn values_that_are_not_taken_are_dropped_with_the_queue() {
    for count in [0, 1, SLOTS - 1, SLOTS, SLOTS + 1, 3 * SLOTS] {
        let held = Arc::new(());
        let (producer, consumer) = mpsc();
        for _ in 0..count {
            producer.push(item(Arc::clone(&held)));
        }
        drop(consumer.pop());
        drop(consumer);
        producer.push(item(Arc::clone(&held)));
        drop(producer);
        assert_eq!(Arc::strong_count(&held), 1, "{count}");
    }
}
