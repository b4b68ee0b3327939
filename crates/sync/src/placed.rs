//! Values that threads share at a place that somebody else may have chosen: in memory of this process, or in memory that several map.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

/// Values, and what keeps the memory in which they lie. A clone is of the same values.
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
    /// In memory of this process.
    pub(crate) fn new(values: impl Iterator<Item = T>) -> Self {
        let memory: Arc<[T]> = values.collect();
        Self {
            first: NonNull::from(&memory[..]).cast(),
            len: memory.len(),
            memory: Arc::new(memory),
        }
    }

    /// Makes `len` values at `address`, for others to [attach](Self::attach) to.
    ///
    /// # Safety
    /// The bytes can be read and written, are aligned for `T`, live as long as `memory` does, and nobody uses them yet.
    pub(crate) unsafe fn create(
        address: NonNull<u8>,
        len: usize,
        memory: Arc<dyn Any + Send + Sync>,
        make: impl Fn() -> T,
    ) -> Self {
        let first = address.cast::<T>();
        for index in 0..len {
            // SAFETY: within the bytes that the caller has given.
            let place = unsafe { first.add(index) };
            // SAFETY: as above, and nobody reads it yet.
            unsafe { place.write(make()) };
        }
        // SAFETY: as the caller says, and the values are made now.
        unsafe { Self::attach(address, len, memory) }
    }

    /// The values that somebody, perhaps another process, has made at what is `address` here.
    ///
    /// # Safety
    /// `len` values begin at `address`, live as long as `memory` does, and are used by all as such; they mean the same in every process.
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
        // SAFETY: that many lie there as long as the memory is kept, and nobody has a reference through which they are moved or dropped.
        unsafe { values.as_ref() }
    }
}
