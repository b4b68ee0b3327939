//! Locations: what tasks share, and how the world outside of a program reaches it.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use raddle_runtime::Waiter;
use raddle_sync::fifo::Standing;
use raddle_sync::ordered::{self, Ordered, Read, Right, Then, Write};
use raddle_sync::prim::{AtomicUsize, Relaxed};

use crate::error::Broken;

/// A resource that tasks share: data, and the FIFO of requests for it. A clone is the same location.
///
/// Made by [`Program::location`](crate::Program::location) and its kin. Tasks reach the data through handles; anybody
/// else through [`read`](Self::read) and [`write`](Self::write), before, after and while the program runs.
pub struct Location<D: ?Sized> {
    pub(crate) of: Arc<Identity>,
    /// One place; those of the turns that are kept, where old values are.
    pub(crate) ring: Arc<[Ordered<D>]>,
    pub(crate) bytes_of: fn(&D) -> usize,
}

/// Which location it is.
#[derive(Debug)]
pub(crate) struct Identity {
    /// Its program's number, which no other program has.
    pub(crate) program: u64,
    /// Its place among the locations of the program.
    pub(crate) index: usize,
    pub(crate) name: String,
    /// A piece has the index of its whole; others their own.
    pub(crate) whole: usize,
    /// The values it keeps.
    pub(crate) depth: usize,
    /// The place in the ring with the newest value.
    pub(crate) newest: AtomicUsize,
}

impl<D: ?Sized> Location<D> {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.of.name
    }

    /// Waits until the data may be read, behind all that have asked before, and gives it out.
    ///
    /// Of a location that keeps old values, the newest that a run has left, or the initial one.
    ///
    /// # Errors
    /// [`Broken`] when a task panicked while it wrote.
    pub fn read(&self) -> Result<Outside<D, Read>, Broken> {
        self.enter()
    }

    /// As [`read`](Self::read), to write.
    ///
    /// # Errors
    /// [`Broken`] when a task panicked while it wrote.
    pub fn write(&self) -> Result<Outside<D, Write>, Broken> {
        self.enter()
    }

    fn enter<R: Right>(&self) -> Result<Outside<D, R>, Broken> {
        // Relaxed: written before and after a run.
        let newest = self.of.newest.load(Relaxed);
        let mut handle = ordered::Handle::new(&self.ring[newest]);
        handle.put_in();
        let waiter = Waiter::current();
        loop {
            match handle.lend(Then::GiveBack) {
                Ok(loan) => return Ok(Outside(loan)),
                Err(_) if self.ring[newest].is_stopped() => {
                    return Err(Broken {
                        location: self.of.name.clone(),
                    });
                }
                Err(waiting) => handle = waiting,
            }
            waiter.wait_asking(
                true,
                || handle.standing() != Standing::Waiting,
                |waiter| while_in(&handle, waiter),
            );
        }
    }
}

/// Leaves the waiter's waker, if the handle still waits.
fn while_in<D: ?Sized, R: Right>(handle: &ordered::Handle<D, R>, waiter: &Waiter) {
    let _ = handle.leave(&waiter.waker());
}

impl<D: ?Sized> Clone for Location<D> {
    fn clone(&self) -> Self {
        Self {
            of: Arc::clone(&self.of),
            ring: Arc::clone(&self.ring),
            bytes_of: self.bytes_of,
        }
    }
}

impl<D: ?Sized> fmt::Debug for Location<D> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Location")
            .field("name", &self.of.name)
            .field("depth", &self.ring.len())
            .finish_non_exhaustive()
    }
}

/// Items in one piece of memory that can be used as a whole or in pieces; see [`Program::split`](crate::Program::split).
#[derive(Debug)]
pub struct Split<T> {
    /// All items.
    pub whole: Location<[T]>,
    /// The pieces, in their order.
    pub pieces: Vec<Location<[T]>>,
}

/// A location's data, reached from outside of its program; given back when it is dropped.
#[must_use = "the data is given back when this goes"]
pub struct Outside<D: ?Sized, R: Right>(ordered::Loan<D, R>);

impl<D: ?Sized, R: Right> Deref for Outside<D, R> {
    type Target = D;

    fn deref(&self) -> &D {
        &self.0
    }
}

impl<D: ?Sized> DerefMut for Outside<D, Write> {
    fn deref_mut(&mut self) -> &mut D {
        &mut self.0
    }
}

impl<D: ?Sized + fmt::Debug, R: Right> fmt::Debug for Outside<D, R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
