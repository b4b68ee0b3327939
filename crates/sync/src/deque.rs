//! A work-stealing deque: its owner pushes and pops at the bottom, thieves take from the top.
//!
//! Elements are words ([`Word`]: a pointer and who owns what it points to), so that a thief may read a slot that
//! it then fails to win. Full rings are replaced by rings of twice the size; the old ones are kept until the
//! deque goes, since a slow thief may still read them: together they are no larger than the current one.
//!
//! # Memory ordering
//! | label | release side | acquire side | what it publishes |
//! | --- | --- | --- | --- |
//! | D1 | `push` stores `bottom` | `steal` loads `bottom` | the slot, and what it points to |
//! | D2 | `steal` CAS of `top` | `push` loads `top` | that the slot has been read |
//! | D3 | `push` stores `ring` | `steal` loads `ring` | the copied slots |
//! | D4 | `pop` fence between its store of `bottom` and its load of `top` | `steal` fence between its loads of `top` and `bottom` | one of the two sees the other (SeqCst) |
//!
//! The models fail when one side of D1, D3 or D4 is weakened. D2 forbids a thief's load of a slot to happen after its
//! later CAS, which loom's memory does not do by itself, so no model covers it; nor does one tell SeqCst from
//! Relaxed in the two CAS, which are SeqCst as in the source.
//! # Invariants
//! 1. `top` only grows; an element belongs to the thread whose CAS moved `top` past it, or to the owner that
//!    moved `bottom` below it while `top` was, after the fence, still smaller.
//! 2. The ring holds every index from `top` to `bottom`.
//! 3. Only the [`Owner`] writes `bottom`, `ring` and slots; it cannot be shared or cloned.
//! # Source
//! Chase, Lev: Dynamic circular work-stealing deque. SPAA 2005. Lê, Pop, Cohen, Zappa Nardelli: Correct and
//! efficient work-stealing for weak memory models. PPoPP 2013.

mod ring;

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::prim::{Acquire, AtomicIsize, AtomicPtr, Relaxed, Release, SeqCst, UnsafeCell, fence};
use ring::Ring;

const RING_LEN_FIRST: usize = if crate::prim::LIGHT { 2 } else { 256 };

/// A value that is one pointer wide and may be looked at by several threads while one owns it.
///
/// # Safety
/// `from_raw(into_raw(value))` is the same value. Looking at a shared reference made from a pointer whose value
/// has meanwhile been taken by another thread must be harmless.
pub unsafe trait Word: Send + Sized {
    /// What the pointer points to.
    type Target: std::fmt::Debug;

    /// Gives the value up for a pointer.
    fn into_raw(self) -> *mut Self::Target;

    /// Takes the value back.
    ///
    /// # Safety
    /// The pointer came from `into_raw`, and nobody else takes the value.
    unsafe fn from_raw(pointer: *mut Self::Target) -> Self;
}

/// The end at which one thread pushes and pops.
#[derive(Debug)]
pub struct Owner<T: Word> {
    shared: Arc<Shared<T>>,
    /// The owner may move between threads but not be used by two.
    not_sync: PhantomData<std::cell::Cell<()>>,
}

/// The end at which any thread takes the oldest element.
#[derive(Debug)]
pub struct Thief<T: Word> {
    shared: Arc<Shared<T>>,
}

/// What a thief got.
#[must_use = "a lost race is worth another try, an empty deque is not"]
#[derive(Debug, PartialEq, Eq)]
pub enum Steal<T> {
    /// The oldest element.
    Taken(T),
    /// There was nothing, or nothing that was wanted.
    Empty,
    /// Another thread was quicker.
    Lost,
}

/// What the owner took from under other elements.
#[must_use = "elements that were out of sight may have been looked for"]
#[derive(Debug, PartialEq, Eq)]
pub struct Picked<T> {
    /// The element, unless there was none or a thief was quicker.
    pub value: Option<T>,
    /// Other elements were out of thieves' sight for a moment.
    pub hid: bool,
}

impl<T> Default for Picked<T> {
    fn default() -> Self {
        Self {
            value: None,
            hid: false,
        }
    }
}

/// Makes an empty deque and returns its two ends.
pub fn deque<T: Word>() -> (Owner<T>, Thief<T>) {
    let shared = Arc::new(Shared {
        top: CachePadded::new(AtomicIsize::new(0)),
        bottom: CachePadded::new(AtomicIsize::new(0)),
        ring: AtomicPtr::new(Box::into_raw(Box::new(Ring::new(RING_LEN_FIRST)))),
        retired: UnsafeCell::new(Vec::new()),
        elements: PhantomData,
    });
    (
        Owner {
            shared: Arc::clone(&shared),
            not_sync: PhantomData,
        },
        Thief { shared },
    )
}

