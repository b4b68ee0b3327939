//! What a message does when it arrives at its element.

use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle_sync::prim::thread;

use crate::cx::Rest;
use crate::entry::{Chare, Entry};
use crate::failure::Failure;
use crate::local::Local;
use crate::nodes::{Crossing, Packed, pack};
use crate::number::Number;
use crate::part::Part;
use crate::reply::Replier;
use crate::system::System;

/// A message on its way to an element of `T`.
pub(crate) trait Parcel<T: Chare>: Send + 'static {
    /// What it is for, in messages of errors.
    fn entry(&self) -> &'static str;

    /// Does what it is for, or lets it wait with the element.
    fn deliver(self, local: &Local, part: &Part<T>, number: Number)
    where
        Self: Sized;

    /// As `deliver`, from where it waited.
    fn run(self: Box<Self>, local: &Local, part: &Part<T>, number: Number);

    /// Says that it cannot be delivered.
    fn fail(self: Box<Self>, system: &System, failure: Failure);

    /// What it crosses to `node` as; none if it cannot, of which it tells whoever is to know.
    fn cross(self: Box<Self>, system: &System, _node: u16) -> Option<Packed> {
        let text = format!(
            "`{}` of a {} cannot go to another node",
            self.entry(),
            T::NAME
        );
        self.fail(system, Failure::new(text));
        None
    }
}

/// A parcel whose way does not depend on what it is: all but the shortest way is compiled once for each chare, not for each entry.
impl<T: Chare> Parcel<T> for Box<dyn Parcel<T>> {
    fn entry(&self) -> &'static str {
        (**self).entry()
    }

    fn deliver(self, local: &Local, part: &Part<T>, number: Number) {
        self.run(local, part, number);
    }

    fn run(self: Box<Self>, local: &Local, part: &Part<T>, number: Number) {
        (*self).run(local, part, number);
    }

    fn fail(self: Box<Self>, system: &System, failure: Failure) {
        (*self).fail(system, failure);
    }

    fn cross(self: Box<Self>, system: &System, node: u16) -> Option<Packed> {
        (*self).cross(system, node)
    }
}

/// What becomes of an entry's result.
pub(crate) trait Finish<O>: Send + 'static {
    /// The message is for all that there are, and no loss to those that end.
    const IS_TO_ALL: bool = false;

    fn done(self, output: O);

    /// The entry has panicked.
    fn failed(self, system: &System, failure: Failure);

    /// The element is no more.
    fn gone(self, system: &System, failure: Failure);

    /// Waits for the result from another node; returns the number under which it comes, if anybody waits for it.
    fn cross(self, _system: &System, _node: u16, _output: Crossing<O>) -> Option<u64>
    where
        Self: Sized,
    {
        None
    }
}

/// Nobody waits for the result.
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

/// Nobody waits for the result, and the message is for all that there are: those that end before it reaches them need none.
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

impl<O: Send + 'static> Finish<O> for Replier<O> {
    fn done(self, output: O) {
        self.give(Ok(output));
    }

    fn failed(self, system: &System, failure: Failure) {
        self.give_panic(system, failure);
    }

    /// Whoever does not wait any more need not know.
    fn gone(self, _system: &System, failure: Failure) {
        self.give(Err(failure));
    }

    fn cross(self, system: &System, node: u16, output: Crossing<O>) -> Option<u64> {
        self.cross_to(system, node, output)
    }
}

/// A call of an entry.
pub(crate) struct Call<E: Entry, F> {
    pub(crate) args: E::Args,
    pub(crate) finish: F,
}

impl<E: Entry, F: Finish<E::Output>> Parcel<E::Chare> for Call<E, F> {
    fn entry(&self) -> &'static str {
        E::NAME
    }

    #[inline]
    fn deliver(self, local: &Local, part: &Part<E::Chare>, number: Number) {
        let mut slots = part.slots.borrow_mut();
        let Some(body) = slots.ready(part.slot_of(number), number) else {
            drop(slots);
            return part.keep(local, number, Box::new(self));
        };
        let Self { args, finish } = self;
        let start = part.start_measuring(local, number);
        let result = catch_unwind(AssertUnwindSafe(|| {
            E::call(&mut body.me, &mut body.cx, args)
        }));
        // Most entries leave nothing to be done, and their elements need no copy of their rounds.
        let rest = (result.is_err() || body.cx.has_rest()).then(|| body.cx.take_rest());
        drop(slots);
        if let Some(start) = start {
            part.stop_measuring(local, number, start);
        }
        match (result, rest) {
            (Ok(output), None) => finish.done(output),
            (result, rest) => {
                let rest = rest.unwrap_or_default();
                complete::<E, F>(local, part, number, finish, result, &rest);
            }
        }
    }

    fn run(self: Box<Self>, local: &Local, part: &Part<E::Chare>, number: Number) {
        self.deliver(local, part, number);
    }

    fn fail(self: Box<Self>, system: &System, failure: Failure) {
        self.finish.gone(system, failure);
    }

    fn cross(self: Box<Self>, system: &System, node: u16) -> Option<Packed> {
        let Self { args, finish } = *self;
        pack::<E::Chare, _, _, _>(E::ACROSS, E::NAME, &args, finish, system, node)
    }
}

/// Completes an entry that has left something to be done, or has panicked.
fn complete<E: Entry, F: Finish<E::Output>>(
    local: &Local,
    part: &Part<E::Chare>,
    number: Number,
    finish: F,
    result: thread::Result<E::Output>,
    rest: &Rest,
) {
    local.run_deferred();
    match result {
        Ok(output) if rest.ends => {
            // Should the output panic when it is dropped, the element ends all the same.
            local.guard(|| finish.done(output));
            part.end(local, number, &rest.rounds);
        }
        Ok(output) => finish.done(output),
        Err(panic) => {
            part.panicked(local, number, E::NAME, &rest.rounds, &*panic, |failure| {
                finish.failed(&local.system, failure);
            });
        }
    }
}

/// Ends the element.
pub(crate) struct End;

impl<T: Chare> Parcel<T> for End {
    fn entry(&self) -> &'static str {
        "end"
    }

    fn deliver(self, local: &Local, part: &Part<T>, number: Number) {
        let at = part.slot_of(number);
        let mut slots = part.slots.borrow_mut();
        let rounds = slots.ready(at, number).map(|body| body.cx.rounds().clone());
        drop(slots);
        match rounds {
            Some(rounds) => part.end(local, number, &rounds),
            None => part.keep(local, number, Box::new(self)),
        }
    }

    fn run(self: Box<Self>, local: &Local, part: &Part<T>, number: Number) {
        self.deliver(local, part, number);
    }

    /// It has ended, as was wished.
    fn fail(self: Box<Self>, _system: &System, _failure: Failure) {}

    fn cross(self: Box<Self>, _system: &System, _node: u16) -> Option<Packed> {
        Some(Packed::END)
    }
}
