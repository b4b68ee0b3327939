//! Calls of methods: nearly all messages are of this one type.
//!
//! A [`Call`] carries the arguments of a [`Method`]. Its [`Kind`] decides what happens when it
//! arrives at the element:
//!
//! | kind | method | on arrival |
//! |---|---|---|
//! | [`Run`] | [`Entry`] | runs to completion |
//! | [`Start`](crate::suspended::Start) | an asynchronous entry | runs until it waits |
//! | [`File`](crate::suspended::File) | a kind of message | goes into the element's inbox |

use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle_sync::prim::thread;

use crate::address::number::Number;
use crate::codec::Packed;
use crate::engine::elements::parcel::{Finish, Parcel};
use crate::engine::elements::part::{Body, Part};
use crate::engine::local::Local;
use crate::engine::object::chare::{Chare, Entry, Method};
use crate::engine::object::cx::Rest;
use crate::engine::system::System;
use crate::failure::Failure;
use crate::lifecycle;
use crate::measure;
use crate::recorded;

/// A message that calls method `M`.
pub(crate) struct Call<M: Method, K, F> {
    pub(crate) args: M::Args,
    pub(crate) finish: F,
    kind: PhantomData<fn() -> K>,
}

/// The effect of a call when it arrives at its element.
pub(crate) trait Kind<M: Method>: Sized + 'static {
    fn deliver<F: Finish<M::Output>>(
        call: Call<M, Self, F>,
        local: &Local,
        part: &Part<M::Chare>,
        number: Number,
    );
}

impl<M: Method, K: Kind<M>, F: Finish<M::Output>> Call<M, K, F> {
    #[inline]
    pub(crate) fn new(args: M::Args, finish: F) -> Self {
        Self {
            args,
            finish,
            kind: PhantomData,
        }
    }
}

impl<M: Method, K: Kind<M>, F: Finish<M::Output>> Parcel<M::Chare> for Call<M, K, F> {
    fn entry(&self) -> &'static str {
        M::NAME
    }

    #[inline(always)]
    fn deliver(self, local: &Local, part: &Part<M::Chare>, number: Number) {
        K::deliver(self, local, part, number);
    }

    fn fail(self, system: &System, failure: Failure) {
        self.finish.gone(system, failure);
    }

    fn cross(self, system: &System, node: u16) -> Option<Packed> {
        pack::<M, F>(&self.args, self.finish, system, node)
    }
}

/// Serialises a message for `node`. Returns `None`, after reporting the failure, if it cannot be
/// serialised.
fn pack<M: Method, F: Finish<M::Output>>(
    args: &M::Args,
    finish: F,
    system: &System,
    node: u16,
) -> Option<Packed> {
    match (written::<M>(args), M::ACROSS) {
        (Ok((handler, args)), Some(across)) => Some(Packed {
            handler,
            reply: finish.cross(system, node, across.output),
            args,
            is_to_all: F::IS_TO_ALL,
        }),
        (Err(failure), _) => {
            finish.gone(system, failure);
            None
        }
        (Ok(_), None) => unreachable!("the message was serialised by its codec"),
    }
}

/// Returns the handler id and the serialised arguments of a message.
///
/// # Errors
/// If its chare does not have `#[chare(nodes)]`, or the arguments cannot be serialised.
pub(crate) fn written<M: Method>(args: &M::Args) -> Result<(u16, Vec<u8>), Failure> {
    let (name, entry) = (M::Chare::NAME, M::NAME);
    let Some(across) = M::ACROSS else {
        return Err(Failure::new(format!(
            "a message for `{name}::{entry}` would go to another node: \
             write `#[chare(nodes)]` for its messages to cross"
        )));
    };
    let args = across.args.bytes_of(args).map_err(|error| {
        Failure::new(format!(
            "a message for `{name}::{entry}` cannot go to another node: {error}"
        ))
    })?;
    Ok((across.handler, args))
}

/// Runs an [`Entry`] to completion.
pub(crate) struct Run;

impl<E: Entry> Kind<E> for Run {
    #[inline(always)]
    fn deliver<F: Finish<E::Output>>(
        call: Call<E, Self, F>,
        local: &Local,
        part: &Part<E::Chare>,
        number: Number,
    ) {
        let Some(mut body) = part.ready(number) else {
            return part.keep(local, number, Box::new(call));
        };
        let Call { args, finish, .. } = call;
        let start = measure::start(part, local, number);
        if recorded::is_on() {
            record::<E>(part, number);
        }
        let Body { me, cx } = &mut *body;
        let result = catch_unwind(AssertUnwindSafe(|| E::call(me, cx, args)));
        // After most entries nothing remains to be done, and their elements need no copy of their
        // rounds.
        let rest = (result.is_err() || body.cx.has_rest()).then(|| body.cx.take_rest());
        drop(body);
        if let Some(start) = start {
            measure::stop(part, local, number, start);
        }
        match (result, rest) {
            (Ok(output), None) => finish.done(output),
            (result, rest) => {
                let rest = rest.unwrap_or_default();
                complete::<E, F>(local, part, number, finish, result, &rest);
            }
        }
    }
}

/// Records that an entry of an element begins. A function of its own, so that only values that are
/// needed anyway are passed to it.
#[cold]
#[inline(never)]
fn record<E: Entry>(part: &Part<E::Chare>, number: Number) {
    recorded::entry((E::Chare::NAME, E::NAME), (part.collection().id(), number));
}

/// Completes an entry after which something remains to be done, or which has panicked.
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
            // If the destructor of the output panics, the element ends nevertheless.
            local.guard(|| finish.done(output));
            lifecycle::end(local, part, number, &rest.rounds);
        }
        Ok(output) => finish.done(output),
        Err(panic) => {
            lifecycle::panicked(
                local,
                part,
                number,
                E::NAME,
                &rest.rounds,
                &*panic,
                |failure| {
                    finish.failed(local.system(), failure);
                },
            );
        }
    }
}
