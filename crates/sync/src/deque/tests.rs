//! Tests of the deque on real threads.

use super::*;
use crate::prim::{AtomicUsize, Ordering};

/// A number on the heap, so that lost and doubled elements show as leaks and double frees.
#[derive(Debug, PartialEq, Eq)]
struct Item(Box<usize>);

// SAFETY: a box is its pointer; the tests look only at elements that they own.
unsafe impl Word for Item {
    type Target = usize;
    fn into_raw(self) -> *mut usize {
        Box::into_raw(self.0)
    }
    unsafe fn from_raw(pointer: *mut usize) -> Self {
        // SAFETY: from `into_raw` (contract).
        Self(unsafe { Box::from_raw(pointer) })
    }
}

fn item(number: usize) -> Item {
    Item(Box::new(number))
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
        owner.take_where(0, |item| *item.0 == 900).value,
        Some(item(900))
    );
    assert_eq!(
        owner
            .take_where(owner.mark() - 5, |item| *item.0 == 500)
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
                        sum.fetch_add(*item.0, Ordering::Relaxed);
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
                sum.fetch_add(*item.0, Ordering::Relaxed);
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
