//! What all workers share of a collection: what its elements are called, and where they are.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use raddle_sync::prim::{AtomicU64, Mutex, Relaxed};

use crate::balance::{Balanced, Balancing};
use crate::directory::{Directory, Route, Whereabouts};
use crate::entry::Chare;
use crate::failure::Failure;
use crate::index::Grid;
use crate::node::Node;
use crate::number::Number;
use crate::section::{Members, Sections};

/// What all workers share of a collection.
pub(crate) struct Collection<T: Chare> {
    pub(crate) system: u32,
    pub(crate) id: u32,
    pub(crate) directory: Directory,
    kind: Kind<T::Index>,
    /// The elements that it was made with.
    pub(crate) population: u64,
    /// The worker where reductions end.
    pub(crate) root: usize,
    /// Its elements are never moved.
    pub(crate) stays: bool,
    pub(crate) balancing: Option<Balancing>,
    balanced: Mutex<Option<Balanced>>,
    /// What moving an element has cost of late, in nanoseconds; 0 before the first.
    move_cost: AtomicU64,
    /// What a node group has instead of places on workers.
    pub(crate) node: Option<Node<T>>,
    pub(crate) sections: Sections,
    /// Elements that have ended with a panic.
    died: Mutex<HashMap<Number, Failure>>,
    chare: PhantomData<fn() -> T>,
}

/// What elements are called.
enum Kind<K> {
    /// Nothing: each is alone.
    Singles,
    /// By their places.
    Grid(Box<dyn Grid<K>>),
    /// By keys, which have numbers.
    Sparse(Mutex<HashMap<K, Number>>),
}

