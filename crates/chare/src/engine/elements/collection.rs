//! The state of a collection that all workers share: the names and locations of its elements.

use std::any::TypeId;
use std::collections::VecDeque;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::marker::PhantomData;
use std::sync::Arc;

use raddle_sync::prim::{AtomicU64, Mutex, Relaxed};

use crate::address::directory::{Directory, Location, Route};
use crate::address::index::Grid;
use crate::address::keys::Keys;
use crate::address::number::{LAST_GENERATION, Number};
use crate::engine::local::Local;
use crate::engine::object::chare::Chare;
use crate::engine::system::System;
use crate::failure::Failure;
use crate::state::members::{Loss, Members, Sections};
use crate::state::rounds::Group;
use crate::state::{SharedState, SharedStates};

/// The state of a collection that all workers share.
pub(crate) struct Collection<T: Chare> {
    system: u32,
    id: u32,
    /// The number by which all nodes know it, if it is over nodes.
    wide: Option<u32>,
    directory: Arc<Directory>,
    kind: Kind<T::Index>,
    /// The elements that it was made with.
    population: u64,
    /// The worker where reductions and scans of all elements end, and its node.
    root: usize,
    root_node: u16,
    /// The number of insertions that have begun.
    insertions_begun: AtomicU64,
    /// Its elements are never moved.
    stays: bool,
    /// The runs of its elements are measured.
    is_measured: bool,
    is_node_group: bool,
    /// The states that features keep for the collection.
    states: SharedStates,
    sections: Sections,
    /// The scans over all elements without a result.
    scan_loss: Loss,
    /// The last elements that have ended with a panic.
    died: Mutex<VecDeque<Death<T::Index>>>,
    chare: PhantomData<fn() -> T>,
}

/// The way in which elements are identified.
enum Kind<K> {
    /// Nothing: each is alone.
    Singles,
    /// By their places in a grid.
    Grid(Box<dyn Grid<K>>),
    /// By keys, which have numbers.
    Sparse {
        hasher: RandomState,
        numbers: Mutex<Keys<K>>,
    },
}

/// An element that has ended with a panic.
struct Death<K> {
    number: Number,
    /// `None` for an element of a collection without indices.
    index: Option<K>,
    failure: Failure,
}

/// The largest number of deaths that a collection remembers, the latest ones.
const DEATHS_MAX: usize = 1_000;

impl<T: Chare> fmt::Debug for Collection<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Collection")
            .field("of", &T::NAME)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// The collections of a system.
impl<T: Chare> Collection<T> {
    /// Adds a collection to a system. `make` creates it with the number that it gets.
    pub(crate) fn add(system: &System, make: impl FnOnce(u32) -> Self) -> Arc<Self> {
        let id = system.collections().allocate();
        let collection = Arc::new(make(id));
        system.collections().put(id, Arc::clone(&collection) as _);
        collection
    }

    /// Returns the collection with this number, unless it was removed.
    pub(crate) fn find(system: &System, id: u32) -> Option<Arc<Self>> {
        let collection = system.collections().get(id)?;
        let collection = collection.downcast();
        Some(collection.expect("a proxy has the type of its collection"))
    }

    /// Returns the collection with this number; a tombstone if it was removed.
    pub(crate) fn of(system: &System, id: u32) -> Arc<Self> {
        Self::find(system, id).unwrap_or_else(|| Arc::new(Self::tombstone(system.id(), id)))
    }

    /// Returns the number of the collection of all chares of type `T` that are in no array.
    pub(crate) fn singles_of(system: &System) -> u32 {
        let new = |id| Self::singles(system.id(), id, system.worker_count());
        system.singles(TypeId::of::<T>(), || Self::add(system, new).id())
    }

    /// Like [`singles_of`](Self::singles_of), for a worker. Takes no lock if the worker has asked
    /// before.
    pub(crate) fn singles_at(local: &Local) -> u32 {
        local.singles(TypeId::of::<T>(), || Self::singles_of(local.system()))
    }
}

impl<T: Chare> Collection<T> {
    /// Creates a collection without elements. Its reductions and scans end at worker `root`.
    fn empty(
        system: u32,
        id: u32,
        kind: Kind<T::Index>,
        directory: Directory,
        root: usize,
    ) -> Self {
        Self {
            system,
            id,
            wide: None,
            directory: Arc::new(directory),
            kind,
            population: 0,
            root,
            root_node: 0,
            insertions_begun: AtomicU64::new(0),
            stays: false,
            is_measured: false,
            is_node_group: false,
            states: SharedStates::default(),
            sections: Sections::default(),
            scan_loss: Loss::default(),
            died: Mutex::default(),
            chare: PhantomData,
        }
    }

