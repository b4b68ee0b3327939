//! The data of a location while a task has it.

use std::fmt;
use std::ops::{Deref, DerefMut};

use raddle_sync::ordered::{Guard, Right, Write};
use raddle_sync::prim::{AtomicBool, Relaxed};

/// The data of a location while a task has it; given back when it is dropped, which has to be in the same turn.
#[must_use = "the data is given back when the section goes"]
pub struct Section<'a, D: ?Sized, R: Right> {
    granted: Guard<'a, D, R>,
    /// Goes behind it: what is done between grant and release keeps others waiting.
    _open: Open<'a>,
}

/// A flag that is true until this goes.
struct Open<'a>(&'a AtomicBool);

impl Drop for Open<'_> {
    #[inline]
    fn drop(&mut self) {
        // Relaxed: read by the operation whose section it is.
        self.0.store(false, Relaxed);
    }
}

impl<'a, D: ?Sized, R: Right> Section<'a, D, R> {
    /// `is_open` has been set, and is cleared when there is none any more.
    #[inline]
    pub(crate) fn new(granted: Guard<'a, D, R>, is_open: &'a AtomicBool) -> Self {
        Self {
            granted,
            _open: Open(is_open),
        }
    }
}

impl<D: ?Sized, R: Right> Deref for Section<'_, D, R> {
    type Target = D;

    #[inline]
    fn deref(&self) -> &D {
        &self.granted
    }
}

impl<D: ?Sized> DerefMut for Section<'_, D, Write> {
    #[inline]
    fn deref_mut(&mut self) -> &mut D {
        &mut self.granted
    }
}

impl<D: ?Sized + fmt::Debug, R: Right> fmt::Debug for Section<'_, D, R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.granted.fmt(formatter)
    }
}
