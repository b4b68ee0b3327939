//! Batches of a program over several nodes: there is one at a time, of all nodes, with an epoch that all have.
//!
//! The coordinator of the first node begins and ends them; those of all nodes, its own too, do what it says:
//!
//! ```text
//! first node   tells all what is to move
//! each node    writes old and new places into its routes, and says so, and how many elements leave its workers
//! first node   when all have: tells all to go over
//! each sender  goes over, as within a node, and sends its marker to the other nodes that elements leave, too
//! old worker   when all markers of all nodes are there: sends its elements to their new workers, or their new nodes
//! first node   when all have come: tells all to make the new places the old ones too, and begins the next batch
//! ```
//! So whoever is in an epoch sends to those who know it: what comes to a node is looked up there by its sender's epoch. The senders of a node
//! are its workers, whoever receives letters, one at a time, and all other threads: these last have the epoch of who receives, and their marker goes
//! when none is between its look where an element is and the letter to it ([`Away::enter`]).
//!
//! An element that is to go to another node is written first: from then on its messages wait with it ([`super::crossing`]). The first node forgets
//! wishes of others for it: by the time that a batch begins, an element that goes to another node is ready.
//! # Invariants
//! 1. The letters of a worker arrive in order, and are given to workers in that order: its marker is the last that comes of its old epoch.
//! 2. A node that an element leaves for another one says that it has come when it has: no node begins with a batch before the last is over, since
//!    the first node has told it so before.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::sync::Arc;

use super::{Batch, COORDINATOR, Coordinator, Moves};
use crate::address::directory::Site;
use crate::address::number::Number;
use crate::engine::elements::moves::Request;
use crate::engine::local::Local;
use crate::engine::object::handler::Asker;
use crate::engine::system::System;
use crate::migration;
use crate::remote::out;
use crate::remote::{self, Away, Travel, Wish};

/// What the first node knows of moves.
#[derive(Default)]
pub(super) struct Main {
    epoch: u32,
    /// What the next batch is made of, by collection and element: the node and the worker, and whether it is ready for another node.
    wanted: BTreeMap<u32, BTreeMap<u64, (u16, u16, bool)>>,
    /// Nodes that move elements of arrays of their own.
    within: BTreeSet<u16>,
    /// Who is told when all that is wanted has been done, and of the batch that is under way.
    askers: Vec<Asker>,
    askers_of_batch: Vec<Asker>,
    is_under_way: bool,
    /// So many nodes do not know the batch yet.
    unknown: u16,
    /// Elements of it that have not come.
    awaited: u64,
}

fn other_nodes(system: &System) -> &Away {
    remote::away(system).expect("there are other nodes")
}

fn send_travel_to_all(system: &System, travel: impl Fn() -> Travel) {
    for node in 0..other_nodes(system).node_count {
        out::send_travel(system, node, travel());
    }
}

/// Calls `call` on the worker that does what is said of batches.
pub(crate) fn at_coordinator(system: &System, call: impl FnOnce(&Local) + Send + 'static) {
    system.post_from_here(COORDINATOR, call);
}

/// How many markers come to a worker that elements leave.
pub(crate) fn marker_count(system: &System) -> usize {
    let own = system.worker_count() + 1;
    let others = remote::away(system).map_or(0, |away| away.others().count());
    own + others * (system.worker_count() + 2)
}

/// Goes over to an epoch. For who receives letters, of whom the threads outside have theirs.
pub(crate) fn go_over_to(system: &System, epoch: u32) {
    let batch = system.shared::<Moves>().under_way().clone();
    let batch = batch.expect("all nodes know a batch before they go over");
    let mut outside = system.outside();
    outside.epoch = epoch;
    for &source in &batch.sources {
        system.post_outside(source, Box::new(migration::take_marker));
    }
    drop(outside);
    for &node in &batch.nodes {
        out::send_travel(system, node, Travel::Marker { epoch });
    }
    for worker in 0..system.worker_count() {
        system.post_from_here(worker, move |local| migration::go_over(local, epoch));
    }
    let nodes = batch.nodes.clone();
    at_coordinator(system, move |local| {
        for node in nodes {
            let sent = other_nodes(local.system()).send_outside_marker(node, epoch);
            sent.unwrap_or_else(|failure| local.system().fail_here(failure));
        }
    });
}

/// A marker of another node has come; perhaps one for a batch that is over, for which no element had to leave this node after all.
pub(crate) fn pass_marker_on(system: &System, epoch: u32) {
    let batch = system.shared::<Moves>().under_way().clone();
    let batch = batch.filter(|batch| batch.epoch == epoch);
    for &source in batch.iter().flat_map(|batch| &batch.sources) {
        system.post_outside(source, Box::new(migration::take_marker));
    }
}

/// Tells the first node what is to move, and calls `done` on some worker when it has.
pub(crate) fn wish(
    local: &Local,
    collection: u32,
    wishes: Vec<Wish>,
    are_frozen: bool,
    done: Option<Request>,
) {
    let id = local.system().id();
    let reply = done.map(|done| {
        other_nodes(local.system()).await_reply(0, move |_| {
            if let Some(system) = System::find(id) {
                system.post_from_here(COORDINATOR, done);
            }
        })
    });
    let want = Travel::Want {
        collection,
        wishes,
        are_frozen,
        reply,
    };
    out::send_travel(local.system(), 0, want);
}

