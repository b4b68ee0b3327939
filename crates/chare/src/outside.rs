//! Sending from threads that are not workers. These threads act as one sender, under a lock. So,
//! like a worker, they have an order of messages, an epoch and detours.

use crate::by_route::{self, Elsewhere};
use crate::engine::elements::collection::Collection;
use crate::engine::elements::parcel::{BoxedParcel, Parcel};
use crate::engine::local::sender::{FarSender, OutsideSender, Sender};
use crate::engine::object::chare::Chare;
use crate::engine::object::proxy::{All, One};
use crate::engine::system::System;
use crate::multicast::{Unreached, send_to_members, send_to_workers, workers_with};
use crate::node;
use crate::recorded::{self, Crossing};
use crate::remote::{self, Away, out};
use crate::spread::Spread;

/// Sends a parcel to the place of its element.
#[cold]
pub(crate) fn send_from_outside<T: Chare>(one: One<T>, parcel: BoxedParcel<T>) {
    send_from_node(one, parcel, None);
}

/// Sends a parcel like [`send_from_outside`]. If it comes from another node, `from` is the sender
/// there.
pub(crate) fn send_from_node<T: Chare>(
    one: One<T>,
    parcel: BoxedParcel<T>,
    from: Option<FarSender>,
) {
    // Without a system, its runtime has ended. Dropping the parcel notifies the waiter of its
    // reply.
    let Some(system) = System::find(one.system) else {
        return;
    };
    let collection = Collection::<T>::of(&system, one.collection);
    if collection.is_node_group() {
        if from.is_none() {
            recorded::sent(
                (T::NAME, parcel.entry()),
                (one.collection, one.number),
                None,
                parcel.size(),
            );
        }
        return node::to_node(&system, &collection, one.number, one.priority, parcel);
    }
    let mut outside = system.outside();
    let mut sender = OutsideSender::new(&system, &mut outside, from);
    let elsewhere = by_route::send_within_node(&mut sender, &collection, one, parcel);
    drop(outside);
    match elsewhere {
        None => {}
        Some(Elsewhere::Away(node, parcel)) => {
            let to = (node, from.map(|from| from.crossing));
            out::send_one_from_outside(&system, &collection, one, to, parcel);
        }
        Some(Elsewhere::Gone(parcel)) => {
            let failure = collection.gone(one.number, parcel.entry());
            parcel.fail(&system, failure);
        }
    }
}

/// Sends a message to all elements of a collection, or of a section.
#[cold]
pub(crate) fn spread_from_outside<T: Chare>(all: All<T>, spread: impl Spread<T>) {
    spread_from_node(all, spread, None);
}

/// Sends a message like [`spread_from_outside`]. If there is an `epoch`, it is that of a sender on
/// another node.
pub(crate) fn spread_from_node<T: Chare>(all: All<T>, spread: impl Spread<T>, epoch: Option<u32>) {
    let Some(system) = System::find(all.system) else {
        return;
    };
    let collection = Collection::<T>::of(&system, all.collection);
    let find = |section| collection.section(section);
    let members = match send_to_members(&collection, all, find, &spread) {
        Ok(Unreached::None) => return,
        Ok(Unreached::Workers(members)) => members,
        Err(failure) => return system.fail(failure),
    };
    let crossed = out::cross_spread(&system, &collection, all, || spread.cross());
    // Cloning runs the program's code, so the clones are made before the lock is taken.
    let mut spreads: Vec<_> = (0..system.worker_count()).map(|_| spread.clone()).collect();
    // While the gate is held, no marker is sent to other nodes.
    let _gate = remote::away(&system).and_then(Away::enter);
    let mut outside = system.outside();
    let from = epoch.map(|epoch| FarSender {
        epoch,
        crossing: Crossing::UNKNOWN,
    });
    let sender = OutsideSender::new(&system, &mut outside, from);
    let epoch = sender.epoch();
    let workers = workers_with(members.as_deref(), system.worker_count());
    send_to_workers(&sender, all, workers, || {
        spreads.pop().expect("there is one for each worker")
    });
    drop(outside);
    out::spread_away(&system, crossed, epoch);
}
