//! Handles: the right to read or to write data, and the requests for it.

use std::fmt;
use std::marker::PhantomData;
use std::task::{Context, Poll, Waker};

use super::{Guard, Loan, Ordered};
use crate::fifo::{Access, Fifo, Request, Standing};

/// The right to read.
#[derive(Debug)]
pub enum Read {}

/// The right to write.
#[derive(Debug)]
pub enum Write {}

/// [`Read`] or [`Write`].
pub trait Right: sealed::Sealed + Send + Sync + 'static {
    /// The kind of access that a handle with this right requests.
    const ACCESS: Access;
}

impl Right for Read {
    const ACCESS: Access = Access::Read;
}

impl Right for Write {
    const ACCESS: Access = Access::Write;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Read {}
    impl Sealed for super::Write {}
}

/// The action on the requests when the guard is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// The requests are given back.
    GiveBack,
    /// The requests are replaced by the next ones, in one step.
    Renew,
}

/// The access of one owner to data, with the right to read or to write it. Dropping it gives back
/// its requests.
pub struct Handle<D: ?Sized, R: Right> {
    pub(super) place: Ordered<D>,
    first: Option<Request>,
    /// The requests in the FIFOs of the other pieces of a whole.
    rest: Vec<Request>,
    /// The action on the requests when the guard is dropped.
    pub(super) then: Then,
    right: PhantomData<R>,
}

impl<D: ?Sized, R: Right> Handle<D, R> {
    /// Creates a handle without requests.
    #[must_use]
    pub fn new(place: &Ordered<D>) -> Self {
        Self {
            place: place.clone(),
            first: None,
            rest: Vec::new(),
            then: Then::GiveBack,
            right: PhantomData,
        }
    }

    /// Returns true if the handle has put in requests, granted or not.
    #[inline]
    pub fn is_in(&self) -> bool {
        self.first.is_some()
    }

    /// Puts a request into each FIFO of the data.
    ///
    /// # Panics
    /// If the handle has requests already, or one of the FIFOs is full
    /// ([`REQUEST_COUNT_MAX`](crate::fifo::REQUEST_COUNT_MAX)). The handle has put no requests in
    /// then.
    pub fn put_in(&mut self) {
        assert!(!self.is_in(), "this handle has put in a request already");
        if self.place.rest().is_empty() {
            self.first = Some(self.place.first().put_in(R::ACCESS));
        } else {
            self.put_in_pieces();
        }
    }

