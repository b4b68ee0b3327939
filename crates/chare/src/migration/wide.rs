//! Batches in a program over several nodes: there is one batch at a time for all nodes, with one
//! epoch.
//!
//! The coordinator of the first node begins and ends batches. The coordinators of all nodes,
//! including the first, follow it:
//!
//! ```text
//! first node   announces the moves to all nodes
//! each node    writes old and new places into its routes, reports how many elements leave it
//! first node   when all have reported: asks all to enter the epoch
//! each sender  enters it, as within a node, and also sends its marker to the other nodes concerned
//! old worker   after the markers of all nodes: sends its elements to their new workers or nodes
//! first node   after all arrivals: asks all to drop the old places, then begins the next batch
//! ```
//! So a sender in an epoch sends only to nodes that know the epoch: a node looks up the receiver of
//! a message in the epoch of the message's sender. The senders of a node are its workers, the
//! receiving thread (one at a time), and all other threads. The other threads share the epoch of
//! the receiving thread. Their marker is sent when no thread is between looking up an element and
//! sending the wire message to it ([`Away::enter`]).
//!
//! An element that is to go to another node is serialised first: from then on its messages wait
//! with it ([`super::crossing`]). The first node then drops other requests to move it: when the
//! batch begins, an element that goes to another node must be ready.
//! # Invariants
//! 1. The wire messages of a worker arrive in order, and are delivered to workers in that order:
//!    its marker is the last message of its old epoch.
//! 2. A node reports an element from another node only after it has arrived. So no node begins a
//!    batch before the previous one is over, because the first node has announced the end of that
//!    batch before.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::sync::Arc;

use super::{Batch, COORDINATOR, Coordinator, Moves};
use crate::address::directory::Site;
use crate::address::number::Number;
use crate::engine::elements::moves::Request;
use crate::engine::handler::Asker;
use crate::engine::local::Local;
use crate::engine::local::any_thread;
use crate::engine::system::System;
use crate::migration;
use crate::remote::{self, Away, MigrationMessage, MoveRequest, out};

/// The state of the first node, which decides about moves.
#[derive(Default)]
pub(super) struct Main {
    epoch: u32,
    /// The moves of the next batch, by collection and element: the node, the worker, and whether
    /// the element is ready for another node.
    requested: BTreeMap<u32, BTreeMap<u64, (u16, u16, bool)>>,
    /// The nodes with requested moves in arrays of their own.
    within: BTreeSet<u16>,
    /// The requests to answer when all requested moves, and those of the batch under way, are done.
    askers: Vec<Asker>,
    askers_of_batch: Vec<Asker>,
    is_under_way: bool,
    /// The number of nodes that do not know the batch yet.
    unknown: u16,
    /// The number of elements of the batch that have not arrived yet.
    awaited: u64,
}

fn other_nodes(system: &System) -> &Away {
    remote::away(system).expect("there are other nodes")
}

fn send_migration_message_to_all(system: &System, message: impl Fn() -> MigrationMessage) {
    for node in 0..other_nodes(system).node_count {
        out::send_migration_message(system, node, message());
    }
}

/// Calls `call` on the coordinator of this node.
pub(crate) fn at_coordinator(system: &System, call: impl FnOnce(&Local) + Send + 'static) {
    any_thread::post(system, COORDINATOR, call);
}

/// Returns the number of markers that a worker with leaving elements receives. Of this node, each
/// worker sends one, and all other threads together send one. Of another node, each worker sends
/// one, the receiving thread sends one, and all other threads together send one.
pub(crate) fn marker_count(system: &System) -> usize {
    let own = system.worker_count() + 1;
    let others = remote::away(system).map_or(0, |away| away.others().count());
    own + others * (system.worker_count() + 2)
}

