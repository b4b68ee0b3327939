//! Sections: exclusive or shared access of a task to the data of a location, for one turn.

use std::fmt;
use std::ops::{Deref, DerefMut};

use raddle_sync::ordered::{Guard, Right, Write};
use raddle_sync::prim::Relaxed;
use raddle_trace::record;

use crate::operation::Link;

/// Access to the data of a location, in one turn.
///
/// Dropping the section gives the data back. It must be dropped in the turn in which it was
/// entered.
#[must_use = "the data is given back when the section is dropped"]
pub struct Section<'a, D: ?Sized, R: Right> {
    granted: Guard<'a, D, R>,
    /// Dropped after `granted`, since work between grant and release keeps other tasks waiting.
    _use: Use<'a>,
}

/// Records on drop that the handle was used in its turn.
struct Use<'a>(&'a Link);

impl Drop for Use<'_> {
    #[inline]
    fn drop(&mut self) {
        // Relaxed: read by the operation that has the section.
        let turns = if self.0.is_once {
            u64::MAX
        } else {
            self.0.turns.load(Relaxed) + 1
        };
        self.0.turns.store(turns, Relaxed);
        if record::is_on() {
            self.0.record_end();
        }
    }
}

impl<'a, D: ?Sized, R: Right> Section<'a, D, R> {
    #[inline]
    pub(crate) fn new(granted: Guard<'a, D, R>, link: &'a Link) -> Self {
        if record::is_on() {
            link.record_begin();
        }
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
