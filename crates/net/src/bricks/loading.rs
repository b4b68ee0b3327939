//! The bricks that are on their way to this node.
//!
//! One thread, the *leader*, loads a brick. A thread that needs the same brick meanwhile waits with
//! it. Such a thread waits for the key: it gets the brick itself, pinned, so that nothing can
//! replace it before the thread has seen it.
//!
//! # Invariants
//! 1. A brick has at most one entry, from [`Loading::begin`] to [`Loading::end`]. An entry and the
//!    line of its brick change under the lock of the shard, so a thread finds the line, or the
//!    entry, or becomes the leader.
//! 2. A thread registers at an entry under the lock under which the entry is removed. So each
//!    registered thread gets the outcome.
//! 3. A leader that gives up, because of a panic for example, ends its entry. The threads that wait
//!    begin again, and one of them becomes the leader.

use std::sync::{Arc, OnceLock};

use raddle_sync::CachePadded;
use raddle_sync::lines::{Pin, Refill, SharedPin};
use raddle_sync::prim::Mutex;
use raddle_sync::wait::{SpinBudget, WaitCell, Way};

use super::cache::{Bytes, Cache};
use super::error::BrickError;

/// The entries of all bricks that are on their way.
#[derive(Debug)]
pub(super) struct Loading {
    shards: Box<[CachePadded<Mutex<Vec<Entry>>>]>,
}

/// A brick that is on its way.
#[derive(Debug)]
struct Entry {
    key: u64,
    /// The home of the brick, as an index into the list of homes.
    home: usize,
    /// The place that a server fills. `None` if the leader fills it.
    target: Option<Target>,
    /// The threads that wait, if there are any.
    crowd: Option<Arc<Crowd>>,
}

/// The place into which a brick is loaded.
#[derive(Debug)]
struct Target {
    place: Place,
    /// The number of bytes that have arrived, if they arrive in parts.
    filled: usize,
}

#[derive(Debug)]
enum Place {
    Line(Refill<Bytes>),
    /// Memory of its own, because no line was free.
    Alone(Bytes),
}

/// A brick that has arrived, pinned.
#[derive(Debug)]
pub(super) enum Held {
    Line(SharedPin<Bytes>),
    Alone(Bytes),
    /// It is shared by the threads that have waited for it together.
    Shared(Arc<Crowd>),
}

/// The threads that wait for one brick.
#[derive(Debug, Default)]
pub(super) struct Crowd {
    /// The outcome: the brick, an error, or `None` if the leader has given up.
    outcome: OnceLock<Option<Result<Held, BrickError>>>,
    cells: Mutex<Vec<Arc<WaitCell>>>,
}

/// The role of a thread that needs a brick.
#[derive(Debug)]
pub(super) enum Begun<'a> {
    /// The brick has just arrived.
    Hit(Pin<'a, Bytes>),
    /// The thread loads the brick.
    Lead(Lead<'a>),
    /// The thread waits with others.
    Join(Arc<Crowd>),
}

/// The duty to load a brick. If it is dropped, the entry ends without an outcome.
#[derive(Debug)]
pub(super) struct Lead<'a> {
    loading: &'a Loading,
    cache: &'a Cache,
    key: u64,
    target: Option<Target>,
}

impl Target {
    const fn new(place: Place) -> Self {
        Self { place, filled: 0 }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.place {
            Place::Line(refill) => refill.value_mut(),
            Place::Alone(bytes) => bytes,
        }
    }

    /// Writes the next part of the brick. Returns true if the brick is complete.
    ///
    /// A part that does not follow the last one belongs to an answer to an earlier request, and is
    /// ignored.
    fn add_part(&mut self, at: usize, part: &[u8]) -> bool {
        if at == 0 {
            self.filled = 0;
        }
        let (filled, bytes) = (self.filled, self.bytes_mut());
        let len = bytes.len();
        match bytes.get_mut(at..at + part.len()) {
            Some(place) if at == filled => place.copy_from_slice(part),
            _ => return false,
        }
        self.filled += part.len();
        self.filled == len
    }
}

impl Held {
    /// Returns the bytes of the brick.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Line(pin) => pin,
            Self::Alone(bytes) => bytes,
            Self::Shared(crowd) => crowd.bytes(),
        }
    }
}

