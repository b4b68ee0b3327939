//! Arrays of chares: their proxies, options and insertions.

mod plan;

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use raddle_sync::prim::{AtomicUsize, Relaxed};

pub(crate) use plan::Plan;

use crate::address::index::Index;
use crate::address::number::Number;
use crate::balance::{self, Balanced, Balancing, OfArray};
use crate::engine::elements::collection::Collection;
use crate::engine::elements::part::Part;
use crate::engine::local::any_thread;
use crate::engine::local::{self, Local};
use crate::engine::object::chare::Chare;
use crate::engine::object::cx::Cx;
use crate::engine::object::proxy::{All, One};
use crate::engine::system::System;
use crate::insertion;
use crate::lifecycle::End;
use crate::reduction::{self, Make, claim};
use crate::remote::{self, WireMessage, out};
use crate::reply::Reply;
use crate::section::Section;
use crate::seeds;
use crate::state::members::SectionForm;
use crate::state::rounds::NextRounds;

/// An array of chares, each on some worker.
///
/// A small value that is copied freely, like a proxy. The elements live until they end or the
/// runtime ends.
pub struct Array<T: Chare> {
    pub(crate) system: u32,
    pub(crate) collection: u32,
    chare: PhantomData<fn() -> T>,
}

impl<T: Chare> Clone for Array<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Chare> Copy for Array<T> {}

impl<T: Chare> fmt::Debug for Array<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Array<{}>#{}", T::NAME, self.collection)
    }
}

impl<T: Chare> Array<T> {
    pub(crate) fn new(system: u32, collection: u32) -> Self {
        Self {
            system,
            collection,
            chare: PhantomData,
        }
    }

    /// Returns the proxy of the element with this index.
    ///
    /// # Panics
    /// If there is no such element.
    #[inline]
    #[track_caller]
    pub fn at(self, index: T::Index) -> T::One {
        match self.get(index) {
            Some(one) => one,
            None => self.panic_without(index),
        }
    }

    /// Returns the proxy of the element with this index; `None` if there is no such element.
    #[inline]
    pub fn get(self, index: T::Index) -> Option<T::One> {
        let number = local::with(self.system, |local| match local {
            Some(local) => Part::<T>::of(local, self.collection).number_of(index),
            None => {
                let system = System::find(self.system)?;
                Collection::<T>::of(&system, self.collection).number_of(index)
            }
        })?;
        Some(T::One::from(One::new(self.system, self.collection, number)))
    }

    /// Panics because no element has this index, with the reason if it is known.
    #[cold]
    #[track_caller]
    fn panic_without(self, index: T::Index) -> ! {
        let collection = Collection::<T>::of(&self.find_system(), self.collection);
        panic!("{}", collection.missing(index))
    }

    /// Returns the proxy of all elements.
    pub fn all(self) -> T::All {
        T::All::from(All::new(self.system, self.collection, None))
    }

