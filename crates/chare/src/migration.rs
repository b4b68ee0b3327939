//! Moves elements between workers while messages for them are under way. No message is lost or
//! duplicated, and the order of each sender is kept.
//!
//! Moves are made in batches, one after the other. Worker 0 begins each batch with all moves
//! requested by then; of several moves of one element, only the last counts. A batch has a number,
//! its *epoch*. All workers, and the outside threads as one more sender, enter the epoch one by
//! one, and send to the new places from then on:
//!
//! ```text
//! worker 0     writes old and new worker into the routes, then asks all senders to enter the epoch
//! each sender  enters it, and sends a marker (its last by the old routes) to each old worker
//! old worker   still runs the leaving elements; after all markers, sends them to their new workers
//! new worker   keeps the messages for an element until the element has arrived
//! worker 0     after all arrivals: replaces old by new in the routes, and begins the next batch
//! ```
//!
//! After its move, an element sends from its new worker. [`departures`] keeps the order of these
//! messages and of those that it sent from its old worker.
//!
//! A message to all elements carries its sender's epoch, and reaches each element at the worker of
//! that epoch. So the old worker of an element skips the element for messages that were sent in the
//! new epoch, and its new worker skips it for messages that were sent before.
//!
//! In a program over nodes, a batch covers all nodes with one epoch, and the first node begins it
//! ([`wide`]).
//! # Invariants
//! 1. At most one batch is under way. A route with different old and new workers belongs to this
//!    batch, and each sender is in its epoch or in the one before.
//! 2. All messages that a sender sent by the old route arrive before its marker, since mailboxes
//!    keep the order of each sender. The messages of outside threads are in one order, since these
//!    threads send under a lock; worker 0 sends their marker as one of them.
//! 3. An element that has moved leaves no forwarding address: once a batch is over, all senders use
//!    the new routes.

pub(crate) mod arrivals;
pub(crate) mod crossing;
pub(crate) mod departures;
pub(crate) mod wide;

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::sync::Arc;

use raddle_sync::prim::Mutex;

use wide::Main;

use crate::address::directory::{Route, Site};
use crate::address::number::Number;
use crate::engine::elements::moves::{Move, Mover, Request};
use crate::engine::elements::part::Part;
use crate::engine::local::Local;
use crate::engine::local::any_thread;
use crate::engine::local::ranks::RanksOf;
use crate::engine::object::chare::Chare;
use crate::engine::object::cx::Cx;
use crate::remote::{self, MigrationMessage, out};
use crate::state::{Explain, Feature, LocalState, SharedState};

/// The worker that begins batches.
const COORDINATOR: usize = 0;

/// The batch that is under way in a system, if any.
#[derive(Default)]
pub(crate) struct Moves(Mutex<Option<Arc<Batch>>>);

impl fmt::Debug for Moves {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Moves").finish_non_exhaustive()
    }
}

impl Explain for Moves {}

impl SharedState for Moves {
    const FEATURE: Feature = Feature::Migration;
}

impl Moves {
    fn under_way(&self) -> impl std::ops::DerefMut<Target = Option<Arc<Batch>>> {
        self.0.lock().expect("nothing panics under this lock")
    }
}

/// The state of the coordinator. Other workers use only `marker_count`.
#[derive(Default)]
pub(crate) struct Coordinator {
    /// The number of senders that have entered the epoch; on each worker that elements leave.
    marker_count: usize,
    /// The moves of the next batch, by array.
    requested: BTreeMap<u32, Requests>,
    /// Calls to make when the next batch is complete.
    when_made: Vec<Request>,
    /// The number of elements of the batch under way that have not arrived yet.
    awaited: usize,
    /// The calls to make when the batch under way is complete.
    when_arrived: Vec<Request>,
    /// Additional state of the first of several nodes.
    main: Main,
}

impl LocalState for Coordinator {
    const FEATURE: Feature = Feature::Migration;
}

/// The requested moves of elements of one array.
struct Requests {
    of: Box<dyn Mover>,
    moves: Vec<(Number, Site)>,
}

