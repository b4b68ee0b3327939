//! The place of each element of a collection: 16 bytes for each, which all workers read.
//!
//! The elements of a dense array are in one table of fixed size. Other tables grow by segments,
//! each as large as all before it. So an entry never moves.
//!
//! # Memory ordering
//! A route only says where to send; nothing is read through it. A proxy comes, directly or
//! indirectly, from the code that made the element, so its holder never reads an older route. A
//! route that was changed meanwhile leads to the element's old place, where it can be found
//! ([`crate::engine::elements::part`], [`crate::migration`]). All accesses are relaxed.
//!
//! `worker` is read by the forks of an element's entry, on whatever worker they run. It was written
//! before the entry began, and the fork orders the two.
//! # Invariants
//! 1. While an element is placed, only the worker that has it writes `slot`. Only that worker
//!    trusts `slot`, after checking the slot itself. Before an inserted element is constructed, the
//!    array's root writes that its construction has been requested ([`REQUESTED`]).
//! 2. While an entry of an element runs, or its constructor, `worker` is the worker that runs it.
//! 3. A place that was vacated is used again with the next generation, and after the last one no
//!    more: two elements never have the same number.

use std::collections::VecDeque;
use std::sync::OnceLock;

use raddle_sync::CachePadded;
use raddle_sync::prim::{AtomicU32, AtomicU64, Mutex, Relaxed};

use crate::address::number::{LAST_GENERATION, Number};

/// The first segment has this many entries (as a power of two), and so has the second; each later
/// segment has twice as many as the one before.
const FIRST_BITS: u32 = if raddle_sync::prim::LIGHT { 2 } else { 5 };
const SEGMENT_COUNT: usize = (32 - FIRST_BITS + 1) as usize;

/// No slot: the element is not constructed yet, or has ended.
pub(crate) const NO_SLOT: u32 = u32::MAX;

/// No worker has had the element yet.
const NO_WORKER: u32 = u32::MAX;

/// No slot yet: a worker has been asked to construct the element.
pub(crate) const REQUESTED: u32 = u32::MAX - 1;

/// The location of an element according to its route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// No element has this number.
    Vacant,
    /// A seed, which waits for a worker to construct it. If `has_messages`, messages for the
    /// element wait at its home.
    Seed { has_messages: bool },
    /// On a worker, or on its way there.
    Placed,
    /// On another node, or on its way from node to node.
    Away,
}

/// The site of an element from the point of view of one node: a worker of that node, or another
/// node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Site {
    Worker(usize),
    Node(u16),
}

impl Site {
    const fn number(self) -> usize {
        match self {
            Self::Worker(worker) => worker,
            Self::Node(node) => node as usize,
        }
    }
}

/// The location of an element, packed into a word.
///
/// ```text
///   63   61 60          41 40     24 23     12 11      0
///  ┌───────┬──────────────┬─────────┬─────────┬─────────┐
///  │ state │  generation  │  epoch  │   old   │   new   │
///  └───────┴──────────────┴─────────┴─────────┴─────────┘
/// ```
/// Workers in epoch `epoch` send to worker `new`, others to `old`: see [`crate::migration`]. For an
/// element on another node, or moving between nodes, the state says which of the two is a worker
/// and which a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Route(u64);

impl Route {
    const WORKER_MASK: u64 = (1 << 12) - 1;
    const EPOCH_MASK: u64 = (1 << 17) - 1;

    const VACANT: u64 = 0;
    const SEED: u64 = 1;
    const SEED_WITH_MESSAGES: u64 = 2;
    const PLACED: u64 = 3;
    /// On another node, or moving from one other node to another.
    const AWAY: u64 = 4;
    /// Moving from a worker of this node to another node.
    const LEAVING: u64 = 5;
    /// Moving from another node to a worker of this node.
    const COMING: u64 = 6;

    fn pack(state: u64, generation: u32, epoch: u32, old: usize, new: usize) -> Self {
        debug_assert!(old <= 4095 && new <= 4095);
        let high = state << 20 | u64::from(generation);
        let high = high << 17 | (u64::from(epoch) & Self::EPOCH_MASK);
        Self((high << 12 | old as u64) << 12 | new as u64)
    }

    pub(crate) fn placed(generation: u32, on: usize) -> Self {
        Self::pack(Self::PLACED, generation, 0, on, on)
    }