    /// Returns the result of the next unclaimed reduction; see [`Cx::contribute`].
    ///
    /// The reply fails if the result of the reduction is not an `O`.
    pub fn reduction<O: Send + 'static>(self) -> Reply<O> {
        claim::<T, O>(self.system, self.collection, None)
    }

    /// Inserts an element on the calling worker. A thread that is not a worker inserts elements on
    /// the workers in turn.
    ///
    /// The element receives all messages that the caller sends to all elements afterwards, and
    /// takes part in the reductions that these messages trigger. It does not receive messages to
    /// all that the caller sent before. It takes no part in reductions to which elements contribute
    /// in the entries of those earlier messages. If such an entry waits, or sends further messages
    /// that trigger a contribution, or another caller triggers reductions meanwhile, then the
    /// element's first reduction is unspecified: such programs wait for the result before they
    /// insert. Reductions that are triggered afterwards wait until all workers have agreed on the
    /// first reduction in which the element takes part.
    ///
    /// Cost: two messages for each worker, and twice as many if messages wait for other elements
    /// that are being inserted.
    ///
    /// # Panics
    /// If the element exists already, even if it is being removed ([`remove`](Self::remove)); if
    /// the index lies outside the array's shape; and if 2²⁰ − 1 elements have had this place of a
    /// shape, one after the other.
    #[track_caller]
    pub fn insert(
        self,
        index: T::Index,
        make: impl FnOnce(&mut Cx<T>) -> T + Send + 'static,
    ) -> T::One {
        let system = self.find_system();
        let own = local::with(self.system, |local| local.map(|local| local.worker()));
        self.insert_on(own.unwrap_or_else(|| system.next_worker()), index, make)
    }

    /// Inserts an element on worker `worker`.
    ///
    /// # Panics
    /// As for [`insert`](Self::insert), and if there is no such worker.
    #[track_caller]
    pub fn insert_on(
        self,
        worker: usize,
        index: T::Index,
        make: impl FnOnce(&mut Cx<T>) -> T + Send + 'static,
    ) -> T::One {
        let system = self.find_system();
        system.check_worker(worker);
        let collection = Collection::<T>::of(&system, self.collection);
        collection.check_within("have insertions");
        let number = match collection.insert(index, worker) {
            Ok(number) => number,
            Err(why) => panic!("{}[{index:?}] {why}", T::NAME),
        };
        let id = self.collection;
        let make = move |local: &Local, first| {
            local.post_seldom(worker, move |local| {
                let make = |cx: &mut Cx<T>| {
                    cx.set_rounds(NextRounds::from_array(first));
                    make(cx)
                };
                let part = Part::<T>::of(local, id);
                reduction::comes(&part, number, &NextRounds::from_array(first));
                seeds::make_element(local, &part, number, Some(index), make);
            });
        };
        self.begin_insertion(&system, &collection, worker, number, Box::new(make));
        T::One::from(One::new(self.system, self.collection, number))
    }

    /// Starts the insertion of an element; its number has been allocated. See [`crate::insertion`].
    fn begin_insertion(
        self,
        system: &Arc<System>,
        collection: &Collection<T>,
        worker: usize,
        number: Number,
        make: Make,
    ) {
        let (id, root) = (self.collection, collection.root());
        collection.begin_insertion();
        let begin = move |local: &Local| {
            insertion::begin_insertion::<T>(local, &Part::of(local, id), number, make)
        };
        let epoch = local::with(self.system, |local| match local {
            Some(local) => {
                if local.worker() == root {
                    begin(local);
                } else {
                    local.post_seldom(root, begin);
                }
                local.epoch()
            }
            None => {
                any_thread::post_outside(system, root, Box::new(begin));
                system.outside().epoch
            }
        });
        for to in 0..system.worker_count() {
            any_thread::post(system, to, move |local| {
                insertion::take_mark::<T>(local, &Part::of(local, id), number, worker, epoch);
            });
        }
    }

    /// Ends the element with this index, after it has run the messages that the caller has sent to
    /// it before.
    ///
    /// Until then the element exists: [`insert`](Self::insert) cannot reuse its index, and removing
    /// it again has no effect.
    ///
    /// # Panics
    /// If there is no such element: it was never made, or it has ended.
    #[track_caller]
    pub fn remove(self, index: T::Index) {
        let collection = Collection::<T>::of(&self.find_system(), self.collection);
        match collection.number_of(index) {
            Some(number) => One::<T>::new(self.system, self.collection, number).send_parcel(End),
            None => panic!("{}", collection.missing(index)),
        }
    }

    /// Drops all elements, and the memory of the array.
    ///
    /// Messages that are under way to the elements fail with a [`Failure`](crate::Failure). So no
    /// message should be under way. An array that is not destroyed lives until its runtime ends.
    pub fn destroy(self) {
        let Self {
            system, collection, ..
        } = self;
        let Some(system) = System::find(system) else {
            return;
        };
        if let Some(shared) = Collection::<T>::find(&system, collection)
            && let Some(collection) = shared.wide()
        {
            out::send_to_others(&system, &WireMessage::Destroy { collection });
            remote::forget_wide(&system, collection);
        }
        destroy_here(&system, collection);
    }

    #[track_caller]
    pub(crate) fn find_system(self) -> Arc<System> {
        System::find(self.system).unwrap_or_else(|| panic!("the runtime of {self:?} has ended"))
    }
}

impl<T: Chare> Cx<T> {
    /// Returns the array that the element is in.
    ///
    /// # Panics
    /// If the chare is in no array.
    pub fn array(&self) -> Array<T> {
        self.index();
        let one = self.one();
        Array::new(one.system, one.collection)
    }
}