/// Moves that are made together.
pub(crate) struct Batch {
    epoch: u32,
    /// The workers that elements leave.
    sources: Vec<usize>,
    /// The other nodes with workers that elements leave.
    nodes: Vec<u16>,
    groups: Vec<MovesOf>,
}

/// The moves of elements of one array.
struct MovesOf {
    collection: u32,
    of: Box<dyn Mover>,
    moves: Vec<Move>,
}

/// Migration of chares of type `T`.
struct MoverOf<T>(PhantomData<fn() -> T>);

/// Creates the type-erased [`Mover`].
pub(crate) fn mover<T: Chare>() -> Box<dyn Mover> {
    Box::new(MoverOf::<T>(PhantomData))
}

impl<T: Chare> Cx<T> {
    /// Requests the move of this element to another worker. Messages that are under way reach it
    /// there.
    ///
    /// If migrations to several workers are requested, the element goes to the last one. Elements
    /// that are to move at about the same time move together, and each of them takes about 1 µs.
    ///
    /// In an array over nodes, the workers of all nodes are numbered consecutively, starting with
    /// those of the first node. An element that goes to another node is serialised as
    /// `#[chare(nodes, state)]` describes. It leaves when none of its `async` entries is under way,
    /// and gets no messages until it has arrived. An element that cannot be serialised, or has not
    /// received all messages that it waits for, stays, and the program fails.
    ///
    /// # Panics
    /// If there is no such worker, for an element of a group or a node group, and for a move to
    /// another node without `#[chare(nodes, state)]`.
    pub fn migrate_to(&self, worker: usize) {
        let one = self.one();
        let stays = self.with_collection(|collection| collection.stays());
        assert!(!stays, "elements of a group stay where they are");
        let is_wide = self.with_collection(|collection| collection.wide().is_some());
        self.with_system(|system| {
            if is_wide {
                return crossing::migrate_over_nodes(system, one, worker);
            }
            system.check_worker(worker);
            wide::at_coordinator(system, move |local| {
                request::<T>(local, one.collection, [(one.number, worker)], None);
            });
        });
    }
}

impl Batch {
    fn new(epoch: u32, groups: Vec<MovesOf>, nodes: Vec<u16>) -> Self {
        let moves = groups.iter().flat_map(|group| &group.moves);
        let mut sources: Vec<_> = moves.filter_map(Move::source).collect();
        sources.sort_unstable();
        sources.dedup();
        Self {
            epoch,
            sources,
            nodes,
            groups,
        }
    }

    /// Returns the number of elements that leave workers of this node.
    fn count(&self) -> usize {
        let moves = self.groups.iter().flat_map(|group| &group.moves);
        moves.filter_map(Move::source).count()
    }
}

/// Moves each element to the worker beside its number, then calls `done` on some worker.
pub(crate) fn migrate<T: Chare>(
    local: &Local,
    collection: u32,
    moves: Vec<(Number, usize)>,
    done: impl FnOnce(&Local) + Send + 'static,
) {
    local.post(COORDINATOR, move |local| {
        request::<T>(local, collection, moves, Some(Box::new(done)));
    });
}

/// Adds moves to the next batch. Runs on the coordinator.
fn request<T: Chare>(
    local: &Local,
    collection: u32,
    moves: impl IntoIterator<Item = (Number, usize)>,
    done: Option<Request>,
) {
    // The moves of an array over nodes are decided by the first node.
    let number = Part::<T>::of(local, collection).collection().wide();
    if let (Some(number), Some(away)) = (number, remote::away(local.system())) {
        let me = away.me;
        let request_moves = |(number, to): (Number, usize)| (number.bits(), me, to as u16);
        let requests = moves.into_iter().map(request_moves).collect();
        return wide::request_moves(local, number, requests, false, done);
    }
    let moves = moves.into_iter();
    let moves = moves.map(|(number, to)| (number, Site::Worker(to)));
    let mut coordinator = local.state::<Coordinator>().borrow_mut();
    let requested = coordinator
        .requested
        .entry(collection)
        .or_insert_with(|| Requests {
            of: mover::<T>(),
            moves: Vec::new(),
        });
    requested.moves.extend(moves);
    coordinator.when_made.extend(done);
    drop(coordinator);
    // With several nodes, the first node begins all batches, also those within a node.
    match remote::away(local.system()) {
        None => begin_next(local),
        Some(_) => {
            out::send_migration_message(local.system(), 0, MigrationMessage::RequestMovesWithin)
        }
    }
}