    /// Creates the collection of the chares of a type that are in no array.
    pub(crate) fn singles(system: u32, id: u32, worker_count: usize) -> Self {
        Self::empty(system, id, Kind::Singles, Directory::new(worker_count), 0)
    }

    /// Creates a node group. `state` holds its one element on this node.
    pub(crate) fn node(system: u32, id: u32, state: impl SharedState) -> Self {
        let collection = Self::singles(system, id, 1);
        // Its route stays that of a seed: no worker has it for good.
        let number = collection.directory.allocate(0);
        collection
            .directory
            .place(number)
            .set_route(Route::seed(0, false));
        Self {
            stays: true,
            is_node_group: true,
            ..collection.with_state(state)
        }
    }

    /// Creates an array. The element at each position of the grid has the route at that position of
    /// `routes`.
    pub(crate) fn dense(
        system: u32,
        id: u32,
        grid: Box<dyn Grid<T::Index>>,
        root: usize,
        routes: &[Route],
    ) -> Self {
        let is_taken = |route: &&Route| route.location() != Location::Vacant;
        let directory = Directory::of_routes(routes);
        Self {
            population: routes.iter().filter(is_taken).count() as u64,
            ..Self::empty(system, id, Kind::Grid(grid), directory, root)
        }
    }

    /// Returns the collection with its elements pinned to their workers if `stays` is true.
    pub(crate) fn that_stays(self, stays: bool) -> Self {
        Self { stays, ..self }
    }

    /// Returns the collection with measurement of its elements' runs.
    pub(crate) fn that_is_measured(self) -> Self {
        Self {
            is_measured: true,
            ..self
        }
    }

    /// Returns the collection with a feature's `state`.
    pub(crate) fn with_state(self, state: impl SharedState) -> Self {
        Self {
            states: self.states.with(state),
            ..self
        }
    }

    /// Returns the collection with a number that all nodes know; its reductions end at `root_node`.
    pub(crate) fn known_as(self, wide: Option<u32>, root_node: u16) -> Self {
        Self {
            wide,
            root_node,
            ..self
        }
    }

    /// Creates the tombstone of a collection that was destroyed: it has no elements.
    pub(crate) fn tombstone(system: u32, id: u32) -> Self {
        Self::singles(system, id, 0)
    }

    /// Creates an empty array of keys.
    pub(crate) fn sparse(system: u32, id: u32, worker_count: usize, root: usize) -> Self {
        let kind = Kind::Sparse {
            hasher: RandomState::new(),
            numbers: Mutex::default(),
        };
        Self::empty(system, id, kind, Directory::new(worker_count), root)
    }

    /// Returns the number of the system.
    #[inline]
    pub(crate) fn system_id(&self) -> u32 {
        self.system
    }

    /// Returns the number by which the workers of this node know the collection.
    #[inline]
    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// Returns the number by which all nodes know the collection, if it is over nodes.
    #[inline]
    pub(crate) fn wide(&self) -> Option<u32> {
        self.wide
    }

    /// Returns the directory, which knows where each element is.
    #[inline]
    pub(crate) fn directory(&self) -> &Arc<Directory> {
        &self.directory
    }

    /// Returns the number of elements that it was made with.
    #[inline]
    pub(crate) fn population(&self) -> u64 {
        self.population
    }

    /// Returns the worker where reductions and scans of all elements end.
    #[inline]
    pub(crate) fn root(&self) -> usize {
        self.root
    }

    /// Returns the node of that worker.
    pub(crate) fn root_node(&self) -> u16 {
        self.root_node
    }

    /// Returns true if its elements are never moved.
    pub(crate) fn stays(&self) -> bool {
        self.stays
    }

    /// Returns true if the runs of its elements are measured.
    pub(crate) fn is_measured(&self) -> bool {
        self.is_measured
    }

    /// Returns its sections.
    #[inline]
    pub(crate) fn sections(&self) -> &Sections {
        &self.sections
    }

    /// Returns the scans over all elements that have no result.
    pub(crate) fn scan_loss(&self) -> &Loss {
        &self.scan_loss
    }

    /// Counts an insertion: messages that the maker sends from now on come after it.
    pub(crate) fn begin_insertion(&self) {
        // Relaxed: messages publish their sender's knowledge to the reader.
        self.insertions_begun.fetch_add(1, Relaxed);
    }

    pub(crate) fn insertions_begun(&self) -> u64 {
        // Relaxed: as above.
        self.insertions_begun.load(Relaxed)
    }

    /// Returns the state that a feature keeps for this collection, if it keeps any.
    #[inline]
    pub(crate) fn state<S: SharedState>(&self) -> Option<&S> {
        self.states.get()
    }

