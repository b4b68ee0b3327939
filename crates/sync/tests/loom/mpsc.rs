//! Models of the queue with many producers and one consumer: each value is taken once, complete and
//! in order, also where a block ends.

use loom::cell::UnsafeCell;
use loom::model::Builder;
use loom::thread;
use raddle_sync::deque::Word;
use raddle_sync::mpsc::{Consumer, LineSlot, PointerSlot, Producer, Slot, mpsc};

/// A number, in a cell that finds unordered accesses.
#[derive(Debug)]
struct Item(Box<UnsafeCell<u32>>);

// SAFETY: loom checks every access to the cell.
unsafe impl Send for Item {}

// SAFETY: the pointer is the box.
unsafe impl Word for Item {
    type Target = UnsafeCell<u32>;

    fn into_raw(self) -> *mut Self::Target {
        Box::into_raw(self.0)
    }

    unsafe fn from_raw(pointer: *mut Self::Target) -> Self {
        // SAFETY: from `into_raw` (contract).
        Self(unsafe { Box::from_raw(pointer) })
    }
}

fn push<S: Slot<Value = Item>>(producer: &Producer<S>, number: u32) {
    let item = Item(Box::new(UnsafeCell::new(0)));
    // SAFETY: the item belongs to this thread; loom checks that.
    item.0.with_mut(|place| unsafe { *place = number });
    producer.push(item);
}

fn pop<S: Slot<Value = Item>>(consumer: &Consumer<S>) -> Option<u32> {
    // SAFETY: the item belongs to this thread; loom checks that.
    consumer
        .pop()
        .map(|item| item.0.with(|number| unsafe { *number }))
}

fn model(check: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(4);
    builder.check(check);
}

fn rest<S: Slot<Value = Item>>(consumer: &Consumer<S>) -> Vec<u32> {
    std::iter::from_fn(|| pop(consumer)).collect()
}

/// Checks M1 and M3: one producer fills two blocks of two slots while the consumer takes.
fn values_are_taken_once_and_in_order<S: Slot<Value = Item> + 'static>() {
    model(|| {
        let (producer, consumer) = mpsc::<S>();
        let other = thread::spawn(move || (0..4).for_each(|value| push(&producer, value)));
        let mut all = Vec::new();
        for _ in 0..3 {
            all.extend(pop(&consumer));
        }
        other.join().expect("no panic");
        all.extend(rest(&consumer));
        assert_eq!(all, [0, 1, 2, 3]);
    });
}

/// Checks M1 and M2: two producers reach the end of a block at the same time.
fn producers_meet_at_the_end_of_a_block<S: Slot<Value = Item> + 'static>() {
    model(|| {
        let (producer, consumer) = mpsc::<S>();
        let other = {
            let producer = producer.clone();
            thread::spawn(move || (10..12).for_each(|value| push(&producer, value)))
        };
        (0..2).for_each(|value| push(&producer, value));
        let mut all: Vec<u32> = pop(&consumer).into_iter().collect();
        other.join().expect("no panic");
        all.extend(rest(&consumer));
        let of = |tens: u32| all.iter().copied().filter(move |value| value / 10 == tens);
        assert!(of(0).eq([0, 1]) && of(1).eq([10, 11]), "{all:?}");
    });
}

/// Checks M3: a block that the consumer has emptied is filled again by a producer.
fn blocks_are_reused<S: Slot<Value = Item> + 'static>() {
    model(|| {
        let (producer, consumer) = mpsc::<S>();
        (0..3).for_each(|value| push(&producer, value));
        let other = thread::spawn(move || (3..6).for_each(|value| push(&producer, value)));
        let mut all = Vec::new();
        for _ in 0..3 {
            all.extend(pop(&consumer));
        }
        other.join().expect("no panic");
        all.extend(rest(&consumer));
        assert_eq!(all, [0, 1, 2, 3, 4, 5]);
    });
}

/// Defines a test of each model for each kind of slot.
macro_rules! for_each_slot {
    ($($model:ident)*) => {
        mod pointers {
            $(#[test]
            fn $model() {
                super::$model::<super::PointerSlot<super::Item>>();
            })*
        }

        mod lines {
            $(#[test]
            fn $model() {
                super::$model::<super::LineSlot<super::Item>>();
            })*
        }
    };
}

for_each_slot! {
    values_are_taken_once_and_in_order
    producers_meet_at_the_end_of_a_block
    blocks_are_reused
}