/// Begins the next batch that moves any element, unless one is under way. Runs on the coordinator.
fn begin_next(local: &Local) {
    loop {
        let mut coordinator = local.state::<Coordinator>().borrow_mut();
        if coordinator.awaited > 0 || coordinator.requested.is_empty() {
            return;
        }
        let requested = mem::take(&mut coordinator.requested);
        let when_made = mem::take(&mut coordinator.when_made);
        drop(coordinator);
        // Write the routes. If no element has to move any more, try the requests that arrived
        // meanwhile.
        let epoch = local.epoch() + 1;
        let requested = requested.into_iter();
        let groups = groups(
            local,
            epoch,
            requested.map(|(of, requested)| (of, requested.of, requested.moves)),
        );
        if groups.is_empty() {
            call_all(local, when_made);
        } else {
            begin_batch(local, epoch, groups, when_made);
        }
    }
}

/// Writes the routes of the elements that are to move. Returns their moves, by array.
fn groups(
    local: &Local,
    epoch: u32,
    requested: impl Iterator<Item = (u32, Box<dyn Mover>, Vec<(Number, Site)>)>,
) -> Vec<MovesOf> {
    let groups = requested.map(|(collection, of, moves)| MovesOf {
        collection,
        moves: of.begin(local, collection, epoch, moves),
        of,
    });
    groups.filter(|group| !group.moves.is_empty()).collect()
}

fn call_all(local: &Local, requests: Vec<Request>) {
    for request in requests {
        local.guard(|| request(local));
    }
}

fn begin_batch(local: &Local, epoch: u32, groups: Vec<MovesOf>, when_arrived: Vec<Request>) {
    let batch = Arc::new(Batch::new(epoch, groups, Vec::new()));
    let mut coordinator = local.state::<Coordinator>().borrow_mut();
    coordinator.awaited = batch.count();
    coordinator.when_arrived = when_arrived;
    drop(coordinator);
    *local.system().shared::<Moves>().under_way() = Some(Arc::clone(&batch));
    // The outside threads are one sender: they enter the epoch, and their marker is sent, under
    // their lock.
    let mut outside = local.system().outside();
    outside.epoch = epoch;
    for &source in &batch.sources {
        any_thread::post_outside(local.system(), source, Box::new(take_marker));
    }
    drop(outside);
    for worker in 0..local.system().worker_count() {
        local.post(worker, move |local| enter_epoch(local, epoch));
    }
}

fn batch_under_way(local: &Local) -> Arc<Batch> {
    let batch = local.system().shared::<Moves>().under_way().clone();
    batch.expect("a batch is under way until all have come")
}

/// Enters an epoch as a sender, unless this worker has entered it already.
pub(crate) fn enter_epoch(local: &Local, epoch: u32) {
    if local.epoch() >= epoch {
        return;
    }
    let batch = batch_under_way(local);
    debug_assert_eq!(batch.epoch, epoch);
    local.set_epoch(epoch);
    for MovesOf {
        collection,
        of,
        moves,
    } in &batch.groups
    {
        of.enter_epoch(local, *collection, epoch, moves);
    }
    for &source in &batch.sources {
        local.post(source, take_marker);
    }
    for &node in &batch.nodes {
        out::send_migration_message(local.system(), node, MigrationMessage::Marker { epoch });
    }
}

