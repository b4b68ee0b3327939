//! Sending a parcel by the route of its element, within a node.
//!
//! Workers and other threads send alike here; only the first case of [`crate::send`], a worker that
//! sends to a placed element, has its own short path.

use crate::address::way::Way;
use crate::engine::elements::collection::Collection;
use crate::engine::elements::parcel::{BoxedParcel, Parcel};
use crate::engine::elements::part::Part;
use crate::engine::local::Local;
use crate::engine::local::sender::Sender;
use crate::engine::object::chare::Chare;
use crate::engine::object::proxy::One;
use crate::recorded;
use crate::seeds::detour;

/// A parcel for an element that is not on this node.
pub(crate) enum Elsewhere<T: Chare> {
    /// The element is on another node.
    Away(u16, BoxedParcel<T>),
    /// The element has ended.
    Gone(BoxedParcel<T>),
}

/// Sends a parcel to the worker of its element, or to the element's home. Returns the parcel if the
/// element is not on this node.
pub(crate) fn send_within_node<T: Chare>(
    sender: &mut impl Sender,
    collection: &Collection<T>,
    one: One<T>,
    parcel: BoxedParcel<T>,
) -> Option<Elsewhere<T>> {
    let id @ (collection_id, number) = (one.collection, one.number);
    let epoch = sender.epoch();
    let way =
        sender.with_detours(|detours| Way::from_sender(collection.directory(), id, epoch, detours));
    let record = |sender: &_, worker, parcel: &BoxedParcel<T>| {
        let entry = (T::NAME, parcel.entry());
        match Sender::crossing(sender) {
            None => recorded::sent(entry, id, worker, parcel.size()),
            Some(crossing) => recorded::arrived(entry, id, crossing),
        }
    };
    match way {
        Way::Straight(worker) => {
            record(sender, Some(worker), &parcel);
            let deliver = move |local: &Local| {
                parcel.deliver(local, &Part::of(local, collection_id), number);
            };
            sender.post_in_turn(one.priority, Some(id), worker, deliver);
            None
        }
        Way::ViaHome(home) => {
            record(sender, None, &parcel);
            let from = sender.worker();
            sender.post(home, move |local| {
                detour::relay(local, &Part::of(local, collection_id), number, parcel, from);
            });
            None
        }
        Way::Away(node) => Some(Elsewhere::Away(node, parcel)),
        Way::Gone => Some(Elsewhere::Gone(parcel)),
    }
}
