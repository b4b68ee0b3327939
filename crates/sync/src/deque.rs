//! A work-stealing deque: its owner pushes and pops at the bottom, thieves take from the top.
//!
//! Elements are words ([`Word`]: a pointer together with the ownership of its target), so that a
//! thief may read a slot even if it then fails to win the element. A full ring is replaced by a
//! ring of twice the size. The old rings are kept until the deque is dropped, because a slow thief
//! may still read them. Together they are no larger than the current ring.
//!
//! # Memory ordering
//! | label | release side | acquire side | what it publishes |
//! | --- | --- | --- | --- |
//! | D1 | `push` stores `bottom` | `steal` loads `bottom` | the slot and its pointer's target |
//! | D2 | `steal` CAS of `top` | `push` loads `top` | that the slot has been read |
//! | D3 | `push` stores `ring` | `steal` loads `ring` | the copied slots |
//! | D4 | fence (SeqCst) in `pop` | fence in `steal` | one of the two sees the other |
//!
//! The fence of D4 in `pop` is between its store of `bottom` and its load of `top`. The fence in
//! `steal` is between its loads of `top` and `bottom`.
//!
//! The models fail if one side of D1, D3 or D4 is weakened. D2 forbids that a thief's load of a
//! slot happens after its later CAS. The memory model of loom never does that, so no model covers
//! D2. No model distinguishes SeqCst from Relaxed in the two CAS either; they are SeqCst as in the
//! source.
//! # Invariants
//! 1. `top` only grows. An element belongs to the thread that moved `top` past it by a CAS, or to
//!    the owner if it moved `bottom` below the element and `top` was still smaller after the fence.
//! 2. The ring contains every index from `top` to `bottom`.
//! 3. Only the [`Owner`] writes `bottom`, `ring` and the slots. It cannot be shared or cloned.
//! # Source
//! Chase, Lev: Dynamic circular work-stealing deque. SPAA 2005. Lê, Pop, Cohen, Zappa Nardelli:
//! Correct and efficient work-stealing for weak memory models. PPoPP 2013.

mod ring;

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::prim::{Acquire, AtomicIsize, AtomicPtr, Relaxed, Release, SeqCst, UnsafeCell, fence};
use ring::Ring;

const RING_LEN_FIRST: usize = if crate::prim::LIGHT { 2 } else { 256 };

/// A value of the size of one pointer, which several threads may inspect while one owns it.
///
/// # Safety
/// `from_raw(into_raw(value))` is the same value. A shared reference made from a pointer must be
/// harmless to use, even if another thread has taken the value meanwhile.
pub unsafe trait Word: Send + Sized {
    /// The target of the pointer.
    type Target: std::fmt::Debug;

    /// Converts the value into a pointer, which owns it.
    fn into_raw(self) -> *mut Self::Target;

    /// Converts the pointer back into the value.
    ///
    /// # Safety
    /// `into_raw` returned the pointer, and no other call takes the value.
    unsafe fn from_raw(pointer: *mut Self::Target) -> Self;
}

/// The end at which the owner pushes and pops.
#[derive(Debug)]
pub struct Owner<T: Word> {
    shared: Arc<Shared<T>>,
    /// The owner may be sent to another thread, but not be shared.
    not_sync: PhantomData<std::cell::Cell<()>>,
}

/// The end at which any thread takes the oldest element.
#[derive(Debug)]
pub struct Thief<T: Word> {
    shared: Arc<Shared<T>>,
}

/// The outcome of an attempt to steal.
#[must_use = "a lost race is worth another try, an empty deque is not"]
#[derive(Debug, PartialEq, Eq)]
pub enum Steal<T> {
    /// The oldest element.
    Taken(T),
    /// There was no element, or the oldest one was not wanted.
    Empty,
    /// Another thread was faster.
    Lost,
}