    pub(crate) fn moving(generation: u32, epoch: u32, from: Site, to: Site) -> Self {
        let state = match (from, to) {
            (Site::Worker(_), Site::Worker(_)) => Self::PLACED,
            (Site::Worker(_), Site::Node(_)) => Self::LEAVING,
            (Site::Node(_), Site::Worker(_)) => Self::COMING,
            (Site::Node(_), Site::Node(_)) => Self::AWAY,
        };
        Self::pack(state, generation, epoch, from.number(), to.number())
    }

    /// Creates the route of an element that has arrived.
    pub(crate) fn at(generation: u32, site: Site) -> Self {
        Self::moving(generation, 0, site, site)
    }

    pub(crate) fn seed(generation: u32, has_messages: bool) -> Self {
        let state = if has_messages {
            Self::SEED_WITH_MESSAGES
        } else {
            Self::SEED
        };
        Self::pack(state, generation, 0, 0, 0)
    }

    pub(crate) fn away(generation: u32, node: u16) -> Self {
        Self::at(generation, Site::Node(node))
    }

    pub(crate) fn vacant(generation: u32) -> Self {
        Self::pack(Self::VACANT, generation, 0, 0, 0)
    }

    pub(crate) fn location(self) -> Location {
        match self.0 >> 61 {
            Self::VACANT => Location::Vacant,
            Self::SEED => Location::Seed {
                has_messages: false,
            },
            Self::SEED_WITH_MESSAGES => Location::Seed { has_messages: true },
            Self::AWAY | Self::LEAVING | Self::COMING => Location::Away,
            _ => Location::Placed,
        }
    }

    #[inline]
    fn is_placed(self) -> bool {
        self.0 >> 61 == Self::PLACED
    }

    /// Returns true for a placed element of this generation.
    #[inline]
    fn is_placed_in(self, generation: u32) -> bool {
        self.0 >> 41 == Self::PLACED << 20 | u64::from(generation)
    }

    #[inline]
    pub(crate) fn generation(self) -> u32 {
        (self.0 >> 41) as u32 & LAST_GENERATION
    }

    /// Returns the worker to which senders in `epoch` send.
    #[inline]
    pub(crate) fn worker(self, epoch: u32) -> usize {
        let word = if self.is_of(epoch) {
            self.0
        } else {
            self.0 >> 12
        };
        (word & Self::WORKER_MASK) as usize
    }

    /// Returns the old worker and the new one.
    fn workers(self) -> (usize, usize) {
        let (old, new) = (self.0 >> 12 & Self::WORKER_MASK, self.0 & Self::WORKER_MASK);
        (old as usize, new as usize)
    }

    /// Returns the old site and the new one; `None` if the element waits for a worker or has ended.
    pub(crate) fn sites(self) -> Option<(Site, Site)> {
        let (old, new) = self.workers();
        // The cast loses nothing: a route holds a node in 12 bits.
        let (here, there) = (Site::Worker, |node: usize| Site::Node(node as u16));
        match self.0 >> 61 {
            Self::PLACED => Some((here(old), here(new))),
            Self::LEAVING => Some((here(old), there(new))),
            Self::COMING => Some((there(old), here(new))),
            Self::AWAY => Some((there(old), there(new))),
            _ => None,
        }
    }

    /// Returns the site to which senders in `epoch` send; `None` if the element waits for a worker
    /// or has ended.
    pub(crate) fn site(self, epoch: u32) -> Option<Site> {
        self.sites()
            .map(|(old, new)| if self.is_of(epoch) { new } else { old })
    }

    #[inline]
    fn is_of(self, epoch: u32) -> bool {
        (self.0 >> 24) & Self::EPOCH_MASK == u64::from(epoch) & Self::EPOCH_MASK
    }

    /// Returns the worker where the element is, or to which it is moving; `None` if the element
    /// waits for a worker, has ended or is on another node.
    fn last_worker(self) -> Option<usize> {
        self.is_placed().then(|| self.workers().1)
    }

    /// Returns true if senders of some epoch send to `worker`.
    fn leads_to(self, worker: usize) -> bool {
        let own = Site::Worker(worker);
        self.sites()
            .is_some_and(|(old, new)| old == own || new == own)
    }
}

/// The shared state of one element.
#[derive(Debug)]
pub(crate) struct Place {
    route: AtomicU64,
    slot: AtomicU32,
    worker: AtomicU32,
}

impl Place {
    fn new() -> Self {
        Self::of(Route(0))
    }

    fn of(route: Route) -> Self {
        Self {
            route: AtomicU64::new(route.0),
            slot: AtomicU32::new(NO_SLOT),
            worker: AtomicU32::new(NO_WORKER),
        }
    }