impl Crowd {
    /// Returns the bytes of the brick that the threads have waited for, or none if it did not
    /// arrive.
    fn bytes(&self) -> &[u8] {
        match self.outcome.get() {
            Some(Some(Ok(held))) => held.bytes(),
            _ => &[],
        }
    }

    /// Waits for the outcome in a cell that is registered. Returns `None` if the leader has given
    /// up.
    ///
    /// # Errors
    /// The error of the leader.
    pub(super) fn wait(
        self: Arc<Self>,
        cell: &WaitCell,
        budget: &mut SpinBudget,
    ) -> Result<Option<Held>, BrickError> {
        budget.wait_until(cell, Way::Auto, || self.outcome.get().is_some());
        match self.outcome.get() {
            Some(Some(Ok(_))) => Ok(Some(Held::Shared(self))),
            Some(Some(Err(error))) => Err(error.clone()),
            Some(None) | None => Ok(None),
        }
    }

    /// Sets the outcome, and wakes the threads.
    fn finish(&self, outcome: Option<Result<Held, BrickError>>) {
        let set = self.outcome.set(outcome);
        debug_assert!(set.is_ok(), "an entry ends once");
        let cells = self.cells.lock().expect("nothing panics under this lock");
        for cell in cells.iter() {
            let _ = cell.ring();
        }
    }
}

impl Loading {
    pub(super) fn new(shard_count: usize) -> Self {
        Self {
            shards: (0..shard_count).map(|_| CachePadded::default()).collect(),
        }
    }

    fn shard(&self, index: usize) -> impl std::ops::DerefMut<Target = Vec<Entry>> + '_ {
        let shard = self.shards[index].lock();
        shard.expect("nothing panics under this lock")
    }

    /// Finds a brick in the cache or on its way, or begins to load it. A thread that joins others
    /// waits in `cell`.
    pub(super) fn begin<'a>(
        &'a self,
        cache: &'a Cache,
        key: u64,
        home: usize,
        cell: &Arc<WaitCell>,
        brick_bytes: usize,
    ) -> Begun<'a> {
        let mut shard = self.shard(cache.shard_of(key));
        if let Some(pin) = cache.pin_locked(key) {
            return Begun::Hit(pin);
        }
        if let Some(entry) = shard.iter_mut().find(|entry| entry.key == key) {
            return Begun::Join(entry.join(cell));
        }
        let target = match cache.refill(key) {
            Some(refill) => Place::Line(refill),
            None => Place::Alone(vec![0; brick_bytes].into()),
        };
        shard.push(Entry {
            key,
            home,
            target: None,
            crowd: None,
        });
        Begun::Lead(Lead {
            loading: self,
            cache,
            key,
            target: Some(Target::new(target)),
        })
    }

    /// Returns true if a brick is on its way.
    pub(super) fn has(&self, cache: &Cache, key: u64) -> bool {
        let shard = self.shard(cache.shard_of(key));
        shard.iter().any(|entry| entry.key == key)
    }

    /// Ends the entry of a brick: with the brick, with an error, or without an outcome. Returns the
    /// brick if it has arrived.
    fn end(
        &self,
        cache: &Cache,
        key: u64,
        outcome: Option<Result<Target, BrickError>>,
    ) -> Option<Held> {
        let mut shard = self.shard(cache.shard_of(key));
        let found = shard.iter().position(|entry| entry.key == key);
        let crowd = found.and_then(|index| shard.swap_remove(index).crowd);
        let outcome = outcome.map(|outcome| {
            outcome.map(|target| match target.place {
                Place::Line(refill) => Held::Line(cache.publish(refill, key)),
                Place::Alone(bytes) => Held::Alone(bytes),
            })
        });
        drop(shard);
        match (crowd, outcome) {
            (None, Some(Ok(held))) => Some(held),
            (None, _) => None,
            (Some(crowd), outcome) => {
                let has_arrived = matches!(outcome, Some(Ok(_)));
                crowd.finish(outcome);
                has_arrived.then_some(Held::Shared(crowd))
            }
        }
    }

    /// Writes a part of a brick that a server has received. Returns true if the brick is complete.
    pub(super) fn add_part(&self, cache: &Cache, key: u64, at: usize, part: &[u8]) -> bool {
        let mut shard = self.shard(cache.shard_of(key));
        let entry = shard.iter_mut().find(|entry| entry.key == key);
        let target = entry.and_then(|entry| entry.target.as_mut());
        target.is_some_and(|target| target.add_part(at, part))
    }

    /// Ends the entry of a brick that a server fills.
    pub(super) fn finish(&self, cache: &Cache, key: u64, outcome: Result<(), BrickError>) {
        let target = {
            let mut shard = self.shard(cache.shard_of(key));
            let entry = shard.iter_mut().find(|entry| entry.key == key);
            entry.and_then(|entry| entry.target.take())
        };
        if let Some(target) = target {
            self.end(cache, key, Some(outcome.map(|()| target)));
        }
    }

    /// Ends the entry of a brick that a server fills with an error, if these threads wait for it.
    /// Another entry of the same brick, which has begun since, is not affected.
    pub(super) fn fail_one(&self, cache: &Cache, key: u64, crowd: &Arc<Crowd>, error: BrickError) {
        let target = {
            let mut shard = self.shard(cache.shard_of(key));
            let is_it = |entry: &&mut Entry| {
                let waiting = entry.crowd.as_ref();
                entry.key == key && waiting.is_some_and(|it| Arc::ptr_eq(it, crowd))
            };
            let entry = shard.iter_mut().find(is_it);
            entry.and_then(|entry| entry.target.take())
        };
        if let Some(target) = target {
            drop(target);
            self.end(cache, key, Some(Err(error)));
        }
    }

    /// Ends the entries of bricks that a server fills and that come from a home, or from any.
    pub(super) fn fail(
        &self,
        cache: &Cache,
        home: Option<usize>,
        error_of: impl Fn(u64) -> BrickError,
    ) {
        for index in 0..self.shards.len() {
            let keys: Vec<u64> = {
                let shard = self.shard(index);
                let lost = shard.iter().filter(|entry| {
                    entry.target.is_some() && home.is_none_or(|it| it == entry.home)
                });
                lost.map(|entry| entry.key).collect()
            };
            for key in keys {
                self.finish(cache, key, Err(error_of(key)));
            }
        }
    }
}

