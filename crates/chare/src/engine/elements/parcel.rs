//! Messages on their way to an element.
//!
//! [`Parcel`] is a message of a known type: it lies unboxed in the envelope that goes to a worker.
//! [`BoxedParcel`] is a message of any type: it waits in queues, and takes the rare paths, which
//! are so compiled once for each chare and not for each method.
//!
//! | implementation | contents |
//! |---|---|
//! | [`Call`](crate::call::Call) | the arguments of a method; nearly all messages |
//! | [`End`](crate::lifecycle::End) | ends the element |
//! | others | protocols of the runtime, each in the module of its feature |

use std::collections::VecDeque;

use crate::address::number::Number;
use crate::codec::{Crossing, Packed};
use crate::engine::elements::part::Part;
use crate::engine::local::Local;
use crate::engine::object::chare::Chare;
use crate::engine::object::proxy::One;
use crate::engine::system::System;
use crate::failure::Failure;

/// A message on its way to an element of `T`.
pub(crate) trait Parcel<T: Chare>: Sized + Send + 'static {
    /// Returns the name of the method that it calls, for error messages.
    fn entry(&self) -> &'static str;

    /// Calls the method, or keeps the message until the element can run it.
    fn deliver(self, local: &Local, part: &Part<T>, number: Number);

    /// Reports that the message cannot be delivered.
    fn fail(self, system: &System, failure: Failure);

    /// Serialises the message for `node`. Returns `None`, after reporting the failure, if it cannot
    /// be serialised.
    fn cross(self, system: &System, _node: u16) -> Option<Packed> {
        let (of, entry) = (T::NAME, self.entry());
        let text = format!("`{entry}` of a {of} cannot go to another node");
        self.fail(system, Failure::new(text));
        None
    }
}

/// A message of any type.
pub(crate) type BoxedParcel<T> = Box<dyn AnyParcel<T>>;

/// Messages that wait, the oldest first.
pub(crate) type Parcels<T> = VecDeque<BoxedParcel<T>>;

/// Sends a parcel to a worker, which delivers it to its element.
#[inline(always)]
pub(crate) fn post<T: Chare>(local: &Local, worker: usize, one: One<T>, parcel: impl Parcel<T>) {
    let One {
        collection, number, ..
    } = one;
    local.post(worker, move |local| {
        parcel.deliver(local, &Part::of(local, collection), number);
    });
}

/// The methods of [`Parcel`] as a trait object has them.
pub(crate) trait AnyParcel<T: Chare>: Send + 'static {
    fn entry_of_any(&self) -> &'static str;
    fn size(&self) -> usize;
    fn deliver_boxed(self: Box<Self>, local: &Local, part: &Part<T>, number: Number);
    fn fail_boxed(self: Box<Self>, system: &System, failure: Failure);
    fn cross_boxed(self: Box<Self>, system: &System, node: u16) -> Option<Packed>;
}

impl<T: Chare, P: Parcel<T>> AnyParcel<T> for P {
    fn entry_of_any(&self) -> &'static str {
        self.entry()
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }

    fn deliver_boxed(self: Box<Self>, local: &Local, part: &Part<T>, number: Number) {
        (*self).deliver(local, part, number);
    }

    fn fail_boxed(self: Box<Self>, system: &System, failure: Failure) {
        (*self).fail(system, failure);
    }

    fn cross_boxed(self: Box<Self>, system: &System, node: u16) -> Option<Packed> {
        (*self).cross(system, node)
    }
}

impl<T: Chare> Parcel<T> for BoxedParcel<T> {
    fn entry(&self) -> &'static str {
        (**self).entry_of_any()
    }

    fn deliver(self, local: &Local, part: &Part<T>, number: Number) {
        <dyn AnyParcel<T>>::deliver_boxed(self, local, part, number);
    }

    fn fail(self, system: &System, failure: Failure) {
        <dyn AnyParcel<T>>::fail_boxed(self, system, failure);
    }

    fn cross(self, system: &System, node: u16) -> Option<Packed> {
        <dyn AnyParcel<T>>::cross_boxed(self, system, node)
    }
}

/// The continuation of a call, which gets the result.
pub(crate) trait Finish<O>: Send + 'static {
    /// True for a message to all elements. An element that ends without receiving it loses nothing.
    const IS_TO_ALL: bool = false;

    /// Passes on the value that the method has returned.
    fn done(self, output: O);

    /// Reports that the method has panicked.
    fn failed(self, system: &System, failure: Failure);

    /// Reports that the element does not exist any more.
    fn gone(self, system: &System, failure: Failure);

    /// Registers the sender of the message for a reply from another node. Returns the number under
    /// which the reply will come; `None` if nothing waits for it.
    fn cross(self, _system: &System, _node: u16, _output: Crossing<O>) -> Option<u64>
    where
        Self: Sized,
    {
        None
    }
}

/// Nothing waits for the result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoReply;

impl<O> Finish<O> for NoReply {
    #[inline]
    fn done(self, _output: O) {}

    fn failed(self, system: &System, failure: Failure) {
        system.fail(failure);
    }

    fn gone(self, system: &System, failure: Failure) {
        system.fail(failure);
    }
}

/// Nothing waits for the result, and the message is for all elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToAll;

impl<O> Finish<O> for ToAll {
    const IS_TO_ALL: bool = true;

    #[inline]
    fn done(self, _output: O) {}

    fn failed(self, system: &System, failure: Failure) {
        system.fail(failure);
    }

    fn gone(self, _system: &System, _failure: Failure) {}
}