/// The element that the owner took from below other elements.
#[must_use = "a thief may have missed the elements that were briefly hidden"]
#[derive(Debug, PartialEq, Eq)]
pub struct Picked<T> {
    /// The element, unless there was none or a thief was faster.
    pub value: Option<T>,
    /// True if other elements were invisible to thieves for a moment.
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

/// Creates an empty deque and returns its two ends.
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
    /// Pushes `value` at the bottom. Costs a few stores, and occasionally a larger ring.
    pub fn push(&self, value: T) {
        let shared = &*self.shared;
        // Relaxed: only the owner writes it.
        let bottom = shared.bottom.load(Relaxed);
        // ORDERING(D2): Acquire: the thief of the slot that is written next has read it.
        let top = shared.top.load(Acquire);
        // SAFETY: the current ring lives as long as the deque, and only the owner replaces it
        // (invariant 3).
        let mut ring = unsafe { &*shared.ring.load(Relaxed) };
        if bottom - top >= ring.len() {
            ring = self.grow(ring, top, bottom);
        }
        ring.put(bottom, value.into_raw());
        // ORDERING(D1): Release: a thief that sees the new bottom reads the slot and its target.
        shared.bottom.store(bottom + 1, Release);
    }

    /// Pops the youngest element. Costs one full fence.
    pub fn pop(&self) -> Option<T> {
        let shared = &*self.shared;
        // Relaxed: only the owner writes it.
        let bottom = shared.bottom.load(Relaxed) - 1;
        // Relaxed: a first check, which saves the fence if the deque is empty; `top` only grows.
        if shared.top.load(Relaxed) > bottom {
            return None;
        }
        // SAFETY: as in `push`.
        let ring = unsafe { &*shared.ring.load(Relaxed) };
        // ORDERING(D1): Release: a thief that reads this bottom instead of that of the push still
        // sees the slots below it.
        shared.bottom.store(bottom, Release);
        // ORDERING(D4): either a thief sees the lower bottom, or the owner sees the thief's higher
        // top.
        fence(SeqCst);
        // Relaxed: ordered by the fence.
        let top = shared.top.load(Relaxed);
        if top < bottom {
            // SAFETY: no thief can reach this index any more (invariant 1).
            return Some(unsafe { T::from_raw(ring.get(bottom)) });
        }
        // At most one element is left: it goes to the thread that moves `top`.
        // ORDERING(D4): SeqCst like the thieves' CAS.
        let won = top == bottom
            && shared
                .top
                .compare_exchange(top, top + 1, SeqCst, Relaxed)
                .is_ok();
        // ORDERING(D1): Release, as above.
        shared.bottom.store(bottom + 1, Release);
        // SAFETY: the CAS of this thread moved `top` past the element (invariant 1).
        won.then(|| unsafe { T::from_raw(ring.get(bottom)) })
    }

    /// Returns a position in the deque. Elements that are pushed later are at or above it, until an
    /// element below it is popped. With a position that is out of date, or of another deque,
    /// [`take_where`](Self::take_where) looks at more or fewer elements.
    pub fn mark(&self) -> isize {
        // Relaxed: only the owner writes it.
        self.shared.bottom.load(Relaxed)
    }

    /// Returns true if the deque was empty at some moment during the call.
    #[inline]
    pub fn is_empty(&self) -> bool {
        // Relaxed: a hint, since thieves take elements meanwhile.
        self.shared.top.load(Relaxed) >= self.mark()
    }

    /// Takes the youngest element at or above `mark` that is `wanted`, even from below unwanted
    /// ones.
    ///
    /// The unwanted elements above it are invisible to thieves for a moment, even if a thief is
    /// faster and this call takes nothing. The result reports this, and the caller then makes sure
    /// that some thread looks again. Costs a look at every element down to `mark`.
    pub fn take_where(&self, mark: isize, wanted: impl Fn(&T) -> bool) -> Picked<T> {
        let shared = &*self.shared;
        // Relaxed: a lower bound for the search; thieves may pass it meanwhile, which `pop`
        // detects.
        let low = mark.max(shared.top.load(Relaxed));
        // SAFETY: as in `push`.
        let ring = unsafe { &*shared.ring.load(Relaxed) };
        let found = (low..self.mark()).rev().find(|&index| {
            // SAFETY: only inspected. The owner wrote this slot, and `Word` allows inspecting a
            // value that a thief has taken.
            wanted(&ManuallyDrop::new(unsafe { T::from_raw(ring.get(index)) }))
        });
        let Some(index) = found else {
            return Picked::default();
        };
        // Pops down to the wanted element, and then pushes the unwanted ones back in order.
        let mut unwanted = Vec::new();
        let mut taken = None;
        while taken.is_none() && self.mark() > index {
            // There is no value if thieves have taken all remaining elements.
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
        // ORDERING(D3): Release: a thief that sees the new ring sees the copied slots.
        let old = shared.ring.swap(larger, Release);
        // SAFETY: only the owner accesses the list of old rings (invariant 3).
        shared
            .retired
            .with_mut(|retired| unsafe { &mut *retired }.push(Retired(old)));
        // SAFETY: created above, and kept until the deque is dropped.
        unsafe { &*larger }
    }
}

impl<T: Word> Thief<T> {
    /// Takes the oldest element.
    pub fn steal(&self) -> Steal<T> {
        self.steal_if(|_| true)
    }