/// Counts a sender that has entered the epoch: it sends nothing more by the old routes to the
/// elements that leave this worker. When all senders have, the elements are sent to their new
/// workers. One of the senders is this worker itself.
fn take_marker(local: &Local) {
    let mut coordinator = local.state::<Coordinator>().borrow_mut();
    coordinator.marker_count += 1;
    let has_all = coordinator.marker_count == wide::marker_count(local.system());
    if has_all {
        coordinator.marker_count = 0;
    }
    drop(coordinator);
    if has_all {
        arrivals::send_elements(local, &batch_under_way(local));
    }
}

/// Counts elements that have arrived, or had ended before. Ends the batch after the last one. Runs
/// on the coordinator.
fn arrived(local: &Local, count: usize) {
    let mut coordinator = local.state::<Coordinator>().borrow_mut();
    coordinator.awaited -= count;
    if coordinator.awaited > 0 {
        return;
    }
    drop(coordinator);
    end_batch(local);
    begin_next(local);
}

/// Ends the batch after all its elements have arrived.
pub(crate) fn end_batch(local: &Local) {
    let when_arrived = mem::take(&mut local.state::<Coordinator>().borrow_mut().when_arrived);
    for MovesOf {
        collection,
        of,
        moves,
    } in &batch_under_way(local).groups
    {
        of.end(local, *collection, moves);
    }
    *local.system().shared::<Moves>().under_way() = None;
    call_all(local, when_arrived);
}

impl<T: Chare> Mover for MoverOf<T> {
    fn begin(
        &self,
        local: &Local,
        collection: u32,
        epoch: u32,
        mut requested: Vec<(Number, Site)>,
    ) -> Vec<Move> {
        // Of several moves of an element, keep the last: the sort is stable.
        requested.sort_by_key(|one| one.0);
        requested.dedup_by(|later, kept| {
            let is_same = later.0 == kept.0;
            if is_same {
                kept.1 = later.1;
            }
            is_same
        });
        let part = Part::<T>::of(local, collection);
        let directory = part.collection().directory();
        let sections = part.collection().sections().lock();
        let begin = |(number, to): (Number, Site)| {
            let place = directory.place(number);
            let route = place.route();
            let (_, from) = route.sites()?;
            if route.generation() != number.generation() {
                return None;
            }
            let moving = Route::moving(number.generation(), epoch, from, to);
            let moves = from != to && place.change_route(route, moving);
            moves.then(|| {
                if let Site::Worker(to) = to {
                    sections.will_come(number, to);
                }
                Move { number, from, to }
            })
        };
        requested.into_iter().filter_map(begin).collect()
    }

    fn enter_epoch(&self, local: &Local, collection: u32, epoch: u32, moves: &[Move]) {
        let part = Part::<T>::of(local, collection);
        for one in moves {
            if one.from == Site::Worker(local.worker()) {
                part.presence().set_leaving(one.number, epoch);
            } else if one.to == Site::Worker(local.worker()) {
                part.presence().set_arriving(one.number, epoch);
            }
        }
    }

    fn leaving(&self, local: &Local, collection: u32, moves: &[Move]) -> Vec<Move> {
        arrivals::leaving::<T>(local, collection, moves)
    }

    fn take(
        &self,
        local: &Local,
        collection: u32,
        leaving: &[Move],
        ranked: &mut RanksOf,
    ) -> Vec<(usize, Request)> {
        arrivals::remove_elements::<T>(local, &Part::of(local, collection), leaving, ranked)
    }

    fn end(&self, local: &Local, collection: u32, moves: &[Move]) {
        let part = Part::<T>::of(local, collection);
        let sections = part.collection().sections().lock();
        for &Move { number, from, to } in moves {
            let place = part.collection().directory().place(number);
            let route = place.route();
            if route.sites().is_some() && route.generation() == number.generation() {
                // If the element ends at this moment, it has no route to change.
                let _ = place.change_route(route, Route::at(number.generation(), to));
                if let Site::Worker(from) = from {
                    sections.has_left(number, from);
                }
            }
        }
    }
}
