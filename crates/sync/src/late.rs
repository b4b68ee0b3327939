//! A value that is set once, perhaps long after its cell was created, and read by all threads
//! afterwards.
//!
//! Similar to `std::sync::OnceLock`, which the models cannot check. Threads cannot wait for the
//! value.
//!
//! # Memory ordering
//! | label | release side                | acquire side            | what it publishes |
//! |-------|-----------------------------|-------------------------|-------------------|
//! | L1    | `set` exchanges the pointer | `get` loads the pointer | the value         |
//! # Invariants
//! 1. The pointer is null, or points to a box that lives as long as the cell and never changes.

use std::fmt;
use std::marker::PhantomData;
use std::ptr;

use crate::prim::{Acquire, AtomicPtr, Relaxed, Release};

/// A cell for a value that is set later.
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
    /// The cell owns the value.
    owns: PhantomData<T>,
}

// SAFETY: threads share the value, and any of them may drop it together with the cell.
unsafe impl<T: Send + Sync> Sync for Late<T> {}

impl<T> Late<T> {
    /// Creates a cell without a value.
    #[must_use]
    pub fn new() -> Self {
        Self {
            value: AtomicPtr::new(ptr::null_mut()),
            owns: PhantomData,
        }
    }

    /// Sets the value.
    ///
    /// # Errors
    /// Returns `value` if the cell has a value already.
    pub fn set(&self, value: T) -> Result<(), T> {
        let made = Box::into_raw(Box::new(value));
        // ORDERING(L1): Release: the value. Relaxed on failure: nothing is read.
        let exchange = self
            .value
            .compare_exchange(ptr::null_mut(), made, Release, Relaxed);
        match exchange {
            Ok(_) => Ok(()),
            // SAFETY: created above, and stored nowhere.
            Err(_) => Err(*unsafe { Box::from_raw(made) }),
        }
    }

    /// Returns the value if it has been set. Costs a load.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        // ORDERING(L1): Acquire: the value.
        let value = self.value.load(Acquire);
        // SAFETY: null, or a box that lives as long as the cell (invariant 1).
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
        // Relaxed: exclusive access to the cell implies that the value is visible.
        let value = self.value.load(Relaxed);
        if !value.is_null() {
            // SAFETY: `set` created the box, and no other thread can access the cell any more.
            drop(unsafe { Box::from_raw(value) });
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn values_are_dropped_with_their_cell() {
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