    /// Takes the oldest element if it is `wanted`.
    ///
    /// `wanted` may be called for an element that another thread takes meanwhile. Its answer is
    /// then ignored.
    pub fn steal_if(&self, wanted: impl FnOnce(&T) -> bool) -> Steal<T> {
        let shared = &*self.shared;
        // Relaxed: the fence below orders the later loads after this one.
        let top = shared.top.load(Relaxed);
        // ORDERING(D4): the counterpart of the fence in `pop`.
        fence(SeqCst);
        // ORDERING(D1): Acquire: the slots below `bottom` are written.
        let bottom = shared.bottom.load(Acquire);
        if top >= bottom {
            return Steal::Empty;
        }
        // ORDERING(D3): Acquire: the slots of a new ring are copied.
        // SAFETY: rings live as long as the deque.
        let pointer = unsafe { &*shared.ring.load(Acquire) }.get(top);
        if pointer.is_null() {
            // This `top` is out of date. The ring has grown since, and a taken element was not
            // copied. The CAS would fail.
            return Steal::Lost;
        }
        // SAFETY: only inspected, and given up below unless the CAS succeeds; `Word` allows that.
        let value = ManuallyDrop::new(unsafe { T::from_raw(pointer) });
        if !wanted(&value) {
            return Steal::Empty;
        }
        // ORDERING(D2): Release: the slot has been read. ORDERING(D4): SeqCst: either the owner or
        // one thief wins.
        match shared.top.compare_exchange(top, top + 1, SeqCst, Relaxed) {
            Ok(_) => Steal::Taken(ManuallyDrop::into_inner(value)),
            Err(_) => Steal::Lost,
        }
    }

    /// Returns true if the deque was empty at some moment during the call.
    #[inline]
    pub fn is_empty(&self) -> bool {
        // Relaxed: callers that rely on the answer execute a SeqCst fence first.
        self.shared.top.load(Relaxed) >= self.shared.bottom.load(Relaxed)
    }

    /// Returns about how many elements there are: a statistic.
    pub fn len_estimate(&self) -> usize {
        // Relaxed: a statistic.
        let (top, bottom) = (
            self.shared.top.load(Relaxed),
            self.shared.bottom.load(Relaxed),
        );
        usize::try_from(bottom - top).unwrap_or(0)
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
// SAFETY: only the one `Owner` accesses the fields that are not atomic (invariant 3).
unsafe impl<T: Word> Sync for Shared<T> {}

impl<T: Word> Drop for Shared<T> {
    fn drop(&mut self) {
        // Relaxed: both ends are dropped, so no other thread accesses the deque.
        let (top, bottom) = (self.top.load(Relaxed), self.bottom.load(Relaxed));
        // SAFETY: created by `Box::into_raw`; replaced rings are in `retired` instead.
        let ring = unsafe { Box::from_raw(self.ring.load(Relaxed)) };
        for index in top..bottom {
            // SAFETY: the elements between the ends belong to the deque.
            drop(unsafe { T::from_raw(ring.get(index)) });
        }
        self.retired.with_mut(|retired| {
            // SAFETY: no other thread accesses the list.
            for Retired(ring) in unsafe { &mut *retired }.drain(..) {
                // SAFETY: created by `Box::into_raw`, and in this list once.
                drop(unsafe { Box::from_raw(ring) });
            }
        });
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
