//! Moving elements between workers while messages for them are under way: none is lost, none comes twice, and the order of each sender stays.
//!
//! Moves are made in batches, one after the other; worker 0 begins each, with all that is wanted by then: of several moves of one element, the
//! last. A batch has a number, its *epoch*. All workers, and the threads outside as one more sender, go over to the epoch one by one, and send by
//! the new places from then on:
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

mod arrivals;
mod departures;

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::sync::Arc;

use raddle_sync::prim::Mutex;

pub(crate) use departures::Departures;

use crate::cx::Cx;
use crate::directory::Route;
use crate::entry::Chare;
use crate::local::Local;
use crate::number::Number;
use crate::priority::RanksOf;

/// The worker that begins batches.
const COORDINATOR: usize = 0;

/// What is done on some worker.
pub(crate) type Request = Box<dyn FnOnce(&Local) + Send>;

/// The batch of a system that is under way.
#[derive(Default)]
pub(crate) struct Moves(Mutex<Option<Arc<Batch>>>);

impl fmt::Debug for Moves {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Moves").finish_non_exhaustive()
    }
}

impl Moves {
    fn under_way(&self) -> impl std::ops::DerefMut<Target = Option<Arc<Batch>>> {
        self.0.lock().expect("nothing panics under this lock")
    }
}

/// What the coordinator knows.
#[derive(Default)]
pub(crate) struct Coordinator {
    /// What the next batch is made of, by array.
    wanted: BTreeMap<u32, Wanted>,
    /// What is done when that has been made.
    when_made: Vec<Request>,
    /// Elements of the batch under way that have not come yet, and what is done when they have.
    awaited: usize,
    when_come: Vec<Request>,
}

/// Elements of one array, and the workers to which they are to go.
struct Wanted {
    of: Box<dyn Journey>,
    moves: Vec<(Number, usize)>,
}

/// Moves that are made together.
pub(crate) struct Batch {
    epoch: u32,
    /// The workers that elements leave.
    sources: Vec<usize>,
    groups: Vec<MovesOf>,
}

/// Where elements of one array go.
struct MovesOf {
    collection: u32,
    of: Box<dyn Journey>,
    moves: Vec<Move>,
}

#[derive(Clone, Copy, Debug)]
struct Move {
    number: Number,
    from: usize,
    to: usize,
}

/// What moving means for the elements of an array, whatever they are.
trait Journey: Send + Sync {
    /// Writes old and new worker into the routes of those that are elsewhere than they are to be.
    fn begin(
        &self,
        local: &Local,
        collection: u32,
        epoch: u32,
        wanted: Vec<(Number, usize)>,
    ) -> Vec<Move>;
    /// This worker goes over.
    fn go_over(&self, local: &Local, collection: u32, epoch: u32, moves: &[Move]);
    /// Those that are ready to leave this worker.
    fn leaving(&self, local: &Local, collection: u32, moves: &[Move]) -> Vec<Move>;
    /// Takes them from here; returns what their new workers do, each for all that come.
    fn take(
        &self,
        local: &Local,
        collection: u32,
        leaving: &[Move],
        ranked: &mut RanksOf,
    ) -> Vec<(usize, Request)>;
    /// Makes the new workers the old ones too.
    fn end(&self, local: &Local, collection: u32, moves: &[Move]);
}

/// The journeys of chares `T`.
struct JourneyOf<T>(PhantomData<fn() -> T>);