    // Relaxed in all methods below: see the header.

    #[inline]
    pub(crate) fn route(&self) -> Route {
        Route(self.route.load(Relaxed))
    }

    pub(crate) fn set_route(&self, route: Route) {
        self.route.store(route.0, Relaxed);
    }

    pub(crate) fn replace_route(&self, route: Route) -> Route {
        Route(self.route.swap(route.0, Relaxed))
    }

    /// Replaces the route `from` by `to`. Returns false, without a change, if the route was another
    /// one.
    pub(crate) fn change_route(&self, from: Route, to: Route) -> bool {
        self.route
            .compare_exchange(from.0, to.0, Relaxed, Relaxed)
            .is_ok()
    }

    #[inline]
    pub(crate) fn slot(&self) -> usize {
        self.slot.load(Relaxed) as usize
    }

    pub(crate) fn set_slot(&self, slot: u32) {
        self.slot.store(slot, Relaxed);
    }

    /// Returns the worker that runs the element's entries; `None` if no worker has had the element
    /// yet. For calls from an entry, on any thread.
    #[inline]
    pub(crate) fn own_worker(&self) -> Option<usize> {
        let worker = self.worker.load(Relaxed);
        (worker != NO_WORKER).then_some(worker as usize)
    }

    /// Records that the element is on this worker now.
    #[inline]
    pub(crate) fn set_own_worker(&self, worker: usize) {
        self.worker.store(worker as u32, Relaxed);
    }

    /// Returns the worker to which a sender in `epoch` sends messages for the element `number`;
    /// `None` if the element waits for a worker or has ended.
    #[inline]
    pub(crate) fn worker_of(&self, number: Number, epoch: u32) -> Option<usize> {
        let route = self.route();
        route
            .is_placed_in(number.generation())
            .then(|| route.worker(epoch))
    }

    /// Returns the workers to which messages for the element `number` are sent: its old worker and
    /// its new one, which are the same unless it is moving.
    pub(crate) fn workers_of(&self, number: Number) -> Option<(usize, usize)> {
        let route = self.route();
        (route.is_placed() && route.generation() == number.generation()).then(|| route.workers())
    }

    /// Returns true if a message for the element `number` may be sent to `worker`.
    pub(crate) fn leads_to(&self, number: Number, worker: usize) -> bool {
        let route = self.route();
        route.generation() == number.generation() && route.leads_to(worker)
    }
}

/// The places of all elements of a collection.
#[derive(Debug)]
pub(crate) struct Directory {
    /// The places of the first numbers of home 0.
    fixed: Box<[Place]>,
    homes: Box<[CachePadded<Table>]>,
    /// The place of all numbers of an array that no longer exists.
    nowhere: Place,
}

#[derive(Debug, Default)]
struct Table {
    segments: [OnceLock<Box<[Place]>>; SEGMENT_COUNT],
    numbers: Mutex<Numbers>,
}

/// The numbers of one home.
#[derive(Debug, Default)]
struct Numbers {
    used: u32,
    /// Numbers that were returned, the oldest first.
    vacant: VecDeque<Number>,
}

/// Numbers that have become free when elements ended on this worker. The worker reuses them without
/// a lock, the oldest first.
///
/// The list is bounded ([`Spare::MAX`]), because the elements that end here may have been made
/// elsewhere, and the other way round.
#[derive(Debug, Default)]
pub(crate) struct Spare(VecDeque<Number>);

impl Spare {
    const MAX: usize = 64;
}

impl Directory {
    /// Creates an empty directory with `home_count` homes.
    pub(crate) fn new(home_count: usize) -> Self {
        Self {
            fixed: Box::default(),
            homes: (0..home_count).map(|_| CachePadded::default()).collect(),
            nowhere: Place::new(),
        }
    }

    /// Creates a directory with the given routes for its first numbers, which all have home 0.
    pub(crate) fn of_routes(routes: &[Route]) -> Self {
        let directory = Self {
            fixed: routes.iter().map(|&route| Place::of(route)).collect(),
            ..Self::new(1)
        };
        let count = u32::try_from(routes.len()).expect("arrays have fewer than 2^31 elements");
        directory.homes[0].numbers().used = count;
        directory
    }

    /// The number of elements that one home can have.
    pub(crate) const CAPACITY: u64 = 1 << 31;

    /// Allocates an unused number with the given home.
    pub(crate) fn allocate(&self, home: usize) -> Number {
        self.allocate_with(home, &mut Spare::default(), 0)
    }

