//! The data of a location while a task has it.

use std::fmt;
use std::ops::{Deref, DerefMut};

use raddle_sync::ordered::{Guard, Right, Write};
use raddle_sync::prim::Relaxed;

use crate::operation::Link;

/// The data of a location while a task has it; given back when it is dropped, which has to be in the same turn.
#[must_use = "the data is given back when the section goes"]
pub struct Section<'a, D: ?Sized, R: Right> {
    granted: Guard<'a, D, R>,
    /// Goes behind it: what is done between grant and release keeps others waiting.
    _use: Use<'a>,
}

/// Counts the turn of a handle as one that it was used in when it goes.
struct Use<'a>(&'a Link);

impl Drop for Use<'_> {
    #[inline]
    fn drop(&mut self) {
        // Relaxed: read by the operation whose section it is.
        let turns = if self.0.is_once {
            u64::MAX
        } else {
            self.0.turns.load(Relaxed) + 1
        };
        self.0.turns.store(turns, Relaxed);
    }
}

impl<'a, D: ?Sized, R: Right> Section<'a, D, R> {
    #[inline]
    pub(crate) fn new(granted: Guard<'a, D, R>, link: &'a Link) -> Self {
        Self {
            granted,
            _use: Use(link),
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