/// Enters an epoch for the receiving thread and the outside threads, which share its epoch.
pub(crate) fn enter_epoch_outside(system: &System, epoch: u32) {
    let batch = system.shared::<Moves>().under_way().clone();
    let batch = batch.expect("all nodes know a batch before they enter its epoch");
    let mut outside = system.outside();
    outside.epoch = epoch;
    for &source in &batch.sources {
        any_thread::post_outside(system, source, Box::new(migration::take_marker));
    }
    drop(outside);
    // That was the marker within this node. The receiving thread's marker goes to the other nodes,
    // and then the workers enter the epoch.
    for &node in &batch.nodes {
        out::send_migration_message(system, node, MigrationMessage::Marker { epoch });
    }
    for worker in 0..system.worker_count() {
        any_thread::post(system, worker, move |local| {
            migration::enter_epoch(local, epoch)
        });
    }
    // The outside threads may still be sending to other nodes. Their marker waits for that, so it
    // is sent by a worker: the receiving thread must not wait.
    let nodes = batch.nodes.clone();
    at_coordinator(system, move |local| {
        for node in nodes {
            let sent = other_nodes(local.system()).send_outside_marker(node, epoch);
            sent.unwrap_or_else(|failure| local.system().fail_here(failure));
        }
    });
}

/// Delivers a marker of another node to the workers that elements leave. The marker may belong to a
/// batch that is over, if no element had to leave this node after all.
pub(crate) fn pass_marker_on(system: &System, epoch: u32) {
    let batch = system.shared::<Moves>().under_way().clone();
    let batch = batch.filter(|batch| batch.epoch == epoch);
    for &source in batch.iter().flat_map(|batch| &batch.sources) {
        any_thread::post_outside(system, source, Box::new(migration::take_marker));
    }
}

/// Sends requested moves to the first node, and calls `done` on some worker when they are complete.
pub(crate) fn request_moves(
    local: &Local,
    collection: u32,
    requests: Vec<MoveRequest>,
    are_frozen: bool,
    done: Option<Request>,
) {
    let id = local.system().id();
    let reply = done.map(|done| {
        other_nodes(local.system()).await_reply(0, move |_| {
            if let Some(system) = System::find(id) {
                any_thread::post(&system, COORDINATOR, done);
            }
        })
    });
    let request = MigrationMessage::RequestMoves {
        collection,
        requests,
        are_frozen,
        reply,
    };
    out::send_migration_message(local.system(), 0, request);
}

/// Adds requested moves to the next batch. Runs on the first node, like all functions up to
/// [`prepare`].
pub(crate) fn take_move_requests(
    local: &Local,
    collection: u32,
    requests: Vec<MoveRequest>,
    are_frozen: bool,
    asker: Option<Asker>,
) {
    let mut coordinator = local.state::<Coordinator>().borrow_mut();
    let main = &mut coordinator.main;
    let requested = main.requested.entry(collection).or_default();
    for (number, node, worker) in requests {
        // A frozen element has to move to its node; later requests do not change that.
        let is_frozen = requested.get(&number).is_some_and(|before| before.2);
        if are_frozen || !is_frozen {
            requested.insert(number, (node, worker, are_frozen));
        }
    }
    main.askers.extend(asker);
    drop(coordinator);
    begin_wide(local);
}

/// Records that a node has requested moves in arrays of its own.
pub(crate) fn take_request_within(local: &Local, node: u16) {
    local
        .state::<Coordinator>()
        .borrow_mut()
        .main
        .within
        .insert(node);
    begin_wide(local);
}

/// Begins the next batch, unless one is under way.
fn begin_wide(local: &Local) {
    let mut coordinator = local.state::<Coordinator>().borrow_mut();
    let main = &mut coordinator.main;
    let has_requests = !(main.requested.is_empty() && main.within.is_empty());
    if main.is_under_way || !has_requests {
        return;
    }
    let requested = mem::take(&mut main.requested);
    let mut sources = mem::take(&mut main.within);
    // Leave out the requests that no longer apply. `sources` becomes the nodes that elements leave.
    let groups = requested.into_iter().map(|(collection, requested)| {
        let requests = requests_to_grant(local, collection, requested, &mut sources);
        (collection, requests)
    });
    let groups: Vec<_> = groups.filter(|group| !group.1.is_empty()).collect();
    let askers = mem::take(&mut main.askers);
    if sources.is_empty() {
        drop(coordinator);
        return answer_all(askers);
    }
    // Announce the batch. It continues when all nodes have written their routes ([`is_known`]).
    let epoch = main.epoch + 1;
    main.epoch = epoch;
    main.askers_of_batch = askers;
    main.is_under_way = true;
    main.unknown = other_nodes(local.system()).node_count;
    drop(coordinator);
    let sources: Vec<_> = sources.into_iter().collect();
    send_migration_message_to_all(local.system(), || MigrationMessage::Prepare {
        epoch,
        sources: sources.clone(),
        groups: groups.clone(),
    });
}