impl Entry {
    /// Registers a thread, and returns the threads that wait.
    fn join(&mut self, cell: &Arc<WaitCell>) -> Arc<Crowd> {
        let crowd = self.crowd.get_or_insert_default();
        let mut cells = crowd.cells.lock().expect("nothing panics under this lock");
        cells.push(Arc::clone(cell));
        drop(cells);
        Arc::clone(crowd)
    }
}

impl Lead<'_> {
    /// Returns the key of the brick.
    pub(super) const fn key(&self) -> u64 {
        self.key
    }

    /// Returns the bytes to be filled.
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        self.target.as_mut().map_or(&mut [], Target::bytes_mut)
    }

    /// Writes the next part of the brick. Returns true if the brick is complete.
    pub(super) fn add_part(&mut self, at: usize, part: &[u8]) -> bool {
        let target = self.target.as_mut();
        target.is_some_and(|target| target.add_part(at, part))
    }

    /// Returns true if the brick goes into memory of its own.
    pub(super) fn is_alone(&self) -> bool {
        let place = self.target.as_ref().map(|target| &target.place);
        matches!(place, Some(Place::Alone(_)))
    }

    /// Ends the load. The bytes have been filled if there is no error.
    ///
    /// # Errors
    /// The given one.
    pub(super) fn end(mut self, outcome: Result<(), BrickError>) -> Result<Held, BrickError> {
        let target = self.target.take().expect("a load ends once");
        match outcome {
            Ok(()) => {
                let held = self.loading.end(self.cache, self.key, Some(Ok(target)));
                Ok(held.expect("the brick has arrived"))
            }
            Err(error) => {
                let outcome = Some(Err(error.clone()));
                self.loading.end(self.cache, self.key, outcome);
                Err(error)
            }
        }
    }

    /// Leaves the load to a server of this node, and waits with the others, in `cell`.
    pub(super) fn leave_to_server(mut self, cell: &Arc<WaitCell>) -> Arc<Crowd> {
        let mut shard = self.loading.shard(self.cache.shard_of(self.key));
        let entry = shard.iter_mut().find(|entry| entry.key == self.key);
        let entry = entry.expect("the entry of a leader exists");
        entry.target = self.target.take();
        entry.join(cell)
    }
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        if let Some(target) = self.target.take() {
            // The line is empty before another thread can begin.
            drop(target);
            self.loading.end(self.cache, self.key, None);
        }
    }
}