    /// Allocates a number like `allocate`, preferably one of the caller's `spare` numbers of this
    /// home.
    #[inline]
    pub(crate) fn allocate_from(&self, spare: &mut Spare, home: usize) -> Number {
        match spare.0.pop_front() {
            Some(number) => number,
            None => self.allocate_with(home, spare, Spare::MAX / 2),
        }
    }

    /// Allocates a number like `allocate`, and moves up to `more` of the home's vacant numbers into
    /// `spare`.
    fn allocate_with(&self, home: usize, spare: &mut Spare, more: usize) -> Number {
        let table = &self.homes[home];
        let mut numbers = table.numbers();
        if let Some(number) = numbers.vacant.pop_front() {
            let more = more.min(numbers.vacant.len());
            spare.0.extend(numbers.vacant.drain(..more));
            return number;
        }
        let index = numbers.used;
        assert!(
            u64::from(index) < Self::CAPACITY,
            "a home can have {} elements at a time",
            Self::CAPACITY
        );
        numbers.used += 1;
        drop(numbers);
        table.reserve(index);
        Number::new(home, 0, index)
    }

    /// Frees the place of an ended element. Returns the place's next number, or `None` after its
    /// last generation.
    pub(crate) fn vacate(&self, number: Number) -> Option<Number> {
        let generation = number.generation() + 1;
        let place = self.place(number);
        place.set_slot(NO_SLOT);
        place.set_route(Route::vacant(generation));
        (generation < LAST_GENERATION)
            .then(|| Number::new(number.home(), generation, number.index()))
    }

    /// Gives a vacant number back to its home.
    pub(crate) fn give_back(&self, number: Number) {
        let mut numbers = self.homes[number.home()].numbers();
        numbers.vacant.push_back(number);
    }

    /// Adds a vacant number to `spare`, and gives half of `spare` back to the home if it is too
    /// long.
    #[inline]
    pub(crate) fn give_back_to(&self, spare: &mut Spare, number: Number) {
        spare.0.push_back(number);
        if spare.0.len() > Spare::MAX {
            let mut numbers = self.homes[number.home()].numbers();
            numbers.vacant.extend(spare.0.drain(..Spare::MAX / 2));
        }
    }

    /// Returns the worker where the element `number` is or to which it is moving. For an element
    /// that waits for a worker or is on another node, returns its home; `None` if the element has
    /// ended.
    pub(crate) fn worker_or_home(&self, number: Number) -> Option<usize> {
        let route = self.place(number).route();
        let is_there =
            route.generation() == number.generation() && route.location() != Location::Vacant;
        is_there.then(|| route.last_worker().unwrap_or(number.home()))
    }

    /// Returns the place of an allocated number; a vacant place if the array no longer exists.
    #[inline]
    pub(crate) fn place(&self, number: Number) -> &Place {
        // The first number of each fixed place has home 0 and generation 0, so its bits are its
        // index.
        let index = usize::try_from(number.bits());
        match index.ok().and_then(|index| self.fixed.get(index)) {
            Some(place) => place,
            None => self.other_place(number),
        }
    }

    #[inline(never)]
    fn other_place(&self, number: Number) -> &Place {
        if number.home() == 0
            && let Some(place) = self.fixed.get(number.index() as usize)
        {
            return place;
        }
        let (segment, offset) = locate(number.index());
        let table = self.homes.get(number.home());
        match table.and_then(|table| table.segments[segment].get()) {
            Some(places) => &places[offset],
            None => &self.nowhere,
        }
    }
}

impl Table {
    fn numbers(&self) -> impl std::ops::DerefMut<Target = Numbers> {
        self.numbers.lock().expect("nothing panics under this lock")
    }

    /// Allocates the segment for an index, unless it exists.
    fn reserve(&self, index: u32) {
        let (segment, _) = locate(index);
        self.segments[segment].get_or_init(|| {
            let length = 1_usize << (FIRST_BITS as usize + segment.saturating_sub(1));
            (0..length).map(|_| Place::new()).collect()
        });
    }
}

