//! The circular array of a deque: slots addressed by an index that only grows.

use crate::prim::{AtomicPtr, Relaxed};

/// A ring of `len` slots, a power of two. Index `i` is stored in slot `i mod len`.
#[derive(Debug)]
pub(super) struct Ring<P> {
    slots: Box<[AtomicPtr<P>]>,
}

impl<P> Ring<P> {
    pub(super) fn new(len: usize) -> Self {
        debug_assert!(len.is_power_of_two());
        Self {
            slots: (0..len)
                .map(|_| AtomicPtr::new(std::ptr::null_mut()))
                .collect(),
        }
    }

    /// Returns a ring of twice the size with the same elements.
    pub(super) fn grown(&self, top: isize, bottom: isize) -> Self {
        let larger = Self::new(2 * self.slots.len());
        for index in top..bottom {
            larger.put(index, self.get(index));
        }
        larger
    }

    pub(super) fn len(&self) -> isize {
        self.slots.len().cast_signed()
    }

    #[inline]
    pub(super) fn get(&self, index: isize) -> *mut P {
        // Relaxed: the deque's indices order the slots.
        self.slot(index).load(Relaxed)
    }

    #[inline]
    pub(super) fn put(&self, index: isize, pointer: *mut P) {
        // Relaxed: the deque's indices order the slots.
        self.slot(index).store(pointer, Relaxed);
    }

    #[inline]
    fn slot(&self, index: isize) -> &AtomicPtr<P> {
        &self.slots[index.cast_unsigned() & (self.slots.len() - 1)]
    }
}
