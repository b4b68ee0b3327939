//! Moving elements between workers while messages for them are under way: none is lost, none comes twice, and the order of each sender stays.
//!
//! Moves are made in batches, one after the other; worker 0 begins each. A batch has a number, its *epoch*. All workers, and the threads outside
//! as one more sender, go over to the epoch one by one, and send by the new places from then on:
//!
//! ```text
//! worker 0     writes old and new worker into the routes, then tells everybody to go over
//! each sender  goes over, and sends a marker to each worker that elements leave: it is the last that comes by the old routes
//! old worker   goes on with the elements that leave; when all markers are there, sends them to their new workers
//! new worker   keeps what comes for an element, until that is there
//! worker 0     when all have come: makes the new worker the old one too, and begins the next batch
//! ```
//!
//! An element sends from its new worker after it has sent from its old one: [`departures`] see to the order of that.
//!
//! What is sent to all carries its sender's epoch: an element counts as being where that epoch says. So it is skipped at its old worker by what was
//! sent in the new epoch, and at its new worker by what was sent before.
//! # Invariants
//! 1. At most one batch is under way: a route whose old and new workers differ is of this batch, and each sender is in its epoch or in the
//!    one before.
//! 2. All that a sender sent by the old route arrives before his marker, since mailboxes keep the order of each sender. Those of the
//!    threads outside are in one order, since they send under a lock; worker 0 sends their marker as one of them.

mod departures;

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use raddle_sync::prim::Mutex;

pub(crate) use departures::Departures;

use crate::cx::Cx;
use crate::directory::Route;
use crate::entry::Chare;
use crate::local::Local;
use crate::number::Number;
use crate::part::Part;

/// The worker that begins batches.
const COORDINATOR: usize = 0;

/// What is done at the coordinator.
pub(crate) type Request = Box<dyn FnOnce(&Local) + Send>;

/// The moves of a system.
#[derive(Default)]
pub(crate) struct Moves(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    under_way: Option<Arc<dyn Batch>>,
    waiting: VecDeque<Request>,
}

impl fmt::Debug for Moves {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Moves").finish_non_exhaustive()
    }
}

impl Moves {
    fn queue(&self) -> impl std::ops::DerefMut<Target = Queue> {
        self.0.lock().expect("nothing panics under this lock")
    }
}

/// A batch, whatever its elements are.
trait Batch: Send + Sync {
    fn epoch(&self) -> u32;
    /// The workers that elements leave.
    fn sources(&self) -> &[usize];
    /// This worker goes over.
    fn go_over(&self, local: &Local);
    /// Sends what leaves this worker.
    fn ship(&self, local: &Local);
}

/// Where elements of one array go.
struct MovesOf<T: Chare> {
    epoch: u32,
    collection: u32,
    sources: Vec<usize>,
    moves: Vec<Move>,
    of: std::marker::PhantomData<fn() -> T>,
}

#[derive(Clone, Copy, Debug)]
struct Move {
    number: Number,
    from: usize,
    to: usize,
}

impl<T: Chare> Cx<T> {
    /// Moves this element to another worker, soon. Messages that are under way find it.
    ///
    /// # Panics
    /// When there is no such worker, and for an element of a group or a node group.
    pub fn migrate_to(&self, worker: usize) {
        let one = self.one();
        self.with_part(|local, part| {
            local.system.check_worker(worker);
            assert!(
                !part.collection.stays,
                "elements of a group stay where they are"
            );
            local.migrate::<T>(one.collection, vec![(one.number, worker)], |_| {});
        });
    }
}

impl Local {
    /// Moves elements to the workers beside their numbers, then calls `done` on some worker.
    pub(crate) fn migrate<T: Chare>(
        &self,
        collection: u32,
        moves: Vec<(Number, usize)>,
        done: impl FnOnce(&Local) + Send + 'static,
    ) {
        self.post(COORDINATOR, move |local| {
            let request =
                move |local: &Local| local.begin_batch::<T>(collection, moves, Box::new(done));
            let mut queue = local.system.moves.queue();
            queue.waiting.push_back(Box::new(request));
            if queue.under_way.is_none() {
                drop(queue);
                local.begin_next();
            }
        });
    }

    /// Begins the next batch that is wanted, at the coordinator.
    fn begin_next(&self) {
        let next = self.system.moves.queue().waiting.pop_front();
        if let Some(next) = next {
            next(self);
        }
    }

