//! Guards: access to granted data.

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::unwinding::is_unwinding;
use super::{Handle, Right, Then, Write};
use crate::fifo::Access;
use crate::prim::panicking;

/// Access to granted data. When the guard is dropped, the requests are given back or renewed. In a
/// panic, data that may be half written is stopped.
#[must_use = "the data is given back when the guard is dropped"]
pub struct Guard<'a, D: ?Sized, R: Right>(&'a mut Handle<D, R>);

impl<'a, D: ?Sized, R: Right> Guard<'a, D, R> {
    /// Creates the guard of a granted handle (invariant 1).
    #[inline]
    pub(super) fn new(handle: &'a mut Handle<D, R>) -> Self {
        Self(handle)
    }
}

impl<D: ?Sized, R: Right> Deref for Guard<'_, D, R> {
    type Target = D;

    #[inline]
    fn deref(&self) -> &D {
        // SAFETY: granted, so only the owner of this guard may write (invariant 1).
        unsafe { self.0.place.data.as_ref() }
    }
}

impl<D: ?Sized> DerefMut for Guard<'_, D, Write> {
    #[inline]
    fn deref_mut(&mut self) -> &mut D {
        // SAFETY: granted to write, so no other thread has access (invariant 1).
        unsafe { self.0.place.data.as_mut() }
    }
}

impl<D: ?Sized, R: Right> Drop for Guard<'_, D, R> {
    #[inline]
    fn drop(&mut self) {
        end(self.0);
    }
}

/// Access to granted data that owns its handle, so that it can be kept and sent.
#[must_use = "the data is given back when the loan ends"]
pub struct Loan<D: ?Sized, R: Right>(Handle<D, R>);

impl<D: ?Sized, R: Right> Loan<D, R> {
    /// Creates the loan of a granted handle (invariant 1).
    pub(super) fn new(handle: Handle<D, R>) -> Self {
        Self(handle)
    }
}

impl<D: ?Sized, R: Right> Deref for Loan<D, R> {
    type Target = D;

    #[inline]
    fn deref(&self) -> &D {
        // SAFETY: granted, so only the owner of this loan may write (invariant 1).
        unsafe { self.0.place.data.as_ref() }
    }
}

impl<D: ?Sized> DerefMut for Loan<D, Write> {
    #[inline]
    fn deref_mut(&mut self) -> &mut D {
        // SAFETY: granted to write, so no other thread has access (invariant 1).
        unsafe { self.0.place.data.as_mut() }
    }
}

impl<D: ?Sized, R: Right> Drop for Loan<D, R> {
    fn drop(&mut self) {
        end(&mut self.0);
    }
}

#[inline]
fn end<D: ?Sized, R: Right>(handle: &mut Handle<D, R>) {
    if panicking() {
        end_in_panic(handle);
    } else {
        handle.end();
    }
}

/// Ends an access during a panic. A writer's request is never released, so that no request behind
/// it is granted.
#[cold]
fn end_in_panic<D: ?Sized, R: Right>(handle: &mut Handle<D, R>) {
    if R::ACCESS == Access::Write && !is_unwinding() {
        handle.place.stop();
    } else {
        handle.then = Then::GiveBack;
        handle.end();
    }
}

impl<D: ?Sized + fmt::Debug, R: Right> fmt::Debug for Guard<'_, D, R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(formatter)
    }
}

impl<D: ?Sized + fmt::Debug, R: Right> fmt::Debug for Loan<D, R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(formatter)
    }
}