/// Returns the requests to carry out, and adds the nodes of those elements to `sources`.
fn requests_to_grant(
    local: &Local,
    collection: u32,
    requested: BTreeMap<u64, (u16, u16, bool)>,
    sources: &mut BTreeSet<u16>,
) -> Vec<MoveRequest> {
    let away = other_nodes(local.system());
    let Some(found) = away.collection(collection) else {
        return Vec::new();
    };
    let grant = |(number, (node, worker, is_frozen)): (u64, (u16, u16, bool))| {
        let from = found.node_of(Number::from_bits(number), away.me)?;
        // A request within a node does not apply if the element has moved to another node
        // meanwhile.
        if !is_frozen && from != node {
            return None;
        }
        sources.insert(from);
        Some((number, node, worker))
    };
    requested.into_iter().filter_map(grant).collect()
}

/// Records that a node has written the routes of the batch, with `count` elements that leave it.
/// After the last node, the batch continues.
pub(crate) fn count_acknowledgement(local: &Local, count: u64) {
    let mut coordinator = local.state::<Coordinator>().borrow_mut();
    let main = &mut coordinator.main;
    main.awaited += count;
    main.unknown -= 1;
    if main.unknown > 0 {
        return;
    }
    let (epoch, awaited) = (main.epoch, main.awaited);
    drop(coordinator);
    match awaited {
        0 => end_wide(local),
        _ => {
            send_migration_message_to_all(local.system(), || MigrationMessage::EnterEpoch { epoch })
        }
    }
}

/// Counts elements that have arrived. Ends the batch after the last one.
pub(crate) fn count_arrivals(local: &Local, count: u64) {
    let mut coordinator = local.state::<Coordinator>().borrow_mut();
    coordinator.main.awaited -= count;
    let is_over = coordinator.main.awaited == 0;
    drop(coordinator);
    if is_over {
        end_wide(local);
    }
}

fn end_wide(local: &Local) {
    send_migration_message_to_all(local.system(), || MigrationMessage::End);
    let mut coordinator = local.state::<Coordinator>().borrow_mut();
    coordinator.main.is_under_way = false;
    let askers = mem::take(&mut coordinator.main.askers_of_batch);
    drop(coordinator);
    answer_all(askers);
    begin_wide(local);
}

/// Writes the routes of a batch, and reports the number of elements that leave this node. Runs on
/// the coordinator of each node.
pub(crate) fn prepare(
    local: &Local,
    epoch: u32,
    sources: Vec<u16>,
    groups: Vec<(u32, Vec<MoveRequest>)>,
) {
    let away = other_nodes(local.system());
    let me = away.me;
    let site = |(number, node, worker): MoveRequest| {
        let worker = usize::from(worker);
        let here = (node == me).then_some(Site::Worker(worker));
        let site = here.unwrap_or(Site::Node(node));
        (Number::from_bits(number), site)
    };
    // A missing collection has been destroyed.
    let find = |(collection, requests): (u32, Vec<MoveRequest>)| {
        let found = away.collection(collection)?;
        let requested = requests.into_iter().map(site).collect();
        Some((found.id(), found.mover(), requested))
    };
    let mut requested: Vec<_> = groups.into_iter().filter_map(find).collect();
    // The requested moves in this node's own arrays are part of the batch.
    if sources.contains(&me) {
        let mut coordinator = local.state::<Coordinator>().borrow_mut();
        let own = mem::take(&mut coordinator.requested).into_iter();
        requested.extend(own.map(|(collection, own)| (collection, own.of, own.moves)));
        coordinator.when_arrived = mem::take(&mut coordinator.when_made);
    }
    let groups = migration::groups(local, epoch, requested.into_iter());
    let nodes = sources.into_iter().filter(|&node| node != me).collect();
    let batch = Batch::new(epoch, groups, nodes);
    let count = batch.count() as u64;
    *local.system().shared::<Moves>().under_way() = Some(Arc::new(batch));
    out::send_migration_message(local.system(), 0, MigrationMessage::Acknowledge { count });
}

fn answer_all(askers: Vec<Asker>) {
    for asker in askers {
        asker.answer(Ok(Vec::new()), false);
    }
}