impl<T: Chare> fmt::Debug for Collection<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Collection")
            .field("of", &T::NAME)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl<T: Chare> Collection<T> {
    /// The chares of a type that are in no array.
    pub(crate) fn singles(system: u32, id: u32, worker_count: usize) -> Self {
        Self {
            system,
            id,
            directory: Directory::new(worker_count),
            kind: Kind::Singles,
            population: 0,
            root: 0,
            stays: false,
            balancing: None,
            balanced: Mutex::default(),
            move_cost: AtomicU64::new(0),
            node: None,
            sections: Sections::default(),
            died: Mutex::default(),
            chare: PhantomData,
        }
    }

    /// A node group, whose one element here is made by `node`.
    pub(crate) fn node(system: u32, id: u32, node: Node<T>) -> Self {
        let collection = Self::singles(system, id, 1);
        // Its route stays that of a seed: no worker has it for good.
        let number = collection.directory.allocate(0, &mut Vec::new());
        collection
            .directory
            .place(number)
            .set_route(Route::seed(0, false));
        Self {
            node: Some(node),
            stays: true,
            ..collection
        }
    }

    /// An array in which the element at each position of the grid is on the worker at that position of `workers`.
    pub(crate) fn dense(
        system: u32,
        id: u32,
        grid: Box<dyn Grid<T::Index>>,
        root: usize,
        workers: &[usize],
    ) -> Self {
        let count = u32::try_from(workers.len()).expect("arrays have fewer than 2^31 elements");
        let directory = Directory::new(1);
        directory.reserve(count);
        for (index, &worker) in (0..count).zip(workers) {
            let place = directory.place(Number::new(0, 0, index));
            place.set_route(Route::placed(0, worker));
        }
        Self {
            system,
            id,
            directory,
            kind: Kind::Grid(grid),
            population: u64::from(count),
            root,
            stays: false,
            balancing: None,
            balanced: Mutex::default(),
            move_cost: AtomicU64::new(0),
            node: None,
            sections: Sections::default(),
            died: Mutex::default(),
            chare: PhantomData,
        }
    }

    /// The same, with what says whether and how its elements move.
    pub(crate) fn moved_by(self, stays: bool, balancing: Option<Balancing>) -> Self {
        Self {
            stays,
            balancing,
            ..self
        }
    }

    /// What is left of an array that is no more: nothing can be reached.
    pub(crate) fn husk(&self) -> Self {
        let rest = Self::singles(self.system, self.id, 0);
        Self {
            root: self.root,
            ..rest
        }
    }

    /// An array of keys, empty.
    pub(crate) fn sparse(system: u32, id: u32, worker_count: usize, root: usize) -> Self {
        Self {
            system,
            id,
            directory: Directory::new(worker_count),
            kind: Kind::Sparse(Mutex::default()),
            population: 0,
            root,
            stays: false,
            balancing: None,
            balanced: Mutex::default(),
            move_cost: AtomicU64::new(0),
            node: None,
            sections: Sections::default(),
            died: Mutex::default(),
            chare: PhantomData,
        }
    }

    /// What the last balancing did.
    pub(crate) fn balanced(&self) -> impl std::ops::DerefMut<Target = Option<Balanced>> {
        locked(&self.balanced)
    }

    /// What moving an element has cost of late.
    pub(crate) fn move_cost(&self) -> Option<Duration> {
        // Relaxed: a guess.
        let cost = self.move_cost.load(Relaxed);
        (cost > 0).then(|| Duration::from_nanos(cost))
    }

    /// Moving elements has cost this much for each.
    pub(crate) fn learn_move_cost(&self, cost: Duration) {
        let cost = cost.as_nanos() as u64;
        let before = self
            .move_cost()
            .map_or(cost, |before| before.as_nanos() as u64);
        // Relaxed: a guess.
        self.move_cost.store((before + cost) / 2 + 1, Relaxed);
    }

    /// What all workers share of a section.
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

    pub(crate) fn is_array(&self) -> bool {
        !matches!(self.kind, Kind::Singles)
    }

    /// True for an array whose workers make its first elements.
    pub(crate) fn has_birth(&self) -> bool {
        matches!(self.kind, Kind::Grid(_))
    }

    /// True when an element has this number now.
    #[inline]
    pub(crate) fn has(&self, number: Number) -> bool {
        let route = self.directory.place(number).route();
        route.generation() == number.generation() && route.whereabouts() != Whereabouts::Vacant
    }

    /// The number of the element that has this index; none when there is none.
    #[inline]
    pub(crate) fn number_of(&self, index: T::Index) -> Option<Number> {
        match &self.kind {
            Kind::Singles => None,
            Kind::Grid(grid) => {
                let position = u32::try_from(grid.position(index)?).ok()?;
                let number = self.at_position(position);
                self.has(number).then_some(number)
            }
            Kind::Sparse(numbers) => {
                let numbers = locked(numbers);
                numbers.get(&index).copied()
            }
        }
    }

    /// The number of the element at a position of a grid.
    pub(crate) fn at_position(&self, position: u32) -> Number {
        let route = self.directory.place(Number::new(0, 0, position)).route();
        Number::new(0, route.generation(), position)
    }

    /// Gives `index` a number, for an element on worker `on`. None when it has one, or lies outside the grid.
    pub(crate) fn insert(&self, index: T::Index, on: usize) -> Option<Number> {
        match &self.kind {
            Kind::Singles => None,
            Kind::Grid(grid) => {
                let position = u32::try_from(grid.position(index)?).ok()?;
                let place = self.directory.place(Number::new(0, 0, position));
                let vacant = place.route();
                let generation = vacant.generation();
                (vacant.whereabouts() == Whereabouts::Vacant
                    && place.change_route(vacant, Route::placed(generation, on)))
                .then(|| Number::new(0, generation, position))
            }
            Kind::Sparse(numbers) => {
                // Before the lock is taken.
                let number = self.directory.allocate(on, &mut Vec::new());
                let (generation, place) = (number.generation(), self.directory.place(number));
                place.set_route(Route::placed(generation, on));
                let mut numbers = locked(numbers);
                if let Entry::Vacant(entry) = numbers.entry(index) {
                    entry.insert(number);
                    return Some(number);
                }
                drop(numbers);
                place.set_route(Route::vacant(generation));
                self.directory.give_back(number);
                None
            }
        }
    }

    /// The element is gone. Returns a number that another element may have.
    pub(crate) fn remove(&self, number: Number, index: Option<T::Index>) -> Option<Number> {
        if let (Kind::Sparse(numbers), Some(index)) = (&self.kind, index) {
            let mut numbers = locked(numbers);
            numbers.remove(&index);
        }
        let vacant = self.directory.vacate(number);
        (!self.has_birth()).then_some(vacant)
    }

    /// Why a message for an element that is no more fails.
    pub(crate) fn gone(&self, number: Number, entry: &str) -> Failure {
        let died = locked(&self.died).get(&number).cloned();
        let name = match &self.kind {
            Kind::Grid(grid) => self.name(Some(grid.at(u64::from(number.index())))),
            Kind::Singles | Kind::Sparse(_) => self.name(None),
        };
        Failure::gone(&name, entry, died.as_ref())
    }

    /// An element has ended with a panic.
    pub(crate) fn note_death(&self, number: Number, failure: &Failure) {
        locked(&self.died).insert(number, failure.clone());
    }

    /// What messages of errors call an element.
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