impl<T: Chare> Cx<T> {
    /// Moves this element to another worker, soon. Messages that are under way find it.
    ///
    /// Who is called to several workers goes to the last one. All that want to move at about the same time move together: some 1 µs each.
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
            local.post(COORDINATOR, move |local| {
                local.want::<T>(one.collection, [(one.number, worker)], None);
            });
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
            local.want::<T>(collection, moves, Some(Box::new(done)));
        });
    }

    /// Notes at the coordinator what is to be moved.
    fn want<T: Chare>(
        &self,
        collection: u32,
        moves: impl IntoIterator<Item = (Number, usize)>,
        done: Option<Request>,
    ) {
        let mut coordinator = self.coordinator.borrow_mut();
        let wanted = coordinator
            .wanted
            .entry(collection)
            .or_insert_with(|| Wanted {
                of: Box::new(JourneyOf::<T>(PhantomData)),
                moves: Vec::new(),
            });
        wanted.moves.extend(moves);
        coordinator.when_made.extend(done);
        drop(coordinator);
        self.begin_next();
    }

    /// Begins the next batch that moves anything, at the coordinator, unless one is under way.
    fn begin_next(&self) {
        loop {
            let mut coordinator = self.coordinator.borrow_mut();
            if coordinator.awaited > 0 || coordinator.wanted.is_empty() {
                return;
            }
            let wanted = mem::take(&mut coordinator.wanted);
            let when_made = mem::take(&mut coordinator.when_made);
            drop(coordinator);
            let epoch = self.epoch.get() + 1;
            let groups = wanted
                .into_iter()
                .map(|(collection, Wanted { of, moves })| MovesOf {
                    collection,
                    moves: of.begin(self, collection, epoch, moves),
                    of,
                });
            let groups: Vec<_> = groups.filter(|group| !group.moves.is_empty()).collect();
            if groups.is_empty() {
                self.call_all(when_made);
            } else {
                self.begin_batch(epoch, groups, when_made);
            }
        }
    }

    fn call_all(&self, requests: Vec<Request>) {
        for request in requests {
            self.guard(|| request(self));
        }
    }

    fn begin_batch(&self, epoch: u32, groups: Vec<MovesOf>, when_come: Vec<Request>) {
        let moves = || groups.iter().flat_map(|group| &group.moves);
        let mut sources: Vec<_> = moves().map(|one| one.from).collect();
        sources.sort_unstable();
        sources.dedup();
        let mut coordinator = self.coordinator.borrow_mut();
        coordinator.awaited = moves().count();
        coordinator.when_come = when_come;
        drop(coordinator);
        let batch = Arc::new(Batch {
            epoch,
            sources,
            groups,
        });
        *self.system.moves.under_way() = Some(Arc::clone(&batch));
        let mut outside = self.system.outside();
        outside.epoch = epoch;
        for &source in &batch.sources {
            self.system
                .post_outside(source, Box::new(Local::take_marker));
        }
        drop(outside);
        for worker in 0..self.system.worker_count() {
            self.post(worker, move |local| local.go_over(epoch));
        }
    }

    fn batch_under_way(&self) -> Arc<Batch> {
        let batch = self.system.moves.under_way().clone();
        batch.expect("a batch is under way until all have come")
    }

    /// Goes over to an epoch, unless that has been done.
    pub(crate) fn go_over(&self, epoch: u32) {
        if self.epoch.get() >= epoch {
            return;
        }
        let batch = self.batch_under_way();
        debug_assert_eq!(batch.epoch, epoch);
        self.epoch.set(epoch);
        for MovesOf {
            collection,
            of,
            moves,
        } in &batch.groups
        {
            of.go_over(self, *collection, epoch, moves);
        }
        for &source in &batch.sources {
            self.post(source, move |local| local.take_marker());
        }
    }

    /// A sender has gone over: no more comes from it for what leaves. The last marker shows that this worker has gone over too.
    fn take_marker(&self) {
        self.markers.set(self.markers.get() + 1);
        if self.markers.get() == self.system.worker_count() + 1 {
            self.markers.set(0);
            self.ship(&self.batch_under_way());
        }
    }

    /// Elements have come, or had ended before. At the coordinator.
    fn have_come(&self, count: usize) {
        let mut coordinator = self.coordinator.borrow_mut();
        coordinator.awaited -= count;
        if coordinator.awaited > 0 {
            return;
        }
        let when_come = mem::take(&mut coordinator.when_come);
        drop(coordinator);
        for MovesOf {
            collection,
            of,
            moves,
        } in &self.batch_under_way().groups
        {
            of.end(self, *collection, moves);
        }
        *self.system.moves.under_way() = None;
        self.call_all(when_come);
        self.begin_next();
    }
}

impl<T: Chare> Journey for JourneyOf<T> {
    fn begin(
        &self,
        local: &Local,
        collection: u32,
        epoch: u32,
        mut wanted: Vec<(Number, usize)>,
    ) -> Vec<Move> {
        wanted.sort_by_key(|one| one.0);
        wanted.dedup_by(|later, kept| {
            let is_same = later.0 == kept.0;
            if is_same {
                kept.1 = later.1;
            }
            is_same
        });
        let part = local.part::<T>(collection);
        let directory = &part.collection.directory;
        let sections = part.collection.sections.lock();
        let begin = |(number, to): (Number, usize)| {
            let place = directory.place(number);
            let route = place.route();
            let from = place.worker_of(number, local.epoch.get())?;
            let moving = Route::moving(number.generation(), epoch, from, to);
            let moves = from != to && place.change_route(route, moving);
            moves.then(|| {
                sections.will_come(number, to);
                Move { number, from, to }
            })
        };
        wanted.into_iter().filter_map(begin).collect()
    }

    fn go_over(&self, local: &Local, collection: u32, epoch: u32, moves: &[Move]) {
        let part = local.part::<T>(collection);
        for one in moves {
            if one.from == local.worker {
                part.leaving.borrow_mut().insert(one.number, epoch);
            } else if one.to == local.worker {
                part.expected.borrow_mut().insert(one.number, epoch);
            }
        }
    }

    fn leaving(&self, local: &Local, collection: u32, moves: &[Move]) -> Vec<Move> {
        local.leaving::<T>(collection, moves)
    }

    fn take(
        &self,
        local: &Local,
        collection: u32,
        leaving: &[Move],
        ranked: &mut RanksOf,
    ) -> Vec<(usize, Request)> {
        local.take_off::<T>(&local.part(collection), leaving, ranked)
    }

    fn end(&self, local: &Local, collection: u32, moves: &[Move]) {
        let part = local.part::<T>(collection);
        let sections = part.collection.sections.lock();
        for &Move { number, from, to } in moves {
            let place = part.collection.directory.place(number);
            let route = place.route();
            if place.worker_of(number, local.epoch.get()).is_some() {
                // Should it end at this moment, it has no route to change.
                let _ = place.change_route(route, Route::placed(number.generation(), to));
                sections.has_left(number, from);
            }
        }
    }
}
