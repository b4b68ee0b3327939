//! The way of elements from their old worker to the new one. Elements with the same old and new
//! worker share one message.

use std::collections::BTreeMap;

use super::{Batch, COORDINATOR, MovesOf};
use crate::address::directory::Site;
use crate::address::number::Number;
use crate::engine::elements::moves::{Move, Request};
use crate::engine::elements::part::{Part, Slot};
use crate::engine::local::ranks::RanksOf;
use crate::engine::local::{Arrival, Local};
use crate::engine::object::chare::Chare;
use crate::lifecycle::fail_early;
use crate::migration::{self, crossing, departures};
use crate::reduction::{self, Gathered, put_gathered, take_gathered};
use crate::remote::{self, MigrationMessage, out};
use crate::scan;
use crate::state::rounds::NextRounds;

/// An element that moves. `element` is `None` if it has ended; only its arrival is counted then.
struct Transfer<T: Chare> {
    number: Number,
    element: Option<MovingElement<T>>,
}

/// An element, and the data that move with it.
struct MovingElement<T: Chare> {
    slot: Slot<T>,
    rounds: NextRounds,
    gathered: Option<Gathered>,
    urgent: Vec<Arrival>,
}

/// Sends the elements that leave this worker, after all markers have arrived.
pub(crate) fn send_elements(local: &Local, batch: &Batch) {
    let leave = |group: &MovesOf| group.of.leaving(local, group.collection, &group.moves);
    let leaving: Vec<_> = batch.groups.iter().map(leave).collect();
    let groups = || batch.groups.iter().zip(&leaving);
    let keys = groups().flat_map(|(group, leaving)| {
        let key = |one: &Move| (group.collection, one.number);
        leaving.iter().map(key)
    });
    // Messages that wait in this worker's priority queue move with their elements.
    let mut ranked = local.take_ranked(keys);
    // One message for each worker to which elements move.
    let mut arrivals = BTreeMap::<usize, Vec<Request>>::new();
    for (group, leaving) in groups() {
        for (to, arrive) in group.of.take(local, group.collection, leaving, &mut ranked) {
            arrivals.entry(to).or_default().push(arrive);
        }
    }
    for (to, arrivals) in arrivals {
        departures::depart(local, to, move |local| migration::call_all(local, arrivals));
    }
    departures::send_departures(local);
}

/// Returns the moves of the elements that leave this worker now. An element that is not constructed
/// yet leaves later.
pub(crate) fn leaving<T: Chare>(local: &Local, collection: u32, moves: &[Move]) -> Vec<Move> {
    let part = Part::<T>::of(local, collection);
    let is_here = |one: &&Move| {
        let is_late = !part.has(one.number) && part.collection().has(one.number);
        if is_late && let Site::Worker(to) = one.to {
            part.presence().set_going_on(one.number, to);
        }
        !is_late
    };
    let own = Some(local.worker());
    let own = moves.iter().filter(|one| one.source() == own);
    own.filter(is_here).copied().collect()
}

/// Removes elements from this worker. Returns a call for each worker to which they move, which
/// delivers them there.
pub(crate) fn remove_elements<T: Chare>(
    local: &Local,
    part: &Part<T>,
    leaving: &[Move],
    ranked: &mut RanksOf,
) -> Vec<(usize, Request)> {
    let (collection, epoch) = (part.collection().id(), local.epoch());
    let mut groups = BTreeMap::<usize, Vec<Transfer<T>>>::new();
    for one in leaving {
        let urgent = ranked.remove(&(collection, one.number));
        let urgent = urgent.unwrap_or_default();
        match one.to {
            Site::Worker(to) => {
                let transfer = pack(local, part, one.number, urgent);
                groups.entry(to).or_default().push(transfer);
            }
            Site::Node(to) => {
                let element = crossing::freeze_whole(local, part, one.number, to, urgent);
                departures::depart_away(local, part, one.number, to, element);
            }
        }
    }
    let arrive = |(to, transfers)| -> (usize, Request) {
        let arrive =
            move |local: &Local| arrive(local, &Part::of(local, collection), epoch, transfers);
        (to, Box::new(arrive))
    };
    groups.into_iter().map(arrive).collect()
}

fn pack<T: Chare>(
    local: &Local,
    part: &Part<T>,
    number: Number,
    urgent: Vec<Arrival>,
) -> Transfer<T> {
    let element = part.take_leaving(number).map(|slot| {
        let rounds = slot.next_rounds();
        reduction::leaves(local, part, number, &rounds);
        MovingElement {
            slot,
            rounds,
            gathered: take_gathered(part, number),
            urgent,
        }
    });
    Transfer { number, element }
}

/// Reports to the coordinator that elements have arrived here.
pub(crate) fn report_arrivals(local: &Local, count: usize) {
    match remote::away(local.system()) {
        None => local.post(COORDINATOR, move |local| migration::arrived(local, count)),
        Some(_) => {
            let count = count as u64;
            out::send_migration_message(local.system(), 0, MigrationMessage::Arrived { count });
        }
    }
}

fn arrive<T: Chare>(local: &Local, part: &Part<T>, epoch: u32, transfers: Vec<Transfer<T>>) {
    debug_assert!(
        local.epoch() == epoch,
        "the old worker's marker arrived before the elements"
    );
    let count = transfers.len();
    for Transfer { number, element } in transfers {
        // The element has ended meanwhile: fail the messages that this worker has kept for it.
        let Some(moving) = element else {
            local.guard(|| fail_early(local, part, number));
            continue;
        };
        reduction::comes(part, number, &moving.rounds);
        put_gathered(part, number, moving.gathered);
        // Waiting messages run now and may panic. The other elements count as arrived in any case.
        local.guard(|| part.admit(local, moving.slot, epoch, moving.urgent));
        local.guard(|| scan::go_on_without_result(local, part, number));
    }
    report_arrivals(local, count);
}

/// Sends an element on that was constructed here, or could not be constructed, after all markers
/// had arrived.
///
/// Only a model causes this (`model::migrate`). All other moves are of elements that are
/// constructed: they have requested the move themselves, or were measured.
#[cold]
pub(crate) fn send_late_element<T: Chare>(local: &Local, part: &Part<T>, number: Number) {
    if let Some(to) = part.presence().take_going_on(number) {
        let (from, to) = (Site::Worker(local.worker()), Site::Worker(to));
        let mut ranked = local.take_ranked([(part.collection().id(), number)].into_iter());
        for (to, arrive) in remove_elements(local, part, &[Move { number, from, to }], &mut ranked)
        {
            departures::depart(local, to, arrive);
        }
        departures::send_departures(local);
    }
}