/// Drops the elements that this node has of an array, and the array's state here.
pub(crate) fn destroy_here(system: &System, collection: u32) {
    if system.collections().take(collection).is_none() {
        return;
    }
    let left = Arc::new(AtomicUsize::new(system.worker_count()));
    for worker in 0..system.worker_count() {
        let left = Arc::clone(&left);
        any_thread::post(system, worker, move |local| {
            local.drop_part(collection);
            // Relaxed: each worker drops only its own part.
            if left.fetch_sub(1, Relaxed) == 1 {
                local.system().collections().release(collection);
            }
        });
    }
}

/// The options for a new array, except its elements.
pub struct ArrayOptions<I: Index> {
    shape: I::Shape,
    worker_of: Option<Box<dyn Fn(I) -> usize + Send + Sync>>,
    stays: bool,
    balancing: Option<Balancing>,
}

impl<I: Index> fmt::Debug for ArrayOptions<I> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ArrayOptions")
            .field("shape", &self.shape)
            .finish_non_exhaustive()
    }
}

impl<I: Index> ArrayOptions<I> {
    /// Creates options for an array of this shape; its elements are distributed to the workers in
    /// blocks.
    pub fn new(shape: I::Shape) -> Self {
        Self {
            shape,
            worker_of: None,
            stays: false,
            balancing: None,
        }
    }

    /// Moves elements so that all workers have about as much to do.
    #[must_use]
    pub fn balanced(mut self, balancing: Balancing) -> Self {
        self.balancing = Some(balancing);
        self
    }

    /// Forbids the elements to migrate.
    #[must_use]
    pub(crate) fn staying(mut self) -> Self {
        self.stays = true;
        self
    }

    /// Places each element on the worker that `worker_of` returns.
    #[must_use]
    pub fn placed(mut self, worker_of: impl Fn(I) -> usize + Send + Sync + 'static) -> Self {
        self.worker_of = Some(Box::new(worker_of));
        self
    }
}

/// The options for a new sparse array.
#[derive(Clone, Debug, Default)]
pub struct SparseOptions {
    balancing: Option<Balancing>,
}

impl SparseOptions {
    /// Creates options for an array with elements that stay where they are inserted, unless they
    /// migrate themselves.
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves elements so that all workers have about as much to do.
    #[must_use]
    pub fn balanced(mut self, balancing: Balancing) -> Self {
        self.balancing = Some(balancing);
        self
    }
}

/// Creates an empty sparse array.
pub(crate) fn make_sparse<T: Chare>(system: &Arc<System>, options: SparseOptions) -> Array<T> {
    let worker_count = system.worker_count();
    let collection = Collection::<T>::add(system, |id| {
        let root = id as usize % worker_count;
        let sparse = Collection::sparse(system.id(), id, worker_count, root);
        balance::balanced_by(sparse, options.balancing)
    });
    Array::new(system.id(), collection.id())
}

impl<T: Chare> Array<T> {
    /// Creates a section of the elements with these indices, in this order.
    ///
    /// # Panics
    /// If there is no such element, or an index occurs twice.
    #[track_caller]
    pub fn section(self, indices: impl IntoIterator<Item = T::Index>) -> Section<T> {
        self.section_with(SectionForm::Auto, indices)
    }

    /// Creates a section with messages and reductions in the given `form`.
    ///
    /// # Panics
    /// As for [`section`](Self::section).
    #[track_caller]
    pub fn section_with(
        self,
        form: SectionForm,
        indices: impl IntoIterator<Item = T::Index>,
    ) -> Section<T> {
        let system = self.find_system();
        let collection = Collection::<T>::of(&system, self.collection);
        collection.check_within("have sections");
        let mut members = Vec::new();
        for index in indices {
            let Some(number) = collection.number_of(index) else {
                panic!("{}", collection.missing(index));
            };
            members.push((index, number));
        }
        let forms = form.in_array(members.len(), system.worker_count());
        Section::make(&system, &collection, forms, members)
    }
}

impl<T: Chare> Section<T> {
    /// Returns the array that the section's members belong to.
    ///
    /// # Panics
    /// If the members are in no array, as [`Cx::array`].
    #[track_caller]
    pub fn array(self) -> Array<T> {
        assert!(self.is_of_array, "the members of {self:?} are in no array");
        Array::new(self.system, self.collection)
    }
}

impl<T: Chare> Array<T> {
    /// Returns the result of the last balancing of this array; `None` before the first.
    pub fn last_balancing(self) -> Option<Balanced> {
        let system = crate::engine::system::System::find(self.system)?;
        let collection = Collection::<T>::of(&system, self.collection);
        let balance = collection.state::<OfArray>()?;
        balance.balanced().clone()
    }
}
