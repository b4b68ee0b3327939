//! Tests of the deque on real threads.

use super::*;
use crate::prim::{AtomicUsize, Ordering};

/// A number on the heap, so that lost and duplicated elements show up as leaks and double frees.
///
/// It contains a pointer instead of a box, because a thief that loses the race holds an item after
/// its number was freed.
#[derive(Debug)]
struct Item(*mut usize);

// SAFETY: the item owns the number.
unsafe impl Send for Item {}

// SAFETY: an item is its pointer, and the tests read the numbers only of items that they own.
unsafe impl Word for Item {
    type Target = usize;
    fn into_raw(self) -> *mut usize {
        ManuallyDrop::new(self).0
    }
    unsafe fn from_raw(pointer: *mut usize) -> Self {
        Self(pointer)
    }
}

impl Item {
    fn number(&self) -> usize {
        // SAFETY: the test owns the item, so its number exists.
        unsafe { *self.0 }
    }
}

impl PartialEq for Item {
    fn eq(&self, other: &Self) -> bool {
        self.number() == other.number()
    }
}

impl Drop for Item {
    fn drop(&mut self) {
        // SAFETY: created in `item`, and dropped once.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

fn item(number: usize) -> Item {
    Item(Box::into_raw(Box::new(number)))
}

#[test]
fn owner_gets_the_youngest_and_a_thief_the_oldest() {
    let (owner, thief) = deque::<Item>();
    for number in 0..1_000 {
        owner.push(item(number));
    }
    assert_eq!(thief.steal(), Steal::Taken(item(0)));
    assert_eq!(owner.pop(), Some(item(999)));
    assert_eq!(thief.steal_if(|_| false), Steal::Empty);
    assert_eq!(owner.take_where(0, |_| false).value, None);
    assert_eq!(
        owner.take_where(0, |item| item.number() == 900).value,
        Some(item(900))
    );
    assert_eq!(
        owner
            .take_where(owner.mark() - 5, |item| item.number() == 500)
            .value,
        None
    );
    assert_eq!(owner.pop(), Some(item(998)));
}

#[test]
fn every_element_is_taken_exactly_once() {
    const COUNT: usize = if crate::prim::LIGHT { 50 } else { 200_000 };
    let (owner, thief) = deque::<Item>();
    let sum = AtomicUsize::new(0);
    let taken = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while taken.load(Ordering::Relaxed) < COUNT {
                    if let Steal::Taken(item) = thief.steal() {
                        sum.fetch_add(item.number(), Ordering::Relaxed);
                        taken.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        for number in 0..COUNT {
            owner.push(item(number));
            if number % 3 == 0
                && let Some(item) = owner.pop()
            {
                sum.fetch_add(item.number(), Ordering::Relaxed);
                taken.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    assert_eq!(sum.into_inner(), COUNT * (COUNT - 1) / 2);
}

#[test]
fn elements_left_behind_are_dropped_with_the_deque() {
    let (owner, thief) = deque::<Item>();
    for number in 0..600 {
        owner.push(item(number));
    }
    drop(owner);
    drop(thief);
}