/// Returns the segment of an index, and the position in the segment.
#[inline]
fn locate(index: u32) -> (usize, usize) {
    let segment = u32::BITS - (index >> FIRST_BITS).leading_zeros();
    if segment == 0 {
        return (0, index as usize);
    }
    let first = 1_u32 << (FIRST_BITS + segment - 1);
    (segment as usize, (index - first) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_their_own() {
        let mut expected = (0, 0);
        for index in 0..1 << (FIRST_BITS + 4) {
            assert_eq!(locate(index), expected, "{index}");
            expected.1 += 1;
            let length = 1 << (FIRST_BITS as usize + expected.0.saturating_sub(1));
            if expected.1 == length {
                expected = (expected.0 + 1, 0);
            }
        }
        let (segment, _) = locate(u32::MAX);
        assert_eq!(segment, SEGMENT_COUNT - 1);
    }

    #[test]
    fn numbers_beyond_the_fixed_ones_are_in_tables() {
        let routes: Vec<_> = (0..100).map(|worker| Route::placed(0, worker)).collect();
        let directory = Directory::of_routes(&routes);
        for index in 0..100 {
            let number = Number::new(0, 0, index);
            let worker = directory.place(number).worker_of(number, 0);
            assert_eq!(worker, Some(index as usize));
        }
        let more = directory.allocate(0);
        assert_eq!(more.index(), 100);
        directory.place(more).set_route(Route::placed(0, 7));
        assert_eq!(directory.place(more).worker_of(more, 0), Some(7));
        let elsewhere = Number::new(1, 0, 3);
        assert_eq!(directory.place(elsewhere).worker_of(elsewhere, 0), None);
    }

    #[test]
    fn a_vacated_number_comes_back_with_another_generation() {
        let directory = Directory::new(3);
        let first = directory.allocate(2);
        assert_eq!((first.home(), first.index(), first.generation()), (2, 0, 0));
        directory.place(first).set_route(Route::placed(0, 1));
        assert_eq!(directory.place(first).worker_of(first, 9), Some(1));
        directory.give_back(directory.vacate(first).expect("there are more"));
        let second = directory.allocate(2);
        assert_eq!(
            (second.home(), second.index(), second.generation()),
            (2, 0, 1)
        );
        directory.place(second).set_route(Route::placed(1, 1));
        assert_eq!(directory.place(first).worker_of(first, 9), None);
    }

    #[test]
    fn a_place_is_used_no_more_after_its_last_generation() {
        let directory = Directory::new(1);
        let mut number = directory.allocate(0);
        let first = number;
        let mut uses = 1;
        while let Some(next) = directory.vacate(number) {
            assert_eq!(next.index(), first.index());
            assert_ne!(next, first);
            number = next;
            uses += 1;
        }
        assert_eq!(uses, LAST_GENERATION);
        assert_eq!(directory.place(number).worker_of(number, 0), None);
        assert_ne!(directory.allocate(0).index(), first.index());
    }

    #[test]
    fn returned_numbers_are_used_again_by_any_caller() {
        let directory = Directory::new(1);
        let mut spare = Spare::default();
        for _ in 0..10 {
            // First elements that are made elsewhere and end here, then the reverse.
            let made: Vec<_> = (0..1_000).map(|_| directory.allocate(0)).collect();
            for number in made {
                let vacant = directory.vacate(number).expect("there are more");
                directory.give_back_to(&mut spare, vacant);
            }
            let made: Vec<_> = (0..1_000)
                .map(|_| directory.allocate_from(&mut spare, 0))
                .collect();
            for number in made {
                directory.give_back(directory.vacate(number).expect("there are more"));
            }
        }
        let used = directory.homes[0].numbers().used as usize;
        assert!(used <= 1_000 + Spare::MAX, "{used}");
    }

    #[test]
    fn a_sender_in_the_epoch_of_a_move_sends_to_the_new_worker() {
        let (from, to) = (Site::Worker(7), Site::Worker(4095));
        let route = Route::moving(5, (1 << 17) + 3, from, to);
        assert_eq!(
            (route.worker(2), route.worker(3), route.generation()),
            (7, 4095, 5)
        );
        assert_eq!(route.location(), Location::Placed);
        let away = Route::away(LAST_GENERATION, 1023);
        assert_eq!(away.location(), Location::Away);
        assert_eq!(away.site(0), Some(Site::Node(1023)));
        let leaving = Route::moving(1, 9, Site::Worker(3), Site::Node(3));
        assert_eq!(leaving.site(8), Some(Site::Worker(3)));
        assert_eq!(leaving.site(9), Some(Site::Node(3)));
        assert_eq!(away.generation(), LAST_GENERATION);
        for has_messages in [false, true] {
            let seed = Route::seed(LAST_GENERATION, has_messages);
            assert_eq!(seed.location(), Location::Seed { has_messages });
            assert_eq!(seed.generation(), LAST_GENERATION);
        }
    }
}
