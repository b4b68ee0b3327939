//! Deserialisation of messages from other nodes.

use crate::codec::Packed;
use crate::engine::elements::collection::Collection;
use crate::engine::object::chare::Chare;
use crate::engine::object::handler::{Handler, ReplyTo};
use crate::engine::object::parcel::BoxedParcel;
use crate::engine::system::System;
use crate::failure::Failure;
use crate::lifecycle::End;
use crate::migration::Leave;
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
        handler => find_handler::<T>(handler)?.open(collection.system_id(), args, reply_to),
    }
}

/// Returns the handler of a chare with this number.
///
/// # Errors
/// If the chare has no such handler: the nodes run different programs.
pub(crate) fn find_handler<T: Chare>(handler: u16) -> Result<&'static Handler<T>, Failure> {
    T::HANDLERS.get(usize::from(handler)).ok_or_else(|| {
        let (name, count) = (T::NAME, T::HANDLERS.len());
        Failure::new(format!(
            "another node sends to entry {handler} of `{name}`, which has {count}: \
             the nodes run different programs"
        ))
    })
}
