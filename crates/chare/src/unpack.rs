//! Deserialisation of messages from other nodes: those on the wire, and those that come with an
//! element.

use crate::address::number::Number;
use crate::codec::Packed;
use crate::engine::elements::collection::Collection;
use crate::engine::elements::parcel::{BoxedParcel, Parcel};
use crate::engine::elements::part::Part;
use crate::engine::handler::{Asker, Handlers, ReplyTo};
use crate::engine::local::Local;
use crate::engine::object::chare::Chare;
use crate::engine::system::System;
use crate::failure::Failure;
use crate::lifecycle::End;
use crate::migration::crossing::Leave;
use crate::remote::Waiting;
use crate::scan::Step;

/// Decodes a message for the given handler.
///
/// # Errors
/// If the bytes cannot be decoded.
pub(crate) fn unpack<T: Chare>(
    collection: &Collection<T>,
    handler: u16,
    args: &[u8],
    reply_to: ReplyTo,
) -> Result<BoxedParcel<T>, Failure> {
    match handler {
        Packed::END_HANDLER => Ok(Box::new(End)),
        Packed::LEAVE_HANDLER => match postcard::from_bytes(args) {
            Ok(worker) => Ok(Box::new(Leave { worker })),
            Err(error) => Err(Failure::new(format!(
                "a destination cannot be read: {error}"
            ))),
        },
        Packed::STEP_HANDLER => match System::find(collection.system_id()) {
            Some(system) => Ok(Box::new(Step::read(&system, args)?)),
            None => Err(Failure::new("the runtime has ended")),
        },
        handler => {
            handlers_of(collection)
                .find(handler)?
                .open(collection.system_id(), args, reply_to)
        }
    }
}

/// Returns the handlers of an array over nodes.
///
/// # Panics
/// If the collection is not over nodes: no message for it comes from another node.
pub(crate) fn handlers_of<T: Chare>(collection: &Collection<T>) -> Handlers<T> {
    *collection.state().expect("the array is over nodes")
}

/// Delivers a message that arrived with its element.
pub(crate) fn deliver_waiting<T: Chare>(
    local: &Local,
    part: &Part<T>,
    number: Number,
    waiting: Waiting,
) {
    let asker = waiting
        .reply
        .map(|(node, reply)| Asker::new(local.system().id(), node, reply));
    let reply_to = match asker {
        Some(asker) => ReplyTo::Asker(asker),
        None if waiting.is_to_all => ReplyTo::All,
        None => ReplyTo::None,
    };
    match unpack(part.collection(), waiting.handler, &waiting.args, reply_to) {
        Ok(parcel) => parcel.deliver(local, part, number),
        Err(failure) => local.system().fail(failure),
    }
}
