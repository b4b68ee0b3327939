//! Sends wire messages to other nodes.

use super::{Away, MigrationMessage, Reachable, WireMessage};
use crate::address::way::Way;
use crate::engine::elements::collection::Collection;
use crate::engine::elements::parcel::{BoxedParcel, Parcel};
use crate::engine::handler::{Asker, ReplyTo};
use crate::engine::local;
use crate::engine::object::chare::Chare;
use crate::engine::object::proxy::{All, One};
use crate::engine::system::System;
use crate::failure::Failure;
use crate::recorded::{self, Crossing};
use crate::remote;

use crate::codec::Packed;

use raddle_sync::prim::Relaxed;

/// Sends a wire message to another node. An error is reported to this node's waiters.
pub(crate) fn send_away(system: &System, node: u16, wire_message: &WireMessage<'_>) {
    send_away_with(system, node, wire_message, Vec::new());
}

/// Sends a wire message like `send_away`, with a body.
pub(crate) fn send_away_with(
    system: &System,
    node: u16,
    wire_message: &WireMessage<'_>,
    body: Vec<u8>,
) {
    if let Some(away) = remote::away(system) {
        send_sealed(system, away, [node], wire_message, body);
    }
}

/// Sends a wire message about migration.
pub(crate) fn send_migration_message(system: &System, node: u16, message: MigrationMessage) {
    send_away(system, node, &WireMessage::Migration(message));
}

/// Sends a wire message to all other nodes.
pub(crate) fn send_to_others(system: &System, wire_message: &WireMessage<'_>) {
    send_to_others_with(system, wire_message, Vec::new());
}

/// Sends a wire message like `send_to_others`, with a body.
pub(crate) fn send_to_others_with(system: &System, wire_message: &WireMessage<'_>, body: Vec<u8>) {
    if let Some(away) = remote::away(system) {
        send_sealed(system, away, away.others(), wire_message, body);
    }
}

fn send_sealed(
    system: &System,
    away: &Away,
    nodes: impl IntoIterator<Item = u16>,
    wire_message: &WireMessage<'_>,
    body: Vec<u8>,
) {
    let bytes = wire_message.seal(body);
    let worker = local::with(system.id(), |local| local.map(|local| local.worker()));
    for node in nodes {
        if wire_message.is_counted() {
            // Relaxed: read after this node has been found quiet, which comes after the sender's
            // count.
            away.sent.fetch_add(1, Relaxed);
        }
        if let Err(failure) = away.transport.send(worker, node, &bytes) {
            system.fail_here(failure);
        }
    }
}

/// Sends a message of a worker in `epoch` to the element that lives on another node.
#[cold]
pub(crate) fn send_one_away<T: Chare>(
    system: &System,
    collection: &Collection<T>,
    one: One<T>,
    (node, epoch): (u16, u32),
    parcel: BoxedParcel<T>,
) {
    let entry = parcel.entry();
    if let Some(packed) = parcel.cross(system, node) {
        let crossing = record(system, one, entry, node, &packed);
        send_packed(system, collection, one, (node, epoch), packed, crossing);
    }
}

/// Records a message of this node to `node`.
fn record<T: Chare>(
    system: &System,
    one: One<T>,
    entry: &'static str,
    node: u16,
    packed: &Packed,
) -> Crossing {
    // There is another node, so there is a transport to it.
    remote::away(system).map_or(Crossing::UNKNOWN, |away| {
        let processes = [away.me, node].map(|node| away.transport.recorded(node));
        let to = (one.collection, one.number);
        recorded::sent_away((T::NAME, entry), to, processes, packed.args.len())
    })
}

fn send_packed<T: Chare>(
    system: &System,
    collection: &Collection<T>,
    one: One<T>,
    (node, epoch): (u16, u32),
    packed: Packed,
    crossing: Crossing,
) {
    let number = collection.wide();
    let wire_message = WireMessage::One {
        collection: number.expect("only arrays over nodes have elements on other nodes"),
        number: one.number.bits(),
        priority: one.priority,
        epoch,
        handler: packed.handler,
        reply: packed.reply,
        crossing,
    };
    send_away_with(system, node, &wire_message, packed.args);
}

/// Sends a message to an element like [`send_one_away`], for a thread that is not a worker and has
/// found the element on `node`.
///
/// A message that another node has sent keeps its `crossing`.
///
/// The element may have moved while its message was serialised. So it is looked up again under the
/// gate, where no epoch can end.
#[cold]
pub(crate) fn send_one_from_outside<T: Chare>(
    system: &System,
    collection: &Collection<T>,
    one: One<T>,
    (node, crossing): (u16, Option<Crossing>),
    parcel: BoxedParcel<T>,
) {
    let away = remote::away(system).expect("there are other nodes");
    let entry = parcel.entry();
    let Some(packed) = parcel.cross(system, node) else {
        return;
    };
    // Look the element up again. If it is on another node, the message goes there, and
    // the reply will come from there.
    let gate = away.enter();
    let outside = system.outside();
    let epoch = outside.epoch;
    let route = collection.directory().place(one.number).route();
    drop(outside);
    if let Way::Away(now) = Way::of(route, one.number, epoch) {
        away.redirect(packed.reply, now);
        let crossing = crossing.unwrap_or_else(|| record(system, one, entry, now, &packed));
        return send_packed(system, collection, one, (now, epoch), packed, crossing);
    }
    // The element has moved to this node meanwhile: decode the message again, and deliver it here.
    drop(gate);
    let asker = packed
        .reply
        .map(|reply| Asker::new(system.id(), away.me, reply));
    let reply_to = asker.map_or(ReplyTo::None, ReplyTo::Asker);
    let (handler, args) = (packed.handler, &packed.args);
    let sent = collection.one((one.number, one.priority), None, handler, reply_to, args);
    sent.unwrap_or_else(|failure| system.fail(failure));
}

/// Serialises a message to all elements of a collection for other nodes. Returns `None` if the
/// collection is not over nodes, or the message came from another node.
pub(crate) fn cross_spread<T: Chare>(
    system: &System,
    collection: &Collection<T>,
    all: All<T>,
    cross: impl FnOnce() -> Option<Result<(u16, Vec<u8>), Failure>>,
) -> Option<Crossed> {
    let collection = collection.wide().filter(|_| all.section.is_none())?;
    match cross()? {
        Ok((handler, args)) => Some(Crossed {
            collection,
            priority: all.priority,
            handler,
            args,
        }),
        Err(failure) => {
            system.fail(failure);
            None
        }
    }
}

/// Sends a serialised message to all elements to the other nodes, from a sender in `epoch`.
pub(crate) fn spread_away(system: &System, crossed: Option<Crossed>, epoch: u32) {
    if let Some(crossed) = crossed {
        let wire_message = WireMessage::All {
            collection: crossed.collection,
            priority: crossed.priority,
            epoch,
            handler: crossed.handler,
        };
        send_to_others_with(system, &wire_message, crossed.args);
    }
}

/// A serialised message to all elements, for other nodes.
pub(crate) struct Crossed {
    collection: u32,
    priority: i32,
    handler: u16,
    args: Vec<u8>,
}
