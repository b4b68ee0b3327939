//! The lines of a software cache: values with keys, which threads pin while they use them, and of
//! which one thread at a time refills one that is not pinned.
//!
//! Which line a key belongs to, and which line is refilled, is decided elsewhere.
//!
//! # States
//! Each line has a word: two bits, and the number of its pins.
//! ```text
//!            try_refill: CAS from no pins              publish: add
//!  EMPTY ──────────────────────────────► FILLING ─────────────────► READY
//!    ▲                                     │  ▲                       │
//!    └───── drop of the refill: subtract ──┘  └── try_refill: CAS ────┘
//!                                                 from no pins
//! ```
//! A thread that pins adds one to the word in any state. If the line is not ready, or has another
//! key, it subtracts one again, without having read the value.
//!
//! # Memory ordering
//! | label | release side | acquire side | what it publishes |
//! |---|---|---|---|
//! | K1 | `publish` adds | `pin` adds | the key and the value |
//! | K2 | drop of a pin subtracts | `try_refill` exchanges | that the value is read no more |
//! | K3 | drop of a refill subtracts | `try_refill` exchanges | what was written |
//!
//! The other changes of the word between the two sides are exchanges, so they continue the release
//! sequence.
//!
//! # Invariants
//! 1. While a line is `FILLING`, only the thread with its refill accesses its value and writes its
//!    key. While a line is `READY`, neither changes.
//! 2. A line moves to `FILLING` only while nothing pins it. So a pin that was taken in `READY`
//!    keeps the line as it is.
//! 3. A word has at most `PINS_MAX` pins, and one more for each thread that is about to find that
//!    out, so that pins never reach the bits.
//!
//! # Source
//! The cache of the distributed ray tracer in Parker, Efficient user-level event notification,
//! section 6.2.7 and figure 28, where a line is locked against eviction while a thread uses it.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr;
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::prim::{Acquire, AtomicU32, AtomicU64, Relaxed, Release, UnsafeCell};

/// The value can be pinned.
const READY: u32 = 1 << 31;
/// The value is being replaced.
const FILLING: u32 = 1 << 30;
/// The largest number of pins of a line.
const PINS_MAX: u32 = 1 << 28;

/// Lines, by index. Clones refer to the same lines.
///
/// # Examples
/// ```
/// use raddle_sync::lines::Lines;
///
/// let lines = Lines::new([0, 0]);
/// assert!(lines.pin(1, 77).is_none());
/// let mut refill = lines.try_refill(1).expect("nothing pins the line");
/// *refill.value_mut() = 5;
/// let first = refill.publish(77);
///
/// let second = lines.pin(1, 77).expect("the line has this key");
/// assert_eq!((*first, *second), (5, 5));
/// assert!(lines.try_refill(1).is_none());
/// drop((first, second));
/// assert!(lines.try_refill(1).is_some());
/// ```
pub struct Lines<T>(Arc<[CachePadded<Line<T>>]>);

struct Line<T> {
    word: AtomicU32,
    key: AtomicU64,
    value: UnsafeCell<T>,
}

// SAFETY: a value is written by one thread at a time, and read by threads that share it
// (invariants 1 and 2).
unsafe impl<T: Send + Sync> Sync for Line<T> {}

/// A line that stays as it is until this is dropped.
#[must_use = "a pin that is dropped keeps nothing"]
pub struct Pin<'a, T> {
    lines: &'a Lines<T>,
    index: usize,
}

/// A line that stays as it is until this is dropped, and a reference to all lines.
pub struct SharedPin<T> {
    lines: Lines<T>,
    index: usize,
}

/// The right to replace the value of a line. If it is dropped, the line is empty.
#[must_use = "a refill that is dropped leaves the line empty"]
pub struct Refill<T> {
    lines: Lines<T>,
    index: usize,
}

impl<T> Lines<T> {
    /// Creates empty lines. The values are what a refill finds.
    #[must_use]
    pub fn new(values: impl IntoIterator<Item = T>) -> Self {
        let line = |value| {
            CachePadded::new(Line {
                word: AtomicU32::new(0),
                key: AtomicU64::new(0),
                value: UnsafeCell::new(value),
            })
        };
        Self(values.into_iter().map(line).collect())
    }