impl<T: Word> Clone for Thief<T> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<T: Word> Owner<T> {
    /// Adds `value` at the bottom. Cost: a few stores, now and then a larger ring.
    pub fn push(&self, value: T) {
        let shared = &*self.shared;
        // Relaxed: the owner alone writes it.
        let bottom = shared.bottom.load(Relaxed);
        // ORDERING(D2): Acquire, the slot that is written next has been read by its thief.
        let top = shared.top.load(Acquire);
        // SAFETY: the current ring lives as long as the deque; only the owner replaces it (invariant 3).
        let mut ring = unsafe { &*shared.ring.load(Relaxed) };
        if bottom - top >= ring.len() {
            ring = self.grow(ring, top, bottom);
        }
        ring.put(bottom, value.into_raw());
        // ORDERING(D1): Release, a thief that sees the new bottom reads the slot and behind it.
        shared.bottom.store(bottom + 1, Release);
    }

    /// Takes the youngest element. Cost: one full fence.
    pub fn pop(&self) -> Option<T> {
        let shared = &*self.shared;
        // Relaxed: the owner alone writes it.
        let bottom = shared.bottom.load(Relaxed) - 1;
        // Relaxed: a first look, which spares an empty deque the fence; `top` only grows.
        if shared.top.load(Relaxed) > bottom {
            return None;
        }
        // SAFETY: as in `push`.
        let ring = unsafe { &*shared.ring.load(Relaxed) };
        // ORDERING(D1): Release; a thief that reads this bottom, not that of the push, still sees the slots below it.
        shared.bottom.store(bottom, Release);
        // ORDERING(D4): either a thief sees the lower bottom, or we see its higher top.
        fence(SeqCst);
        // Relaxed: ordered by the fence.
        let top = shared.top.load(Relaxed);
        if top < bottom {
            // SAFETY: no thief can reach this index any more (invariant 1).
            return Some(unsafe { T::from_raw(ring.get(bottom)) });
        }
        // One element at most: it goes to whoever moves `top`.
        // ORDERING(D4): SeqCst like the thieves' CAS.
        let won = top == bottom
            && shared
                .top
                .compare_exchange(top, top + 1, SeqCst, Relaxed)
                .is_ok();
        // ORDERING(D1): Release, as above.
        shared.bottom.store(bottom + 1, Release);
        // SAFETY: our CAS moved `top` past the element (invariant 1).
        won.then(|| unsafe { T::from_raw(ring.get(bottom)) })
    }

    /// A position: whatever is pushed from now on lies at or above it, until something below it is popped. One that is
    /// out of date, or of another deque, makes [`take_where`](Self::take_where) look at more elements or at fewer.
    pub fn mark(&self) -> isize {
        // Relaxed: the owner alone writes it.
        self.shared.bottom.load(Relaxed)
    }

    /// Takes the youngest element at or above `mark` that is `wanted`, from under those that are not.
    ///
    /// Unwanted elements above it are out of thieves' sight for a moment, even if a thief is quicker and nothing is taken;
    /// the result says so, and the caller makes sure that somebody looks again. Cost: a look at every element down to
    /// `mark`.
    pub fn take_where(&self, mark: isize, wanted: impl Fn(&T) -> bool) -> Picked<T> {
        let shared = &*self.shared;
        // Relaxed: a bound for the looks; thieves may pass it meanwhile, and `pop` knows.
        let low = mark.max(shared.top.load(Relaxed));
        // SAFETY: as in `push`.
        let ring = unsafe { &*shared.ring.load(Relaxed) };
        let found = (low..self.mark()).rev().find(|&index| {
            // SAFETY: looked at only; the owner wrote this slot, and `Word` allows the look at what a thief has taken.
            wanted(&ManuallyDrop::new(unsafe { T::from_raw(ring.get(index)) }))
        });
        let Some(index) = found else {
            return Picked::default();
        };
        let mut unwanted = Vec::new();
        let mut taken = None;
        while taken.is_none() && self.mark() > index {
            // Nothing, when thieves were quicker with all that is left.
            let Some(value) = self.pop() else { break };
            if wanted(&value) {
                taken = Some(value);
            } else {
                unwanted.push(value);
            }
        }
        let hid = !unwanted.is_empty();
        for value in unwanted.into_iter().rev() {
            self.push(value);
        }
        Picked { value: taken, hid }
    }