    /// Returns the states that features keep for the collection.
    pub(crate) fn states(&self) -> &SharedStates {
        &self.states
    }

    /// Returns the state of a section that all workers share.
    ///
    /// # Errors
    /// When it has been destroyed, or its array has.
    pub(crate) fn section(&self, id: u32) -> Result<Arc<Members>, Failure> {
        self.sections.find(id).ok_or_else(|| {
            let (of, array) = (T::NAME, self.id);
            Failure::new(format!(
                "section {id} of {of}#{array} is no more: it has been destroyed, or its array has"
            ))
        })
    }

    /// Returns the worker where reductions and scans of a group end.
    ///
    /// # Errors
    /// When it is a section that no longer exists.
    pub(crate) fn root_of(&self, group: Group) -> Result<usize, Failure> {
        match group {
            None => Ok(self.root),
            Some(section) => Ok(self.section(section)?.root),
        }
    }

    /// Returns true for a node group: its element belongs to no worker.
    pub(crate) fn is_node_group(&self) -> bool {
        self.is_node_group
    }

    pub(crate) fn is_array(&self) -> bool {
        !matches!(self.kind, Kind::Singles)
    }

    /// # Panics
    /// If the array is over several nodes, which does not allow `what`.
    #[track_caller]
    pub(crate) fn check_within(&self, what: &str) {
        assert!(
            self.wide.is_none(),
            "an array of {} over nodes cannot {what}: one that a node makes for itself can",
            T::NAME
        );
    }

    /// Returns the lengths of an array with a shape.
    pub(crate) fn shape(&self) -> Option<Vec<u64>> {
        match &self.kind {
            Kind::Grid(grid) => Some(grid.lengths()),
            Kind::Singles | Kind::Sparse { .. } => None,
        }
    }

    /// Returns true for an array with first elements, which its workers construct.
    pub(crate) fn has_first_elements(&self) -> bool {
        matches!(self.kind, Kind::Grid(_))
    }

    /// Returns true if an element has this number now.
    #[inline]
    pub(crate) fn has(&self, number: Number) -> bool {
        let route = self.directory.place(number).route();
        route.generation() == number.generation() && route.location() != Location::Vacant
    }

    /// Returns the number of the element with this index, if there is one.
    #[inline]
    pub(crate) fn number_of(&self, index: T::Index) -> Option<Number> {
        match &self.kind {
            Kind::Singles => None,
            Kind::Grid(grid) => {
                let position = u32::try_from(grid.position(index)?).ok()?;
                let number = self.at_position(position);
                self.has(number).then_some(number)
            }
            Kind::Sparse { hasher, .. } => self.number_of_hashed(index, hasher.hash_one(index)),
        }
    }

    /// Returns the hash of a key; `None` for a collection without keys.
    #[inline]
    pub(crate) fn hash(&self, index: T::Index) -> Option<u64> {
        match &self.kind {
            Kind::Sparse { hasher, .. } => Some(hasher.hash_one(index)),
            Kind::Singles | Kind::Grid(_) => None,
        }
    }

    /// Returns the number of the element with this key, which has this hash, if there is one.
    pub(crate) fn number_of_hashed(&self, index: T::Index, hash: u64) -> Option<Number> {
        let Kind::Sparse { numbers, .. } = &self.kind else {
            return None;
        };
        let alike = locked(numbers).alike(hash);
        alike?.number_of(index)
    }

    /// Returns the number of the element at a position of a grid.
    pub(crate) fn at_position(&self, position: u32) -> Number {
        let route = self.directory.place(Number::new(0, 0, position)).route();
        Number::new(0, route.generation(), position)
    }

    /// Returns the index of the element at a place of a grid.
    pub(crate) fn index_of(&self, number: Number) -> Option<T::Index> {
        match &self.kind {
            Kind::Grid(grid) => Some(grid.at(u64::from(number.index()))),
            Kind::Singles | Kind::Sparse { .. } => None,
        }
    }