    fn begin_batch<T: Chare>(&self, collection: u32, wanted: Vec<(Number, usize)>, done: Request) {
        let epoch = self.epoch.get() + 1;
        let part = self.part::<T>(collection);
        let mut moves = Vec::new();
        for (number, to) in wanted {
            let place = part.collection.directory.place(number);
            let route = place.route();
            let Some(from) = place.worker_of(number, self.epoch.get()) else {
                continue;
            };
            let moving = Route::moving(number.generation(), epoch, from, to);
            if from != to && place.change_route(route, moving) {
                moves.push(Move { number, from, to });
            }
        }
        if moves.is_empty() {
            done(self);
            return self.begin_next();
        }
        let mut sources: Vec<_> = moves.iter().map(|one| one.from).collect();
        sources.sort_unstable();
        sources.dedup();
        self.awaited.set(moves.len());
        self.when_moved.set(Some(done));
        let batch = Arc::new(MovesOf::<T> {
            epoch,
            collection,
            sources,
            moves,
            of: std::marker::PhantomData,
        });
        self.system.moves.queue().under_way = Some(Arc::clone(&batch) as Arc<dyn Batch>);
        let mut outside = self.system.outside();
        outside.epoch = epoch;
        for &source in &batch.sources {
            self.system
                .post_outside(source, move |local| local.take_marker(epoch));
        }
        drop(outside);
        for worker in 0..self.system.worker_count() {
            self.post(worker, move |local| local.go_over(epoch));
        }
    }

    /// Goes over to an epoch, unless that has been done.
    pub(crate) fn go_over(&self, epoch: u32) {
        if self.epoch.get() >= epoch {
            return;
        }
        let batch = self.system.moves.queue().under_way.clone();
        let batch = batch.expect("a batch is under way until all have gone over");
        debug_assert_eq!(batch.epoch(), epoch);
        self.epoch.set(epoch);
        batch.go_over(self);
        for &source in batch.sources() {
            self.post(source, move |local| local.take_marker(epoch));
        }
    }

    /// A sender has gone over: no more comes from it for what leaves.
    fn take_marker(&self, epoch: u32) {
        self.go_over(epoch);
        self.markers.set(self.markers.get() + 1);
        if self.markers.get() == self.system.worker_count() + 1 {
            self.markers.set(0);
            let batch = self.system.moves.queue().under_way.clone();
            batch
                .expect("a batch is under way until all have come")
                .ship(self);
            self.let_go();
        }
    }

    /// Has an element depart to its new worker.
    fn ship<T: Chare>(&self, part: &Part<T>, number: Number, to: usize) {
        let collection = part.collection.id;
        part.leaving.borrow_mut().remove(&number);
        let epoch = self.epoch.get();
        let Some(slot) = part.take(number) else {
            self.depart(to, move |local| {
                let part = local.part::<T>(collection);
                part.fail_early(local, number);
                local.has_come::<T>(collection, number);
            });
            return;
        };
        let rounds = slot.next_rounds();
        let gathered = part.take_gathered(number);
        let urgent = self.take_ranked((collection, number));
        self.leaves(part, number, &rounds);
        self.depart(to, move |local| {
            let part = local.part::<T>(collection);
            // Who sent it has gone over, and so does who gets it.
            local.go_over(epoch);
            local.comes(&part, number, &rounds);
            part.put_gathered(gathered);
            part.settle(local, slot, epoch, urgent);
            local.has_come::<T>(collection, number);
        });
    }

    /// An element has come, or has ended before.
    fn has_come<T: Chare>(&self, collection: u32, number: Number) {
        self.post(COORDINATOR, move |local| {
            let part = local.part::<T>(collection);
            let place = part.collection.directory.place(number);
            let route = place.route();
            if let Some(worker) = place.worker_of(number, local.epoch.get()) {
                // Should it end at this moment, it has no route to change.
                let _ = place.change_route(route, Route::placed(number.generation(), worker));
            }
            local.awaited.set(local.awaited.get() - 1);
            if local.awaited.get() == 0 {
                local.system.moves.queue().under_way = None;
                let done = local.when_moved.take().expect("somebody wanted the batch");
                done(local);
                local.begin_next();
            }
        });
    }

    /// Sends an element on that was made here, or could not be made, after the markers for it had come.
    #[cold]
    pub(crate) fn ship_late<T: Chare>(&self, part: &Part<T>, number: Number) {
        let late = part.late.borrow_mut().remove(&number);
        if let Some(to) = late {
            self.ship(part, number, to);
            self.let_go();
        }
    }
}

impl<T: Chare> Batch for MovesOf<T> {
    fn epoch(&self) -> u32 {
        self.epoch
    }

    fn sources(&self) -> &[usize] {
        &self.sources
    }

    fn go_over(&self, local: &Local) {
        let part = local.part::<T>(self.collection);
        for one in &self.moves {
            if one.from == local.worker {
                part.leaving.borrow_mut().insert(one.number, self.epoch);
            } else if one.to == local.worker {
                part.expected.borrow_mut().insert(one.number, self.epoch);
            }
        }
    }

    fn ship(&self, local: &Local) {
        let part = local.part::<T>(self.collection);
        for one in self.moves.iter().filter(|one| one.from == local.worker) {
            let is_late = !part.has(one.number) && part.collection.has(one.number);
            if is_late {
                part.late.borrow_mut().insert(one.number, one.to);
            } else {
                local.ship(&part, one.number, one.to);
            }
        }
    }
}