    #[cold]
    fn grow(&self, ring: &Ring<T::Target>, top: isize, bottom: isize) -> &Ring<T::Target> {
        let shared = &*self.shared;
        let larger = Box::into_raw(Box::new(ring.grown(top, bottom)));
        // ORDERING(D3): Release, a thief that sees the new ring sees the copied slots.
        let old = shared.ring.swap(larger, Release);
        // SAFETY: only the owner touches the list of old rings (invariant 3).
        shared
            .retired
            .with_mut(|retired| unsafe { &mut *retired }.push(Retired(old)));
        // SAFETY: just made, and kept until the deque goes.
        unsafe { &*larger }
    }
}

impl<T: Word> Thief<T> {
    /// Takes the oldest element.
    pub fn steal(&self) -> Steal<T> {
        self.steal_if(|_| true)
    }

    /// Takes the oldest element if `wanted` says so.
    ///
    /// `wanted` may be asked about an element that another thread takes meanwhile; its answer then counts for nothing.
    pub fn steal_if(&self, wanted: impl FnOnce(&T) -> bool) -> Steal<T> {
        let shared = &*self.shared;
        // Relaxed: the fence that follows keeps later loads behind it.
        let top = shared.top.load(Relaxed);
        // ORDERING(D4): the partner of the fence in `pop`.
        fence(SeqCst);
        // ORDERING(D1): Acquire, the slots below it are written.
        let bottom = shared.bottom.load(Acquire);
        if top >= bottom {
            return Steal::Empty;
        }
        // ORDERING(D3): Acquire, the slots of a new ring are copied.
        // SAFETY: rings live as long as the deque.
        let pointer = unsafe { &*shared.ring.load(Acquire) }.get(top);
        if pointer.is_null() {
            // Our `top` is old: the ring has grown since, and what was taken has not been copied. The CAS would fail.
            return Steal::Lost;
        }
        // SAFETY: looked at only, and given up below unless the CAS makes it ours; `Word` allows the look.
        let value = ManuallyDrop::new(unsafe { T::from_raw(pointer) });
        if !wanted(&value) {
            return Steal::Empty;
        }
        // ORDERING(D2): Release, the slot has been read. ORDERING(D4): SeqCst, one of owner and thief wins.
        match shared.top.compare_exchange(top, top + 1, SeqCst, Relaxed) {
            Ok(_) => Steal::Taken(ManuallyDrop::into_inner(value)),
            Err(_) => Steal::Lost,
        }
    }

    /// True when the deque was empty at some moment during the call.
    #[inline]
    pub fn is_empty(&self) -> bool {
        // Relaxed: callers that rely on the answer put a SeqCst fence before it.
        self.shared.top.load(Relaxed) >= self.shared.bottom.load(Relaxed)
    }
}

#[derive(Debug)]
struct Shared<T: Word> {
    top: CachePadded<AtomicIsize>,
    bottom: CachePadded<AtomicIsize>,
    ring: AtomicPtr<Ring<T::Target>>,
    retired: UnsafeCell<Vec<Retired<T::Target>>>,
    elements: PhantomData<T>,
}

#[derive(Debug)]
struct Retired<P>(*mut Ring<P>);

// SAFETY: elements are Send (`Word: Send`) and reach another thread through the protocol above.
unsafe impl<T: Word> Send for Shared<T> {}
// SAFETY: the fields that are not atomic are touched by the one `Owner` alone (invariant 3).
unsafe impl<T: Word> Sync for Shared<T> {}

impl<T: Word> Drop for Shared<T> {
    fn drop(&mut self) {
        // Relaxed: both ends are gone, nobody else is here.
        let (top, bottom) = (self.top.load(Relaxed), self.bottom.load(Relaxed));
        // SAFETY: made by `Box::into_raw`, replaced rings are in `retired` instead.
        let ring = unsafe { Box::from_raw(self.ring.load(Relaxed)) };
        for index in top..bottom {
            // SAFETY: elements between the ends belong to the deque.
            drop(unsafe { T::from_raw(ring.get(index)) });
        }
        self.retired.with_mut(|retired| {
            // SAFETY: nobody else is here.
            for Retired(ring) in unsafe { &mut *retired }.drain(..) {
                // SAFETY: made by `Box::into_raw`, and in this list once.
                drop(unsafe { Box::from_raw(ring) });
            }
        });
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
