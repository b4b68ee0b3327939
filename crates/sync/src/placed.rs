//! Shared values in memory of this process, or at a chosen address in memory that several processes
//! map.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

/// A slice of shared values that keeps its memory alive. A clone refers to the same values.
pub(crate) struct Placed<T> {
    first: NonNull<T>,
    len: usize,
    memory: Arc<dyn Any + Send + Sync>,
}

// SAFETY: it hands out shared references, as an `Arc<[T]>` does, and drops no value.
unsafe impl<T: Send + Sync> Send for Placed<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Placed<T> {}

impl<T> Clone for Placed<T> {
    fn clone(&self) -> Self {
        Self {
            first: self.first,
            len: self.len,
            memory: Arc::clone(&self.memory),
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Placed<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(formatter)
    }
}

impl<T: Send + Sync + 'static> Placed<T> {
    /// Stores the values in memory of this process.
    pub(crate) fn new(values: impl Iterator<Item = T>) -> Self {
        let memory: Arc<[T]> = values.collect();
        Self {
            first: NonNull::from(&memory[..]).cast(),
            len: memory.len(),
            memory: Arc::new(memory),
        }
    }

    /// Stores `len` values that are all zeros in memory of this process. If they are many, the
    /// system provides the memory of each when it is first used.
    ///
    /// # Safety
    /// All zeros are a valid value of `T`, which consists of atomics and needs not be dropped.
    #[cfg(not(any(loom, shuttle)))]
    pub(crate) unsafe fn zeros(len: usize) -> Self {
        use crate::prim::AtomicU64;
        // Words, not values of `T`: for a type with a large alignment, the standard library would
        // store the zeros itself.
        let bytes = len * size_of::<T>() + align_of::<T>();
        let words = Arc::<[AtomicU64]>::new_zeroed_slice(bytes.div_ceil(size_of::<AtomicU64>()));
        // SAFETY: a word may be zero.
        let words = unsafe { words.assume_init() };
        let start = NonNull::from(&words[..]).cast::<u8>();
        let skipped = start.align_offset(align_of::<T>());
        // SAFETY: there are bytes enough to skip.
        let first = unsafe { start.add(skipped) };
        // SAFETY: by the contract of this function; the words behind `first` are enough for `len`
        // values, and are accessed only through the result.
        unsafe { Self::attach(first, len, Arc::new(words)) }
    }

    /// Creates `len` values at `address`, to which other users [attach](Self::attach).
    ///
    /// # Safety
    /// The bytes are readable and writable, aligned for `T`, unused so far, and live as long as
    /// `memory`.
    pub(crate) unsafe fn create(
        address: NonNull<u8>,
        len: usize,
        memory: Arc<dyn Any + Send + Sync>,
        make: impl Fn() -> T,
    ) -> Self {
        let first = address.cast::<T>();
        for index in 0..len {
            // SAFETY: within the bytes that the caller provides.
            let place = unsafe { first.add(index) };
            // SAFETY: as above; no other thread reads the place yet.
            unsafe { place.write(make()) };
        }
        // SAFETY: by the contract of this function; the values have been created.
        unsafe { Self::attach(address, len, memory) }
    }

    /// Uses the values that this or another process has created in memory that this process sees at
    /// `address`.
    ///
    /// # Safety
    /// `len` values begin at `address` and live as long as `memory`. All users access them only as
    /// values of `T`, and they have the same meaning in every process.
    pub(crate) unsafe fn attach(
        address: NonNull<u8>,
        len: usize,
        memory: Arc<dyn Any + Send + Sync>,
    ) -> Self {
        Self {
            first: address.cast(),
            len,
            memory,
        }
    }
}

impl<T> Deref for Placed<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        let values = NonNull::slice_from_raw_parts(self.first, self.len);
        // SAFETY: `len` values exist as long as the memory is kept, and no reference allows them to
        // be moved or dropped.
        unsafe { values.as_ref() }
    }
}
