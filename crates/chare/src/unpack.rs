//! Messages from other nodes, unpacked.

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

/// Returns the message that these bytes are, which came by door `handler`.
///
/// # Errors
/// When the bytes make no sense.
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
            Err(error) => Err(Failure::new(format!("where to go makes no sense: {error}"))),
        },
        Packed::STEP_HANDLER => match System::find(collection.system_id()) {
            Some(system) => Ok(Box::new(Step::read(&system, args)?)),
            None => Err(Failure::new("the runtime has ended")),
        },
        handler => find_handler::<T>(handler)?.open(collection.system_id(), args, reply_to),
    }
}

/// Returns the door with this number of a chare.
///
/// # Errors
/// When the chare has no such door: the nodes run different programs.
pub(crate) fn find_handler<T: Chare>(handler: u16) -> Result<&'static Handler<T>, Failure> {
    T::HANDLERS.get(usize::from(handler)).ok_or_else(|| {
        let (name, count) = (T::NAME, T::HANDLERS.len());
        Failure::new(format!(
            "another node sends to entry {handler} of `{name}`, which has {count}: the nodes run different programs"
        ))
    })
}
