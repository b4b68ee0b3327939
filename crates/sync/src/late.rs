//! A value that is made once, perhaps long after its place, and read by all threads from then on.
//!
//! As `std::sync::OnceLock`, of which models see nothing; but nobody can wait for the value.
//!
//! # Memory ordering
//! | label | release side                | acquire side            | what it publishes |
//! |-------|-----------------------------|-------------------------|-------------------|
//! | L1    | `set` exchanges the pointer | `get` loads the pointer | the value         |
//! # Invariants
//! 1. The pointer is null, or that of a box that lives as long as the place and is never changed.

use std::fmt;
use std::marker::PhantomData;
use std::ptr;

use crate::prim::{Acquire, AtomicPtr, Relaxed, Release};

/// A place for a value.
///
/// # Examples
/// ```
/// use raddle_sync::late::Late;
/// let late = Late::new();
/// assert_eq!(late.get(), None);
/// assert_eq!(late.set(1), Ok(()));
/// assert_eq!(late.set(2), Err(2));
/// assert_eq!(late.get(), Some(&1));
/// ```
pub struct Late<T> {
    value: AtomicPtr<T>,
    /// The place owns the value.
    owns: PhantomData<T>,
}

// SAFETY: threads share the value, and any of them may drop it with the place.
unsafe impl<T: Send + Sync> Sync for Late<T> {}

impl<T> Late<T> {
    /// A place without a value.
    #[must_use]
    pub fn new() -> Self {
        Self {
            value: AtomicPtr::new(ptr::null_mut()),
            owns: PhantomData,
        }
    }

    /// Puts the value there.
    ///
    /// # Errors
    /// With the value, when there is one already.
    pub fn set(&self, value: T) -> Result<(), T> {
        let made = Box::into_raw(Box::new(value));
        // ORDERING(L1): Release, the value. Relaxed on failure: nothing is read.
        let exchange = self
            .value
            .compare_exchange(ptr::null_mut(), made, Release, Relaxed);
        match exchange {
            Ok(_) => Ok(()),
            // SAFETY: made above, and put nowhere.
            Err(_) => Err(*unsafe { Box::from_raw(made) }),
        }
    }

    /// The value, once it is there. Cost: a load.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        // ORDERING(L1): Acquire, the value.
        let value = self.value.load(Acquire);
        // SAFETY: null, or a box that lives as long as the place (invariant 1).
        unsafe { value.as_ref() }
    }
}

impl<T> Default for Late<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for Late<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Late").field(&self.get()).finish()
    }
}

impl<T> Drop for Late<T> {
    fn drop(&mut self) {
        // Relaxed: whoever has the place alone has seen the value.
        let value = self.value.load(Relaxed);
        if !value.is_null() {
            // SAFETY: made by `set`, and nobody else has the place any more.
            drop(unsafe { Box::from_raw(value) });
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn values_are_dropped_with_their_place() {
        let counted = Arc::new(());
        let late = Late::new();
        assert!(late.set(Arc::clone(&counted)).is_ok());
        assert!(late.set(Arc::clone(&counted)).is_err());
        assert_eq!(Arc::strong_count(&counted), 2);
        drop(late);
        assert_eq!(Arc::strong_count(&counted), 1);
        drop(Late::<Arc<()>>::new());
    }
}
