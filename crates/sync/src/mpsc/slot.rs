//! The slots of a block: what contains a value, and how the consumer sees that it is there.

use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

use crate::deque::Word;
use crate::prim::{Acquire, AtomicPtr, AtomicU32, LIGHT, Relaxed, Release, UnsafeCell};

/// A place for one value at a time.
///
/// # Safety
/// `take` returns the value of the last `fill` and synchronises with it (M1). A slot that was
/// filled in one round is empty in the next one, after [`clear`](Self::clear). Threads may share
/// slots, apart from the conditions of `fill` and `take`.
pub unsafe trait Slot: fmt::Debug + Sized {
    /// The type of the value.
    type Value: Send;
    /// The slots of one block.
    type Slots: AsRef<[Self]> + fmt::Debug;
    /// The number of slots of a block.
    const COUNT: usize;

    /// Returns the slots of a new block, which are empty in every round but round 0.
    fn slots() -> Self::Slots;

    /// Stores a value.
    ///
    /// # Safety
    /// The caller has claimed the slot. Afterwards it does not access the slot.
    unsafe fn fill(&self, value: Self::Value, round: u32);

    /// Takes the value out, if it is there.
    ///
    /// # Safety
    /// The caller is the consumer, and takes one value from the slot in this round.
    unsafe fn take(&self, round: u32) -> Option<Self::Value>;

    /// Returns true if there is a value.
    fn is_full(&self, round: u32) -> bool;

    /// Prepares the slot for the next round, if the number of the round does not suffice.
    fn clear(&self);
}

/// A slot for a pointer, one of 63.
pub struct PointerSlot<T: Word>(AtomicPtr<T::Target>);

impl<T: Word> fmt::Debug for PointerSlot<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

const POINTERS: usize = if LIGHT { 2 } else { 63 };

// SAFETY: the pointer is null while the slot is empty, and `clear` makes it null.
unsafe impl<T: Word> Slot for PointerSlot<T> {
    type Value = T;
    type Slots = [Self; POINTERS];
    const COUNT: usize = POINTERS;

    fn slots() -> Self::Slots {
        std::array::from_fn(|_| Self(AtomicPtr::new(ptr::null_mut())))
    }

    #[inline]
    unsafe fn fill(&self, value: T, _round: u32) {
        // ORDERING(M1): Release, the value, and `next` with the last slot.
        self.0.store(value.into_raw(), Release);
    }

    #[inline]
    unsafe fn take(&self, _round: u32) -> Option<T> {
        // ORDERING(M1): Acquire, the value, and `next` with the last slot.
        let pointer = self.0.load(Acquire);
        // SAFETY: `fill` stored it, and it is taken once (contract).
        (!pointer.is_null()).then(|| unsafe { T::from_raw(pointer) })
    }

    #[inline]
    fn is_full(&self, _round: u32) -> bool {
        // Relaxed: nothing is read through it.
        !self.0.load(Relaxed).is_null()
    }

    fn clear(&self) {
        // Relaxed: published by `recycle` (M3).
        self.0.store(ptr::null_mut(), Relaxed);
    }
}

/// A slot of one cache line that contains the value, one of 31. With `next` and the number of the
/// round, a block is 2 KiB.
#[repr(C, align(64))]
pub struct LineSlot<T> {
    value: UnsafeCell<MaybeUninit<T>>,
    /// The round in which the slot was filled last.
    mark: AtomicU32,
    owns: PhantomData<T>,
}

impl<T> fmt::Debug for LineSlot<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.mark.fmt(formatter)
    }
}

impl<T> LineSlot<T> {
    /// Fills the slot as [`fill`](Slot::fill) does, with a value that `write` stores at the address
    /// it gets.
    ///
    /// # Safety
    /// The conditions of [`fill`](Slot::fill) hold, and `write` initialises the value.
    #[inline]
    pub(super) unsafe fn fill_in_place(&self, write: impl FnOnce(*mut T), round: u32) {
        // The caller has claimed the slot.
        self.value.with_mut(|place| write(place.cast::<T>()));
        // ORDERING(M1): Release, the value, and `next` with the last slot.
        self.mark.store(round, Release);
    }
}

const LINES: usize = if LIGHT { 2 } else { 31 };

// SAFETY: the mark is the number of the round while the slot is full, and of an earlier round
// otherwise.
unsafe impl<T: Send> Slot for LineSlot<T> {
    type Value = T;
    type Slots = [Self; LINES];
    const COUNT: usize = LINES;

    fn slots() -> Self::Slots {
        const { assert!(size_of::<T>() <= 56 && align_of::<T>() <= 8) };
        std::array::from_fn(|_| Self {
            value: UnsafeCell::new(MaybeUninit::uninit()),
            mark: AtomicU32::new(0),
            owns: PhantomData,
        })
    }

    #[inline]
    unsafe fn fill(&self, value: T, round: u32) {
        let write = |place: *mut T| {
            // SAFETY: the address of the value.
            unsafe { place.write(value) };
        };
        // SAFETY: as promised.
        unsafe { self.fill_in_place(write, round) };
    }

    #[inline]
    unsafe fn take(&self, round: u32) -> Option<T> {
        // ORDERING(M1): Acquire, the value, and `next` with the last slot.
        let is_full = self.mark.load(Acquire) == round;
        let read = |value: *const MaybeUninit<T>| {
            // SAFETY: the producer has written it, and it is taken once (contract).
            unsafe { value.cast::<T>().read() }
        };
        is_full.then(|| self.value.with(read))
    }

    #[inline]
    fn is_full(&self, round: u32) -> bool {
        // Relaxed: nothing is read through it.
        self.mark.load(Relaxed) == round
    }

    fn clear(&self) {}
}
