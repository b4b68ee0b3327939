//! Models of the deque: every element is taken once, with its content.

use loom::thread;
use raddle_sync::deque::{Steal, Word, deque};
use raddle_sync::prim::UnsafeCell;

/// A number in a tracked cell. The model fails if a thread reads it without the push being
/// published.
#[derive(Debug)]
struct Item(Box<UnsafeCell<usize>>);

// SAFETY: a box is its pointer, and the models inspect only elements that they own.
unsafe impl Word for Item {
    type Target = UnsafeCell<usize>;
    fn into_raw(self) -> *mut Self::Target {
        Box::into_raw(self.0)
    }
    unsafe fn from_raw(pointer: *mut Self::Target) -> Self {
        // SAFETY: the pointer comes from `into_raw` (contract).
        Self(unsafe { Box::from_raw(pointer) })
    }
}

// SAFETY: the tracked cell makes loom check every access.
unsafe impl Send for Item {}

fn item(number: usize) -> Item {
    let item = Item(Box::new(UnsafeCell::new(0)));
    item.0.with_mut(|place| unsafe { *place = number });
    item
}

fn number(item: Item) -> usize {
    item.0.with(|place| unsafe { *place })
}

fn stolen(steal: Steal<Item>) -> usize {
    match steal {
        Steal::Taken(item) => number(item),
        Steal::Empty | Steal::Lost => 0,
    }
}

fn model(body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(body);
}

/// Checks D1 and D4: the last element goes either to the owner or to the thief.
#[test]
fn the_last_element_goes_to_one_thread() {
    model(|| {
        let (owner, thief) = deque();
        let other = thread::spawn(move || stolen(thief.steal()));
        owner.push(item(1));
        let own = owner.pop().map_or(0, number);
        let theirs = other.join().expect("no panic");
        let left = owner.pop().map_or(0, number);
        assert_eq!(own + theirs + left, 1);
    });
}

/// Checks D4 with two elements: owner and thief may compete for either.
#[test]
fn two_elements_are_taken_once_each() {
    model(|| {
        let (owner, thief) = deque();
        owner.push(item(1));
        owner.push(item(2));
        let other = thread::spawn(move || stolen(thief.steal()) + stolen(thief.steal()));
        let own = owner.pop().map_or(0, number) + owner.pop().map_or(0, number);
        let theirs = other.join().expect("no panic");
        let left: usize = std::iter::from_fn(|| owner.pop()).map(number).sum();
        assert_eq!(own + theirs + left, 3);
    });
}

/// Checks D2 and D3: the ring is reused and replaced while a thief reads it.
#[test]
fn no_element_is_lost_while_the_ring_grows_under_a_thief() {
    model(|| {
        let (owner, thief) = deque();
        owner.push(item(1));
        let other = thread::spawn(move || stolen(thief.steal()));
        for value in [2, 4, 8] {
            owner.push(item(value));
        }
        let theirs = other.join().expect("no panic");
        let own: usize = std::iter::from_fn(|| owner.pop()).map(number).sum();
        assert_eq!(own + theirs, 15);
    });
}

/// Checks that one of two thieves gets an element for which they compete.
#[test]
fn two_thieves_take_an_element_once() {
    model(|| {
        let (owner, thief) = deque();
        owner.push(item(1));
        let thieves: Vec<_> = [thief.clone(), thief]
            .into_iter()
            .map(|thief| thread::spawn(move || stolen(thief.steal())))
            .collect();
        let sum: usize = thieves
            .into_iter()
            .map(|thief| thief.join().expect("no panic"))
            .sum();
        let left = owner.pop().map_or(0, number);
        assert_eq!(sum + left, 1);
    });
}

/// Checks D1 and D4: the owner takes an element from below another one while a thief takes from the
/// top.
#[test]
fn an_element_below_another_is_taken_once() {
    model(|| {
        let (owner, thief) = deque();
        let mark = owner.mark();
        let lower = item(1);
        let address = &raw const *lower.0;
        owner.push(lower);
        owner.push(item(2));
        let other = thread::spawn(move || stolen(thief.steal()));
        // Compares only the address, because the content may belong to a thief by now.
        let wanted = |item: &Item| std::ptr::eq(&raw const *item.0, address);
        let own = owner.take_where(mark, wanted).value.map_or(0, number);
        let theirs = other.join().expect("no panic");
        let left: usize = std::iter::from_fn(|| owner.pop()).map(number).sum();
        assert_eq!(own + theirs + left, 3);
    });
}
