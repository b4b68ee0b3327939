//! Handlers of messages from other nodes: each method of a chare with `#[chare(nodes)]` has a
//! handler that decodes its messages.

use std::fmt;

use crate::codec::{CrossingError, reading};
use crate::engine::elements::parcel::BoxedParcel;
use crate::engine::object::chare::Chare;
use crate::engine::system::registry;
use crate::failure::Failure;
use crate::state::{Explain, Feature, SharedState};

/// A chare with messages that cross nodes: `#[chare(nodes)]` implements this trait.
#[diagnostic::on_unimplemented(
    message = "messages to a `{Self}` cannot cross nodes",
    label = "an array over nodes needs chares with messages that cross nodes",
    note = "write `#[chare(nodes)]` on the `impl` block of `{Self}`, and derive \
            `serde::Serialize` and `serde::Deserialize` for its arguments and replies",
    note = "for an array on this node alone, use `setup.runtime().array(..)`"
)]
pub trait CrossesNodes: Chare {
    /// The handlers of messages from other nodes, by their handler ids.
    const HANDLERS: &'static [Handler<Self>];
}

/// The handlers of an array over nodes, by their handler ids.
#[derive(Debug)]
pub(crate) struct Handlers<T: Chare>(&'static [Handler<T>]);

impl<T: Chare> Clone for Handlers<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Chare> Copy for Handlers<T> {}

impl<T: Chare> Explain for Handlers<T> {}

impl<T: Chare> SharedState for Handlers<T> {
    const FEATURE: Feature = Feature::Handlers;
}

impl<T: Chare> Handlers<T> {
    /// Returns the handlers of the messages for `T`.
    pub(crate) const fn new() -> Self
    where
        T: CrossesNodes,
    {
        Self(T::HANDLERS)
    }

    /// Returns the handler with this id.
    ///
    /// # Errors
    /// If there is none: the nodes run different programs.
    pub(crate) fn find(self, handler: u16) -> Result<&'static Handler<T>, Failure> {
        self.0.get(usize::from(handler)).ok_or_else(|| {
            let (name, count) = (T::NAME, self.0.len());
            Failure::new(format!(
                "another node sends to entry {handler} of `{name}`, which has {count}: \
                 the nodes run different programs"
            ))
        })
    }
}

/// The destination of an entry's return value.
pub(crate) enum ReplyTo {
    None,
    All,
    Asker(Asker),
}

pub(crate) type Opened<T> = Result<BoxedParcel<T>, CrossingError>;

/// The handler of messages from other nodes for one method.
pub struct Handler<T: Chare> {
    pub(crate) name: &'static str,
    pub(crate) open: fn(&[u8], ReplyTo) -> Opened<T>,
}

impl<T: Chare> fmt::Debug for Handler<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Handler({}::{})", T::NAME, self.name)
    }
}

impl<T: Chare> Handler<T> {
    /// Decodes a message for this method of a chare of `system`.
    ///
    /// # Errors
    /// If the message cannot be decoded.
    pub(crate) fn open(
        &self,
        system: u32,
        args: &[u8],
        reply_to: ReplyTo,
    ) -> Result<BoxedParcel<T>, Failure> {
        reading(system, || (self.open)(args, reply_to)).map_err(|error| {
            let (of, entry) = (T::NAME, self.name);
            Failure::new(format!(
                "what another node sends to `{of}::{entry}` cannot be read: {error}"
            ))
        })
    }
}

/// A caller on another node that waits for a reply.
///
/// Dropping the value tells the caller that there will be no reply.
pub(crate) struct Asker {
    system: u32,
    node: u16,
    reply: Option<u64>,
}

impl Asker {
    pub(crate) const fn new(system: u32, node: u16, reply: u64) -> Self {
        Self {
            system,
            node,
            reply: Some(reply),
        }
    }

    /// Sends the outcome to the caller.
    pub(crate) fn answer(mut self, outcome: Result<Vec<u8>, &Failure>, panicked: bool) {
        self.send(outcome, panicked);
    }

    fn send(&mut self, outcome: Result<Vec<u8>, &Failure>, panicked: bool) {
        // Without a system its runtime has ended, and with it the node.
        let (Some(reply), Some(system)) = (self.reply.take(), registry::find(self.system)) else {
            return;
        };
        if let Some(nodes) = system.other_nodes() {
            nodes.reply(&system, self.node, reply, outcome, panicked);
        }
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        let lost = Failure::new("the reply from another node is lost: the message was dropped");
        self.send(Err(&lost), false);
    }
}
