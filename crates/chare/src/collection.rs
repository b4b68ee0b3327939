//! What all workers share of a collection: what its elements are called, and where they are.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, PoisonError, RwLock};

use crate::directory::{Directory, Route, Whereabouts};
use crate::entry::Chare;
use crate::index::Grid;
use crate::node::Node;
use crate::number::Number;
use crate::section::Members;

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
    /// What a node group has instead of places on workers.
    pub(crate) node: Option<Node<T>>,
    sections: RwLock<Vec<Arc<Members>>>,
    chare: PhantomData<fn() -> T>,
}

/// What elements are called.
enum Kind<K> {
    /// Nothing: each is alone.
    Singles,
    /// By their places.
    Grid(Box<dyn Grid<K>>),
    /// By keys, which have numbers.
    Sparse(RwLock<HashMap<K, Number>>),
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
            node: None,
            sections: RwLock::default(),
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
            ..collection
        }
    }

    /// An array in which element number `n`, at position `n` of the grid, is on worker `worker_of(n)`.
    pub(crate) fn dense(
        system: u32,
        id: u32,
        grid: Box<dyn Grid<T::Index>>,
        count: u32,
        root: usize,
        stays: bool,
        worker_of: impl Fn(u32) -> usize,
    ) -> Self {
        let directory = Directory::new(1);
        directory.reserve(count);
        for index in 0..count {
            let number = Number::new(0, 0, index);
            directory
                .place(number)
                .set_route(Route::placed(0, worker_of(index)));
        }
        Self {
            system,
            id,
            directory,
            kind: Kind::Grid(grid),
            population: u64::from(count),
            root,
            stays,
            node: None,
            sections: RwLock::default(),
            chare: PhantomData,
        }
    }

    /// An array of keys, empty.
    pub(crate) fn sparse(system: u32, id: u32, worker_count: usize, root: usize) -> Self {
        Self {
            system,
            id,
            directory: Directory::new(worker_count),
            kind: Kind::Sparse(RwLock::default()),
            population: 0,
            root,
            stays: false,
            node: None,
            sections: RwLock::default(),
            chare: PhantomData,
        }
    }

    pub(crate) fn add_section(&self, members: Members) -> u32 {
        let mut sections = self
            .sections
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        sections.push(Arc::new(members));
        u32::try_from(sections.len() - 1).expect("fewer than 2^32 sections")
    }

    pub(crate) fn section(&self, id: u32) -> Arc<Members> {
        let sections = self.sections.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&sections[id as usize])
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
                let numbers = numbers.read().unwrap_or_else(PoisonError::into_inner);
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
                // Outside of the lock, under which nothing gives way to other threads.
                let number = self.directory.allocate(on, &mut Vec::new());
                let (generation, place) = (number.generation(), self.directory.place(number));
                place.set_route(Route::placed(generation, on));
                let mut numbers = numbers.write().unwrap_or_else(PoisonError::into_inner);
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
            let mut numbers = numbers.write().unwrap_or_else(PoisonError::into_inner);
            numbers.remove(&index);
        }
        let vacant = self.directory.vacate(number);
        (!self.has_birth()).then_some(vacant)
    }

    /// What messages of errors call an element.
    pub(crate) fn name(&self, index: Option<T::Index>) -> String {
        match index {
            Some(index) => format!("{}[{index:?}]", T::NAME),
            None => format!("a {}", T::NAME),
        }
    }
}
