//! Sending from threads that are not workers. These threads act as one sender, under a lock. So,
//! like a worker, they have an order of messages, an epoch and detours.

use crate::address::way::Way;
use crate::engine::elements::collection::Collection;
use crate::engine::elements::parcel::{BoxedParcel, Parcel};
use crate::engine::elements::part::Part;
use crate::engine::local::Local;
use crate::engine::local::any_thread;
use crate::engine::object::chare::Chare;
use crate::engine::object::proxy::{All, One};
use crate::engine::system::System;
use crate::multicast::{self, Through, set_out, workers_with};
use crate::node;
use crate::remote::{self, Away, out};
use crate::seeds::detour;
use crate::spread::Spread;

/// Sends a parcel to the place of its element.
#[cold]
pub(crate) fn send_from_outside<T: Chare>(one: One<T>, parcel: BoxedParcel<T>) {
    send_from_node(one, parcel, None);
}

/// Sends a parcel like [`send_from_outside`]. If there is an `epoch`, it is that of a sender on
/// another node.
pub(crate) fn send_from_node<T: Chare>(one: One<T>, parcel: BoxedParcel<T>, epoch: Option<u32>) {
    // Without a system, its runtime has ended. Dropping the parcel notifies the waiter of its
    // reply.
    let Some(system) = System::find(one.system) else {
        return;
    };
    let collection = Collection::<T>::of(&system, one.collection);
    if collection.is_node_group() {
        return node::to_node(&system, &collection, one.number, one.priority, parcel);
    }
    let mut outside = system.outside();
    let epoch = epoch.unwrap_or(outside.epoch);
    let key @ (id, number) = (one.collection, one.number);
    match Way::from_sender(collection.directory(), key, epoch, &mut outside.detours) {
        Way::Straight(worker) => {
            let arrival = Box::new(move |local: &Local| {
                parcel.deliver(local, &Part::of(local, id), number);
            });
            any_thread::post_outside_with(&system, one.priority, Some(key), worker, arrival);
        }
        Way::ViaHome(home) => {
            let arrival = move |local: &Local| {
                detour::relay(local, &Part::of(local, id), number, parcel, None);
            };
            any_thread::post_outside(&system, home, Box::new(arrival));
        }
        Way::Away(node) => {
            drop(outside);
            out::send_one_from_outside(&system, &collection, one, node, parcel);
        }
        Way::Gone => {
            drop(outside);
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
    let All {
        collection,
        section,
        priority,
        ..
    } = all;
    let shared = Collection::<T>::of(&system, collection);
    let members = match set_out(&shared, all, |section| shared.section(section), &spread) {
        Ok(Through::Members) => return,
        Ok(Through::Workers(members)) => members,
        Err(failure) => return system.fail(failure),
    };
    let crossed = out::cross_spread(&system, &shared, all, || spread.cross());
    // Cloning runs the program's code, so the clones are made before the lock is taken.
    let mut spreads: Vec<_> = (0..system.worker_count()).map(|_| spread.clone()).collect();
    // While the gate is held, no marker is sent to other nodes.
    let _gate = remote::away(&system).and_then(Away::enter);
    let outside = system.outside();
    let epoch = epoch.unwrap_or(outside.epoch);
    for worker in workers_with(members.as_deref(), system.worker_count()) {
        let spread = spreads.pop().expect("there is one for each worker");
        let arrival = move |local: &Local| {
            multicast::arrive_spread(local, &Part::of(local, collection), section, epoch, spread);
        };
        any_thread::post_outside_with(&system, priority, None, worker, Box::new(arrival));
    }
    drop(outside);
    out::spread_away(&system, crossed, epoch);
}
