//! Migration of elements between nodes. An element is serialised with the messages that wait for
//! it.
//!
//! An element that will leave sends itself the message [`Leave`], which runs when no entry of the
//! element is running. From then on the element is frozen, and its messages wait with it, so no
//! entry starts that could not be serialised. Then the element moves like within a node.

use crate::address::number::Number;
use crate::codec::{Packed, reading};
use crate::engine::elements::parcel::Parcel;
use crate::engine::elements::part::{Body, Frozen, Part, Slot};
use crate::engine::local::{Arrival, Local};
use crate::engine::object::chare::Chare;
use crate::engine::object::cx::Cx;
use crate::engine::object::proxy::One;
use crate::engine::system::System;
use crate::failure::Failure;
use crate::lifecycle::fail_early;
use crate::migration::arrivals;
use crate::migration::wide;
use crate::reduction;
use crate::remote::{self, MigratingElement, Waiting};
use crate::scan::messages_of;
use crate::state::rounds::NextRounds;

/// Deserialises and delivers a message that arrived with its element.
pub(crate) type DeliverWaiting<T> = fn(&Local, &Part<T>, Number, Waiting);

/// A message that makes an element leave for another worker, once no entry of it is running.
pub(crate) struct Leave {
    /// The number of the destination among the workers of all nodes.
    pub(crate) worker: usize,
}

impl<T: Chare> Parcel<T> for Leave {
    fn entry(&self) -> &'static str {
        "migrate_to"
    }

    fn deliver(self, local: &Local, part: &Part<T>, number: Number) {
        // The elements must not stay borrowed.
        let is_ready = part.ready(number).is_some();
        if is_ready {
            leave(local, part, number, self.worker);
        } else {
            part.keep(local, number, Box::new(self));
        }
    }

    /// Does nothing: the element has ended, so it does not move.
    fn fail(self, _system: &System, _failure: Failure) {}

    fn cross(self, _system: &System, _node: u16) -> Option<Packed> {
        Some(Packed::leave(self.worker))
    }
}

/// Requests the move of an element, in an array over nodes, to one of the workers of all nodes.
pub(crate) fn migrate_over_nodes<T: Chare>(system: &System, one: One<T>, worker: usize) {
    let away = remote::away(system).expect("the array is over nodes");
    let own = system.worker_count();
    let worker_count = own * usize::from(away.node_count);
    assert!(
        worker < worker_count,
        "there is no worker {worker}: there are {worker_count}"
    );
    assert!(
        worker / own == usize::from(away.me) || T::STATE.is_some(),
        "a {} would go to another node: write `#[chare(nodes, state)]` for its values to cross",
        T::NAME
    );
    one.send_parcel(Leave { worker });
}

/// Makes an element leave for one of the workers of all nodes. Can be called on any worker.
pub(crate) fn move_to_worker<T: Chare>(part: &Part<T>, number: Number, worker: usize) {
    part.one(number).send_parcel(Leave { worker });
}

/// Requests the move of an element that runs no entry. If the destination is on another node, the
/// element is frozen first.
fn leave<T: Chare>(local: &Local, part: &Part<T>, number: Number, worker: usize) {
    let (Some(away), Some(collection)) = (remote::away(local.system()), part.collection().wide())
    else {
        return;
    };
    let own = local.system().worker_count();
    // Both are smaller than the number of ports, so they fit 16 bits.
    let (node, worker) = ((worker / own) as u16, (worker % own) as u16);
    let goes_away = node != away.me;
    if goes_away && let Err(why) = freeze(local, part, number) {
        let name = part.collection().name(part.collection().index_of(number));
        let text = format!("{name} cannot go to another node: {why}");
        return local.system().fail(Failure::new(text));
    }
    let request_moves = (number.bits(), node, worker);
    wide::request_moves(local, collection, vec![request_moves], goes_away, None);
}