    /// Puts a request into the FIFO of each piece, or into none.
    #[cold]
    fn put_in_pieces(&mut self) {
        /// A guard that gives back the requests put in so far, unless all were put in.
        struct Undo<'a, D: ?Sized, R: Right>(&'a mut Handle<D, R>);
        impl<D: ?Sized, R: Right> Drop for Undo<'_, D, R> {
            fn drop(&mut self) {
                if self.0.rest.len() < self.0.place.rest().len() {
                    self.0.cancel();
                }
            }
        }
        // A panicking waker may have kept some of the last requests from being given back.
        self.cancel();
        let place = self.place.clone();
        // Declared before the lock below, and thus dropped after it, so that no request is given
        // back under the lock.
        let undo = Undo(self);
        let handle = &mut *undo.0;
        let _asking = place.ask();
        handle.first = Some(place.first().put_in(R::ACCESS));
        let fifos = place.rest().iter();
        handle.rest.extend(fifos.map(|fifo| fifo.put_in(R::ACCESS)));
    }

    /// Returns the state of the requests; [`Standing::Waiting`] if there are none.
    #[inline]
    pub fn standing(&self) -> Standing {
        let Some(first) = &self.first else {
            return Standing::Waiting;
        };
        match self.place.first().standing(first) {
            Standing::Granted if !self.rest.is_empty() => self.standing_of_rest(),
            standing => standing,
        }
    }

    #[cold]
    fn standing_of_rest(&self) -> Standing {
        let requests = self.place.rest().iter().zip(&self.rest);
        requests
            .map(|(fifo, request)| fifo.standing(request))
            .find(|&standing| standing != Standing::Granted)
            .unwrap_or(Standing::Granted)
    }

    /// Registers a waker in every FIFO in which the handle waits. Returns false if it no longer
    /// waits.
    pub fn register_waker(&self, waker: &Waker) -> bool {
        let Some(first) = &self.first else {
            return false;
        };
        let requests = self.place.rest().iter().zip(&self.rest);
        requests.fold(
            self.place.first().register_waker(first, waker),
            |waits, (fifo, request)| fifo.register_waker(request, waker) || waits,
        )
    }

    /// Registers a waker in the first FIFO in which the handle waits. Returns false if it no longer
    /// waits there.
    fn register_waker_at_first(&self, waker: &Waker) -> bool {
        let Some(first) = &self.first else {
            return true;
        };
        let rest = self.place.rest().iter().map(|fifo| &**fifo);
        let fifos = std::iter::once(self.place.first()).chain(rest);
        let mut requests = fifos.zip(std::iter::once(first).chain(&self.rest));
        let waiting = requests.find(|(fifo, request)| fifo.standing(request) == Standing::Waiting);
        waiting.is_some_and(|(fifo, request)| fifo.register_waker(request, waker))
    }

    /// Returns the state of the requests. While the handle waits, wakes the waker when it is time
    /// to poll again. For a whole in pieces, this happens piece by piece.
    pub fn poll(&self, context: &mut Context<'_>) -> Poll<Standing> {
        loop {
            match self.standing() {
                Standing::Waiting if self.register_waker_at_first(context.waker()) => {
                    return Poll::Pending;
                }
                Standing::Waiting => {}
                other => return Poll::Ready(other),
            }
        }
    }

    /// Gives access to the data if it is granted. Costs a load, and the cost of `then` when the
    /// guard is dropped.
    #[inline]
    pub fn enter(&mut self, then: Then) -> Option<Guard<'_, D, R>> {
        self.then = then;
        (self.standing() == Standing::Granted).then(|| Guard::new(self))
    }

    /// Gives access to the data together with the handle, if it is granted. The data is given back
    /// when the loan ends; the handle is not returned.
    ///
    /// # Errors
    /// Returns the handle if it is not granted.
    pub fn lend(mut self, then: Then) -> Result<Loan<D, R>, Self> {
        self.then = then;
        if self.standing() == Standing::Granted {
            Ok(Loan::new(self))
        } else {
            Err(self)
        }
    }

    /// Ends the access to the data.
    #[inline]
    pub(super) fn end(&mut self) {
        if !self.rest.is_empty() {
            return self.end_pieces();
        }
        let Some(first) = &mut self.first else { return };
        match self.then {
            Then::Renew => self.place.first().renew(first),
            Then::GiveBack => {
                let first = self.first.take().expect("a guard has a request");
                self.place.first().release(first);
            }
        }
    }

    #[cold]
    fn end_pieces(&mut self) {
        match self.then {
            Then::Renew => self.renew_pieces(),
            Then::GiveBack => {
                if let Some(first) = self.first.take() {
                    self.place.first().release(first);
                }
                for (fifo, request) in self.place.rest().iter().zip(self.rest.drain(..)) {
                    fifo.release(request);
                }
            }
        }
    }

    /// Renews the requests of a whole, in one step as far as handles of the whole can see, and then
    /// wakes the threads that this grants.
    fn renew_pieces(&mut self) {
        let mut granting = Granting(Vec::new());
        // Declared after `granting`, so that the lock is released before the wake-ups.
        let _asking = self.place.ask();
        let rest = self.place.rest().iter().map(|fifo| &**fifo);
        let fifos = std::iter::once(self.place.first()).chain(rest);
        let requests = self.first.iter_mut().chain(&mut self.rest);
        for (fifo, request) in fifos.zip(requests) {
            if let Some(released) = fifo.renew_silently(request) {
                granting.0.push((fifo, released));
            }
        }
    }

    /// Gives back the requests, granted or not.
    pub fn cancel(&mut self) {
        if let Some(first) = self.first.take() {
            self.place.first().cancel(first);
        }
        for (fifo, request) in self.place.rest().iter().zip(self.rest.drain(..)) {
            fifo.cancel(request);
        }
    }
}

/// The FIFOs in which a release has granted sleeping threads, each with its number of releases.
/// Dropping this wakes the threads.
struct Granting<'a>(Vec<(&'a Fifo, u32)>);

impl Drop for Granting<'_> {
    fn drop(&mut self) {
        for (fifo, released) in self.0.drain(..) {
            fifo.wake(released);
        }
    }
}

impl<D: ?Sized, R: Right> Drop for Handle<D, R> {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl<D: ?Sized, R: Right> fmt::Debug for Handle<D, R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Handle")
            .field("access", &R::ACCESS)
            .field("is_in", &self.is_in())
            .field("standing", &self.standing())
            .finish_non_exhaustive()
    }
}