    /// Gives `index` a number, for an element on worker `on`; on failure returns the reason.
    pub(crate) fn insert(&self, index: T::Index, on: usize) -> Result<Number, &'static str> {
        match &self.kind {
            Kind::Singles => Err("is in no array: that has been destroyed"),
            Kind::Grid(grid) => {
                let position = grid.position(index).and_then(|at| u32::try_from(at).ok());
                self.insert_at(position.ok_or("lies outside the array")?, on)
            }
            Kind::Sparse { hasher, numbers } => {
                let hash = hasher.hash_one(index);
                let mut number = None;
                loop {
                    let alike = locked(numbers).alike(hash);
                    let before = alike.as_ref().and_then(|alike| alike.number_of(index));
                    if before.is_some() {
                        if let Some(number) = number {
                            self.set_route(number, Route::vacant);
                            self.directory.give_back(number);
                        }
                        return Err("is there already");
                    }
                    // Before the lock is taken.
                    let number = *number.get_or_insert_with(|| {
                        let number = self.directory.allocate(on);
                        self.set_route(number, |generation| Route::placed(generation, on));
                        number
                    });
                    if locked(numbers).put_beside(alike.as_ref(), hash, index, number) {
                        return Ok(number);
                    }
                }
            }
        }
    }

    fn set_route(&self, number: Number, route: impl FnOnce(u32) -> Route) {
        let place = self.directory.place(number);
        place.set_route(route(number.generation()));
    }

    /// Gives a position of the grid a number.
    fn insert_at(&self, position: u32, on: usize) -> Result<Number, &'static str> {
        let place = self.directory.place(Number::new(0, 0, position));
        let vacant = place.route();
        let generation = vacant.generation();
        if vacant.location() != Location::Vacant {
            return Err("is there already");
        }
        if generation == LAST_GENERATION {
            return Err("has been put in 1048575 times, and has no number left");
        }
        place
            .change_route(vacant, Route::placed(generation, on))
            .then(|| Number::new(0, generation, position))
            .ok_or("is there already")
    }

    /// Removes an element that has ended. Returns a number that another element may have, if there
    /// is one.
    pub(crate) fn remove(&self, number: Number, index: Option<T::Index>) -> Option<Number> {
        if let (Kind::Sparse { hasher, numbers }, Some(index)) = (&self.kind, index) {
            let hash = hasher.hash_one(index);
            locked(numbers).remove(hash, number);
        }
        let vacant = self.directory.vacate(number);
        vacant.filter(|_| !self.has_first_elements())
    }

    /// Returns the failure of a message for an element that has ended.
    pub(crate) fn gone(&self, number: Number, entry: &str) -> Failure {
        let died = self.death(|death| death.number == number);
        let name = self.name(self.index_of(number));
        Failure::gone(&name, entry, died.as_ref())
    }

    /// Returns the error message for a caller that asks for an element that does not exist.
    #[cold]
    pub(crate) fn missing(&self, index: T::Index) -> String {
        let name = self.name(Some(index));
        let died = self.death(|death| death.index == Some(index));
        // Another element may have had the index since, and have ended without a panic.
        let reason = died.map_or_else(
            || "it was never made, or has ended".to_owned(),
            |died| format!("it has ended; {died}"),
        );
        format!("there is no {name}: {reason}")
    }

    /// Returns the panic that ended the latest element for which `is_it` returns true.
    fn death(&self, is_it: impl Fn(&Death<T::Index>) -> bool) -> Option<Failure> {
        let died = locked(&self.died);
        let death = died.iter().find(|death| is_it(death));
        death.map(|death| death.failure.clone())
    }

    /// Notes that an element has ended with a panic.
    pub(crate) fn note_death(&self, number: Number, index: Option<T::Index>, failure: &Failure) {
        let mut died = locked(&self.died);
        died.truncate(DEATHS_MAX - 1);
        died.push_front(Death {
            number,
            index,
            failure: failure.clone(),
        });
    }

    /// Returns the name of an element in error messages.
    pub(crate) fn name(&self, index: Option<T::Index>) -> String {
        match index {
            Some(index) => format!("{}[{index:?}]", T::NAME),
            None => format!("a {}", T::NAME),
        }
    }
}

fn locked<T>(lock: &Mutex<T>) -> impl std::ops::DerefMut<Target = T> {
    lock.lock().expect("nothing panics under this lock")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::index::Shaped;
    use crate::chare;

    struct Element;

    #[chare]
    impl Element {}

    #[test]
    fn a_place_of_a_grid_is_used_until_its_generations_are_used_up() {
        let grid = Box::new(Shaped::<usize>(2));
        let array = Collection::<Element>::dense(0, 0, grid, 0, &[Route::placed(0, 0); 2]);
        let generation = LAST_GENERATION - 2;
        assert!(
            array
                .remove(Number::new(0, generation, 0), Some(0))
                .is_none()
        );
        let last = array.insert(0, 0).expect("there is one generation more");
        assert_eq!(last.generation(), generation + 1);
        assert!(array.remove(last, Some(0)).is_none());
        let refused = array.insert(0, 0).expect_err("there is none any more");
        assert!(refused.contains(&LAST_GENERATION.to_string()), "{refused}");
        assert!(!array.has(last) && array.number_of(0).is_none());
        assert!(array.number_of(1).is_some());
    }
}
