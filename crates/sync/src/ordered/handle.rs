//! A handle: the right to read or to write, and the requests that are in for it.

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
    /// What a handle with this right asks for.
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

/// What becomes of the requests when the guard goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// They are given back.
    GiveBack,
    /// The next ones are put in in their place, in the same step.
    Renew,
}

/// The way of one owner to data, with a right to read or to write it. Dropped, it gives back what it has asked for.
pub struct Handle<D: ?Sized, R: Right> {
    pub(super) place: Ordered<D>,
    first: Option<Request>,
    /// Those in the FIFOs of the other pieces of a whole.
    rest: Vec<Request>,
    /// What becomes of them when the guard goes.
    pub(super) then: Then,
    right: PhantomData<R>,
}

impl<D: ?Sized, R: Right> Handle<D, R> {
    /// A handle that has not asked for anything yet.
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

    /// True when it has asked, granted or not.
    #[inline]
    pub fn is_in(&self) -> bool {
        self.first.is_some()
    }

    /// Asks: puts a request into each FIFO of the data.
    ///
    /// # Panics
    /// When it has asked already, or one of the FIFOs is full
    /// ([`REQUEST_COUNT_MAX`](crate::fifo::REQUEST_COUNT_MAX)). Then it has not asked in any of them.
    pub fn put_in(&mut self) {
        assert!(!self.is_in(), "a handle asks once at a time");
        if self.place.rest().is_empty() {
            self.first = Some(self.place.first().put_in(R::ACCESS));
        } else {
            self.put_in_pieces();
        }
    }

    /// Puts a request into the FIFO of each piece, or into none.
    #[cold]
    fn put_in_pieces(&mut self) {
        /// Gives back what was put in, unless all were.
        struct Undo<'a, D: ?Sized, R: Right>(&'a mut Handle<D, R>);
        impl<D: ?Sized, R: Right> Drop for Undo<'_, D, R> {
            fn drop(&mut self) {
                if self.0.rest.len() < self.0.place.rest().len() {
                    self.0.cancel();
                }
            }
        }
        // A waker that panicked may have kept some of the last ones from being given back.
        self.cancel();
        let place = self.place.clone();
        // Dropped after the lock below, so that nothing is given back under it.
        let undo = Undo(self);
        let handle = &mut *undo.0;
        let _asking = place.ask();
        handle.first = Some(place.first().put_in(R::ACCESS));
        let fifos = place.rest().iter();
        handle.rest.extend(fifos.map(|fifo| fifo.put_in(R::ACCESS)));
    }

    /// Tells how it stands; [`Standing::Waiting`] where it has not asked.
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

    /// Leaves a waker wherever it waits; false when it does not wait any more.
    pub fn leave(&self, waker: &Waker) -> bool {
        let Some(first) = &self.first else {
            return false;
        };
        let requests = self.place.rest().iter().zip(&self.rest);
        requests.fold(
            self.place.first().leave(first, waker),
            |waits, (fifo, request)| fifo.leave(request, waker) || waits,
        )
    }

    /// Leaves a waker in the first FIFO that it waits in; false when it does not wait there any more.
    fn leave_at_first(&self, waker: &Waker) -> bool {
        let Some(first) = &self.first else {
            return true;
        };
        let rest = self.place.rest().iter().map(|fifo| &**fifo);
        let fifos = std::iter::once(self.place.first()).chain(rest);
        let mut requests = fifos.zip(std::iter::once(first).chain(&self.rest));
        let waiting = requests.find(|(fifo, request)| fifo.standing(request) == Standing::Waiting);
        waiting.is_some_and(|(fifo, request)| fifo.leave(request, waker))
    }

    /// Tells how it stands; while it waits, the waker is woken when it is time to ask again: for a whole in pieces, piece after piece.
    pub fn poll(&self, context: &mut Context<'_>) -> Poll<Standing> {
        loop {
            match self.standing() {
                Standing::Waiting if self.leave_at_first(context.waker()) => {
                    return Poll::Pending;
                }
                Standing::Waiting => {}
                other => return Poll::Ready(other),
            }
        }
    }

    /// Gives the data out, if it is granted. Cost: a load, and what `then` costs when the guard goes.
    #[inline]
    pub fn enter(&mut self, then: Then) -> Option<Guard<'_, D, R>> {
        self.then = then;
        (self.standing() == Standing::Granted).then(|| Guard::new(self))
    }

    /// Gives the data out with the handle itself, if it is granted; returned when the loan ends, or never.
    ///
    /// # Errors
    /// The handle, where it is not granted.
    pub fn lend(mut self, then: Then) -> Result<Loan<D, R>, Self> {
        self.then = then;
        if self.standing() == Standing::Granted {
            Ok(Loan::new(self))
        } else {
            Err(self)
        }
    }

    /// Ends the use of the data.
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

    /// Renews the requests of a whole in one step, as far as other wholes can see, and then wakes those that it grants.
    fn renew_pieces(&mut self) {
        let mut granting = Granting(Vec::new());
        // Dropped before the wake-ups.
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

    /// Gives back what it has asked for, granted or not.
    pub fn cancel(&mut self) {
        if let Some(first) = self.first.take() {
            self.place.first().cancel(first);
        }
        for (fifo, request) in self.place.rest().iter().zip(self.rest.drain(..)) {
            fifo.cancel(request);
        }
    }
}

/// FIFOs in which a release has granted somebody who sleeps, and the number of releases: woken when this is dropped.
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