/// Serialises an element, and replaces it by the bytes. Fails if the element has unreceived
/// messages, or cannot be serialised.
fn freeze<T: Chare>(local: &Local, part: &Part<T>, number: Number) -> Result<(), String> {
    let slot = part.slot(number);
    let mut slot = slot.expect("the caller has checked that the element is ready");
    if let Some(kind) = slot.waits_in_inbox() {
        return Err(format!("it has not received `{kind}`"));
    }
    let body = slot.at_rest()?;
    let rounds = body.cx.rounds();
    let state = T::STATE.ok_or("its values cannot be written")?;
    let frozen = Frozen {
        rounds: (rounds.array(), rounds.scan_of(None)),
        value: state
            .bytes_of(&body.me)
            .map_err(|error| error.to_string())?,
    };
    let body = slot.freeze(frozen);
    drop(slot);
    // The destructor is user code, which may panic.
    local.guard(|| drop(body));
    Ok(())
}

/// Removes an element that moves to node `to`, together with the messages that wait for it.
pub(crate) fn freeze_whole<T: Chare>(
    local: &Local,
    part: &Part<T>,
    number: Number,
    to: u16,
    urgent: Vec<Arrival>,
) -> Option<MigratingElement> {
    // Deliver the messages from the priority queue now. The element is frozen, so they join the end
    // of its queue.
    for arrival in urgent {
        local.guard(|| arrival(local));
    }
    let slot = part.take_leaving(number)?;
    reduction::leaves(local, part, number, &slot.next_rounds());
    let me = remote::away(local.system()).map_or(0, |away| away.me);
    // Serialise the messages that wait for the element: steps of scans first, then its queue.
    let (frozen, steps, backlog) = slot.into_frozen();
    let backlog = messages_of(steps).chain(backlog);
    let packed = backlog.filter_map(|parcel| parcel.cross(local.system(), to));
    let backlog = packed.map(|packed| Waiting::new(packed, me)).collect();
    Some(MigratingElement { frozen, backlog })
}

/// Handles the arrival of an element from another node, or of the notice that it ended there.
pub(crate) fn arrive_from_node<T: Chare>(
    local: &Local,
    part: &Part<T>,
    number: Number,
    element: Option<MigratingElement>,
    deliver: DeliverWaiting<T>,
) {
    match element.map(|element| thaw(local, part, number, element, deliver)) {
        Some(Ok((slot, rounds, backlog))) => {
            reduction::comes(part, number, &rounds);
            let epoch = local.epoch();
            // Waiting messages run now and may panic. The element counts as arrived in any case.
            local.guard(|| part.admit(local, slot, epoch, backlog));
        }
        outcome => {
            // The element has ended on its old node, or cannot be deserialised here.
            if let Some(Err(failure)) = outcome {
                let index = part.collection().index_of(number);
                part.collection().note_death(number, index, &failure);
                local.system().fail(failure);
            }
            part.collection().remove(number, None);
            local.guard(|| fail_early(local, part, number));
        }
    }
    arrivals::report_arrivals(local, 1);
}

/// Deserialises an element and its waiting messages.
fn thaw<T: Chare>(
    local: &Local,
    part: &Part<T>,
    number: Number,
    element: MigratingElement,
    deliver: DeliverWaiting<T>,
) -> Result<(Slot<T>, NextRounds, Vec<Arrival>), Failure> {
    let MigratingElement { frozen, backlog } = element;
    let collection = part.collection();
    let index = collection.index_of(number);
    let unread = |why: String| {
        let name = collection.name(index);
        Failure::new(format!("{name} cannot come from another node: {why}"))
    };
    let state = T::STATE.ok_or_else(|| unread("its values cannot be read".to_owned()))?;
    let me = reading(local.system().id(), || state.read(&mut &*frozen.value));
    let me = me.map_err(|error| unread(error.to_string()))?;
    let mut cx = Cx::new(part.one(number), index);
    let rounds = NextRounds::of(frozen.rounds);
    cx.set_rounds(rounds.clone());
    let slot = Slot::new(number, index, Body { me, cx });
    let backlog = backlog.into_iter().map(|waiting| -> Arrival {
        let id = collection.id();
        Box::new(move |local: &Local| deliver(local, &Part::of(local, id), number, waiting))
    });
    Ok((slot, rounds, backlog.collect()))
}