/// Notes what is to be moved. At the first node, as all until [`prepare`](prepare).
pub(crate) fn take_wishes(
    local: &Local,
    collection: u32,
    wishes: Vec<Wish>,
    are_frozen: bool,
    asker: Option<Asker>,
) {
    let mut coordinator = local.state::<Coordinator>().borrow_mut();
    let main = &mut coordinator.main;
    let wanted = main.wanted.entry(collection).or_default();
    for (number, node, worker) in wishes {
        let is_frozen = wanted.get(&number).is_some_and(|before| before.2);
        if are_frozen || !is_frozen {
            wanted.insert(number, (node, worker, are_frozen));
        }
    }
    main.askers.extend(asker);
    drop(coordinator);
    begin_wide(local);
}

/// Notes that a node moves elements of its own arrays.
pub(crate) fn take_wish_within(local: &Local, node: u16) {
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
    let has_wishes = !(main.wanted.is_empty() && main.within.is_empty());
    if main.is_under_way || !has_wishes {
        return;
    }
    let wanted = mem::take(&mut main.wanted);
    let mut sources = mem::take(&mut main.within);
    let groups = wanted.into_iter().map(|(collection, wanted)| {
        let wishes = wishes_to_grant(local, collection, wanted, &mut sources);
        (collection, wishes)
    });
    let groups: Vec<_> = groups.filter(|group| !group.1.is_empty()).collect();
    let askers = mem::take(&mut main.askers);
    if sources.is_empty() {
        drop(coordinator);
        return tell_all(askers);
    }
    let epoch = main.epoch + 1;
    main.epoch = epoch;
    main.askers_of_batch = askers;
    main.is_under_way = true;
    main.unknown = other_nodes(local.system()).node_count;
    drop(coordinator);
    let sources: Vec<_> = sources.into_iter().collect();
    send_travel_to_all(local.system(), || Travel::Prepare {
        epoch,
        sources: sources.clone(),
        groups: groups.clone(),
    });
}

/// What is done of what is wanted, and the nodes that have those elements.
fn wishes_to_grant(
    local: &Local,
    collection: u32,
    wanted: BTreeMap<u64, (u16, u16, bool)>,
    sources: &mut BTreeSet<u16>,
) -> Vec<Wish> {
    let away = other_nodes(local.system());
    let Some(found) = away.collection(collection) else {
        return Vec::new();
    };
    let grant = |(number, (node, worker, is_frozen)): (u64, (u16, u16, bool))| {
        let from = found.node_of(Number::from_bits(number), away.me)?;
        // It has gone to another node since that was wanted.
        if !is_frozen && from != node {
            return None;
        }
        sources.insert(from);
        Some((number, node, worker))
    };
    wanted.into_iter().filter_map(grant).collect()
}

/// A node knows the batch.
pub(crate) fn is_known(local: &Local, count: u64) {
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
        _ => send_travel_to_all(local.system(), || Travel::GoOver { epoch }),
    }
}

/// Elements have come.
pub(crate) fn came(local: &Local, count: u64) {
    let mut coordinator = local.state::<Coordinator>().borrow_mut();
    coordinator.main.awaited -= count;
    let is_over = coordinator.main.awaited == 0;
    drop(coordinator);
    if is_over {
        end_wide(local);
    }
}

fn end_wide(local: &Local) {
    send_travel_to_all(local.system(), || Travel::End);
    let mut coordinator = local.state::<Coordinator>().borrow_mut();
    coordinator.main.is_under_way = false;
    let askers = mem::take(&mut coordinator.main.askers_of_batch);
    drop(coordinator);
    tell_all(askers);
    begin_wide(local);
}

/// Writes the routes of a batch. At the coordinator of each node.
pub(crate) fn prepare(local: &Local, epoch: u32, sources: Vec<u16>, groups: Vec<(u32, Vec<Wish>)>) {
    let away = other_nodes(local.system());
    let me = away.me;
    let site = |(number, node, worker): Wish| {
        let worker = usize::from(worker);
        let here = (node == me).then_some(Site::Worker(worker));
        let site = here.unwrap_or(Site::Node(node));
        (Number::from_bits(number), site)
    };
    // Who has it no more has destroyed it.
    let find = |(collection, wishes): (u32, Vec<Wish>)| {
        let found = away.collection(collection)?;
        let wanted = wishes.into_iter().map(site).collect();
        Some((found.id(), found.mover(), wanted))
    };
    let mut wanted: Vec<_> = groups.into_iter().filter_map(find).collect();
    if sources.contains(&me) {
        let mut coordinator = local.state::<Coordinator>().borrow_mut();
        let own = mem::take(&mut coordinator.wanted).into_iter();
        wanted.extend(own.map(|(collection, own)| (collection, own.of, own.moves)));
        coordinator.when_come = mem::take(&mut coordinator.when_made);
    }
    let groups = migration::groups(local, epoch, wanted.into_iter());
    let nodes = sources.into_iter().filter(|&node| node != me).collect();
    let batch = Batch::new(epoch, groups, nodes);
    let count = batch.count() as u64;
    *local.system().shared::<Moves>().under_way() = Some(Arc::new(batch));
    out::send_travel(local.system(), 0, Travel::Known { count });
}

fn tell_all(askers: Vec<Asker>) {
    for asker in askers {
        asker.tell(Ok(Vec::new()), false);
    }
}
