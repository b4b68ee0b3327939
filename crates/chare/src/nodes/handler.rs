//! Handlers of messages from other nodes: each entry of a chare with `#[chare(nodes)]` has one.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::call::{Call, Kind, Run};
use crate::codec::Crossing;
use crate::engine::elements::parcel::{BoxedParcel, Finish, NoReply, Parcel, ToAll};
use crate::engine::handler::{Asker, Handler, ReplyTo};
use crate::engine::object::chare::{AsyncEntry, Chare, Entry, Message, Method};
use crate::engine::system::{Outcome, System};
use crate::failure::Failure;
use crate::spread::Spread;
use crate::suspended::{File, Start};

impl<T: Chare> Handler<T> {
    /// Creates the handler of an entry.
    #[must_use]
    pub const fn entry<E: Entry<Chare = T>>() -> Self {
        Self::of::<E, Run>()
    }

    /// Creates the handler of an asynchronous entry.
    #[must_use]
    pub const fn start<E: AsyncEntry<Chare = T>>() -> Self {
        Self::of::<E, Start>()
    }

    /// Creates the handler of a kind of message that asynchronous entries wait for.
    #[must_use]
    pub const fn message<M: Message<Chare = T>>() -> Self {
        Self::of::<M, File>()
    }

    const fn of<M: Method<Chare = T>, K: Kind<M>>() -> Self {
        Self {
            name: M::NAME,
            open: |mut args, reply_to| {
                let across = M::ACROSS.as_ref().expect("a method with a handler");
                let args = across.args.read(&mut args)?;
                Ok(match reply_to {
                    ReplyTo::None => boxed::<M, K>(args, NoReply),
                    ReplyTo::All => boxed::<M, K>(args, ToAll),
                    ReplyTo::Asker(asker) => boxed::<M, K>(args, Answer::new(asker, across.output)),
                })
            },
        }
    }
}

fn boxed<M: Method, K: Kind<M>>(
    args: M::Args,
    finish: impl Finish<M::Output>,
) -> BoxedParcel<M::Chare> {
    Box::new(Call::<M, K, _>::new(args, finish))
}

/// Sends the return value of an entry to the node that asked for it.
struct Answer<O> {
    asker: Asker,
    output: Crossing<O>,
}

impl<O> Answer<O> {
    const fn new(asker: Asker, output: Crossing<O>) -> Self {
        Self { asker, output }
    }
}

impl<O: Send + 'static> Finish<O> for Answer<O> {
    fn done(self, output: O) {
        match self.output.bytes_of(&output) {
            Ok(bytes) => self.asker.answer(Ok(bytes), false),
            Err(error) => {
                let of = std::any::type_name::<O>();
                let text = format!("a reply, which is a {of}, cannot cross nodes: {error}");
                self.asker.answer(Err(&Failure::new(text)), false);
            }
        }
    }

    fn failed(self, _system: &System, failure: Failure) {
        self.asker.answer(Err(&failure), true);
    }

    fn gone(self, _system: &System, failure: Failure) {
        self.asker.answer(Err(&failure), false);
    }

    /// Registers the reply if the element has moved on to another node: the reply then passes
    /// through this node to the caller.
    fn cross(self, system: &System, node: u16, _output: Crossing<O>) -> Option<u64> {
        let nodes = system.other_nodes()?;
        let asker = self.asker;
        Some(nodes.await_reply(
            node,
            Box::new(move |outcome| match outcome {
                Outcome::Bytes(bytes) => asker.answer(Ok(bytes.to_vec()), false),
                Outcome::Failed(failure) => asker.answer(Err(&failure), false),
                Outcome::Panicked(failure) => asker.answer(Err(&failure), true),
            }),
        ))
    }
}

/// A message from another node to all elements. It is decoded for each element separately, since
/// only the sending node knows how to clone it.
pub(crate) struct Copies<T: Chare> {
    pub(crate) system: u32,
    pub(crate) handler: &'static Handler<T>,
    pub(crate) args: Arc<[u8]>,
    pub(crate) of: PhantomData<fn() -> T>,
}

impl<T: Chare> Clone for Copies<T> {
    fn clone(&self) -> Self {
        Self {
            system: self.system,
            handler: self.handler,
            args: Arc::clone(&self.args),
            of: PhantomData,
        }
    }
}

impl<T: Chare> Spread<T> for Copies<T> {
    fn name(&self) -> &'static str {
        self.handler.name
    }

    fn into_parcel(self) -> impl Parcel<T> {
        let opened = self.handler.open(self.system, &self.args, ReplyTo::All);
        // The caller delivers to one element at a time, and contains this panic.
        opened.unwrap_or_else(|failure| panic!("{failure}"))
    }

    fn cross(&self) -> Option<Result<(u16, Vec<u8>), Failure>> {
        None
    }
}