    /// Returns the number of lines.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if there are no lines.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Pins a line if it has this key. Costs two exchanges with the drop of the pin, and a load if
    /// the line has another key.
    ///
    /// # Panics
    /// If there is no such line, or if it has 2²⁸ pins.
    #[inline]
    pub fn pin(&self, index: usize, key: u64) -> Option<Pin<'_, T>> {
        let line = &self.0[index];
        // Relaxed: a hint that avoids an exchange. It is checked below.
        if line.key.load(Relaxed) != key {
            return None;
        }
        // ORDERING(K1): Acquire: the key and the value.
        let word = line.word.fetch_add(1, Acquire);
        // Relaxed: the key does not change in this state (invariant 2).
        if word & !(PINS_MAX - 1) == READY && line.key.load(Relaxed) == key {
            return Some(Pin { lines: self, index });
        }
        line.give_back(word);
        None
    }

    /// Begins to replace the value of a line, unless the line is pinned or another thread replaces
    /// it. May also fail if another thread has just tried to pin it.
    ///
    /// # Panics
    /// If there is no such line.
    #[inline]
    pub fn try_refill(&self, index: usize) -> Option<Refill<T>> {
        let word = &self.0[index].word;
        // Relaxed: decides which exchange is tried.
        let found = word.load(Relaxed) & READY;
        // ORDERING(K2), ORDERING(K3): Acquire: all accesses to the value so far.
        word.compare_exchange(found, FILLING, Acquire, Relaxed)
            .ok()?;
        Some(Refill {
            lines: self.clone(),
            index,
        })
    }

    /// Returns the key of a line if it is ready at some moment of the call.
    #[must_use]
    pub fn key(&self, index: usize) -> Option<u64> {
        let line = &self.0[index];
        // ORDERING(K1): Acquire: the key.
        let is_ready = line.word.load(Acquire) & READY != 0;
        // Relaxed: the line may be refilled at any moment.
        is_ready.then(|| line.key.load(Relaxed))
    }
}

impl<T> Line<T> {
    /// Takes one off the word after a pin found it in the state `word`.
    #[cold]
    fn give_back(&self, word: u32) {
        // Relaxed: the value was not read.
        self.word.fetch_sub(1, Relaxed);
        assert!(word & PINS_MAX == 0, "a line with {PINS_MAX} pins");
    }

    fn unpin(&self) {
        // ORDERING(K2): Release: this thread reads the value no more.
        self.word.fetch_sub(1, Release);
    }

    fn value(&self) -> &T {
        // SAFETY: callers have a pin, so nothing writes the value (invariants 1 and 2).
        self.value.with(|value| unsafe { &*value })
    }
}

impl<T> Pin<'_, T> {
    /// Returns another pin of the line, which may outlive the borrow of the lines.
    #[must_use]
    pub fn to_shared(&self) -> SharedPin<T> {
        // Relaxed: the line is pinned by this pin meanwhile.
        let word = self.lines.0[self.index].word.fetch_add(1, Relaxed);
        if word & PINS_MAX != 0 {
            self.lines.0[self.index].give_back(word);
        }
        SharedPin {
            lines: self.lines.clone(),
            index: self.index,
        }
    }
}

impl<T> Refill<T> {
    /// Returns the index of the line.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the value, which has what the line had before, or what another refill has left.
    #[inline]
    pub fn value_mut(&mut self) -> &mut T {
        let value = &self.lines.0[self.index].value;
        // SAFETY: this thread has the refill of the line, mutably (invariant 1).
        value.with_mut(|value| unsafe { &mut *value })
    }

    /// Makes the line ready, with a key. Returns a pin of it.
    pub fn publish(self, key: u64) -> SharedPin<T> {
        let line = &self.lines.0[self.index];
        // Relaxed: published below.
        line.key.store(key, Relaxed);
        // ORDERING(K1): Release: the key and the value. This removes `FILLING`, and adds `READY`
        // and a pin.
        line.word.fetch_add(READY - FILLING + 1, Release);
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is not dropped, so the reference is moved.
        let lines = unsafe { ptr::read(&raw const this.lines) };
        SharedPin {
            lines,
            index: this.index,
        }
    }
}

