//! Messages from other nodes, unpacked.

use crate::codec::Packed;
use crate::engine::elements::collection::Collection;
use crate::engine::object::chare::Chare;
use crate::engine::object::door::{Door, Whose};
use crate::engine::object::parcel::BoxedParcel;
use crate::engine::system::System;
use crate::failure::Failure;
use crate::lifecycle::End;
use crate::migration::Leave;
use crate::scan::Step;

/// Returns the message that these bytes are, which came by door `door`.
///
/// # Errors
/// When the bytes make no sense.
pub(crate) fn unpack<T: Chare>(
    collection: &Collection<T>,
    door: u16,
    args: &[u8],
    whose: Whose,
) -> Result<BoxedParcel<T>, Failure> {
    match door {
        Packed::END_DOOR => Ok(Box::new(End)),
        Packed::LEAVE_DOOR => match postcard::from_bytes(args) {
            Ok(worker) => Ok(Box::new(Leave { worker })),
            Err(error) => Err(Failure::new(format!("where to go makes no sense: {error}"))),
        },
        Packed::STEP_DOOR => match System::find(collection.system_id()) {
            Some(system) => Ok(Box::new(Step::read(&system, args)?)),
            None => Err(Failure::new("the runtime has ended")),
        },
        door => find_door::<T>(door)?.open(collection.system_id(), args, whose),
    }
}

/// Returns the door with this number of a chare.
///
/// # Errors
/// When the chare has no such door: the nodes run different programs.
pub(crate) fn find_door<T: Chare>(door: u16) -> Result<&'static Door<T>, Failure> {
    T::DOORS.get(usize::from(door)).ok_or_else(|| {
        let (name, count) = (T::NAME, T::DOORS.len());
        Failure::new(format!(
            "another node sends to entry {door} of `{name}`, which has {count}: the nodes run different programs"
        ))
    })
}
