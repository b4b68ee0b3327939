//! An asynchronous entry that waits, as its element's slot holds it.

use std::any::Any;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::slot::Body;
use crate::engine::object::chare::Chare;
use crate::engine::system::System;
use crate::failure::Failure;
use crate::state::rounds::NextRounds;

/// An asynchronous entry under way; it returns the element, or the way in which it ended.
pub(crate) type EntryFuture<T> = Pin<Box<dyn Future<Output = Result<Body<T>, Failed>> + Send>>;

/// Reports the failure of an entry to the receiver of its reply.
pub(crate) type Report = Box<dyn FnOnce(Failure, &System) + Send>;

/// The entry has panicked.
pub(crate) struct Failed {
    /// The reductions to which the element would have contributed next.
    pub(crate) rounds: NextRounds,
    pub(crate) panic: Box<dyn Any + Send>,
    pub(crate) report: Report,
}

/// An asynchronous entry that waits.
pub(crate) struct Suspended<T: Chare> {
    entry: &'static str,
    future: EntryFuture<T>,
    waker: Waker,
}

impl<T: Chare> fmt::Debug for Suspended<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Suspended").finish_non_exhaustive()
    }
}

impl<T: Chare> Suspended<T> {
    pub(crate) fn new(entry: &'static str, future: EntryFuture<T>, waker: Waker) -> Self {
        Self {
            entry,
            future,
            waker,
        }
    }

    pub(crate) fn entry(&self) -> &'static str {
        self.entry
    }

    /// Runs the entry until it waits or ends.
    pub(crate) fn poll(&mut self) -> Poll<Result<Body<T>, Failed>> {
        let mut context = Context::from_waker(&self.waker);
        self.future.as_mut().poll(&mut context)
    }
}