impl<T> Clone for Lines<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Deref for Pin<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.lines.0[self.index].value()
    }
}

impl<T> Deref for SharedPin<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.lines.0[self.index].value()
    }
}

impl<T> Drop for Pin<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lines.0[self.index].unpin();
    }
}

impl<T> Drop for SharedPin<T> {
    #[inline]
    fn drop(&mut self) {
        self.lines.0[self.index].unpin();
    }
}

impl<T> Drop for Refill<T> {
    fn drop(&mut self) {
        // ORDERING(K3): Release: what was written to the value.
        self.lines.0[self.index].word.fetch_sub(FILLING, Release);
    }
}

impl<T> fmt::Debug for Lines<T> {
    /// Prints the number of lines, but not their values, of which there may be millions.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} lines", self.len())
    }
}

/// Implements `Debug` for a reference to a line: its index, not its value.
macro_rules! debug_by_index {
    ($($name:literal: $type:ty),+) => {
        $(impl<T> fmt::Debug for $type {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "{} of line {}", $name, self.index)
            }
        })+
    };
}

debug_by_index!("pin": Pin<'_, T>, "pin": SharedPin<T>, "refill": Refill<T>);

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_line_is_not_refilled() {
        let lines = Lines::new([String::new()]);
        let mut refill = lines.try_refill(0).expect("it is empty");
        assert!(lines.try_refill(0).is_none(), "two refills at once");
        assert!(lines.pin(0, 0).is_none(), "pinned while it is refilled");
        refill.value_mut().push_str("one");
        let first = refill.publish(1);
        let second = lines.pin(0, 1).expect("it has this key");
        let third = second.to_shared();
        assert!(lines.pin(0, 2).is_none());
        drop(first);
        drop(second);
        assert!(lines.try_refill(0).is_none());
        assert_eq!(*third, "one");
        drop(third);
        let mut refill = lines.try_refill(0).expect("nothing pins it");
        assert_eq!(lines.key(0), None);
        assert_eq!(refill.value_mut(), "one");
        drop(refill.publish(2));
        assert_eq!(lines.key(0), Some(2));
        assert!(lines.pin(0, 1).is_none());
    }

    #[test]
    fn a_refill_that_is_dropped_leaves_the_line_empty() {
        let lines = Lines::new([1]);
        drop(lines.try_refill(0).expect("it is empty").publish(7));
        drop(lines.try_refill(0).expect("nothing pins it"));
        assert_eq!(lines.key(0), None);
        assert!(lines.pin(0, 7).is_none());
        assert!(lines.try_refill(0).is_some());
    }

    // Safe code: pins that are forgotten are never given back.
    #[test]
    fn pins_that_are_forgotten_keep_the_line_for_ever() {
        let lines = Lines::new([1]);
        drop(lines.try_refill(0).expect("it is empty").publish(7));
        for _ in 0..1_000 {
            std::mem::forget(lines.pin(0, 7));
        }
        assert!(lines.try_refill(0).is_none());
        assert!(lines.pin(0, 7).is_some());
    }

    // Safe code: pins that are forgotten must not reach the bits of the word.
    #[test]
    #[should_panic(expected = "pins")]
    fn a_line_has_a_largest_number_of_pins() {
        let lines = Lines::new([1]);
        drop(lines.try_refill(0).expect("it is empty").publish(7));
        // Relaxed: there is one thread.
        lines.0[0].word.fetch_add(PINS_MAX - 1, Relaxed);
        std::mem::forget(lines.pin(0, 7).expect("the last one"));
        let _ = lines.pin(0, 7);
    }

    #[test]
    fn values_are_dropped_with_their_lines() {
        let counted = Arc::new(());
        let lines = Lines::new([Arc::clone(&counted), Arc::clone(&counted)]);
        let pin = lines.try_refill(1).expect("it is empty").publish(7);
        drop(lines);
        assert_eq!(Arc::strong_count(&counted), 3);
        drop(pin);
        assert_eq!(Arc::strong_count(&counted), 1);
    }
}
