//! Proxies: addresses of elements, small and copied freely, from which messages are sent.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use crate::call::{Call, Run};
use crate::entry::{AsyncEntry, Chare, Entry, Message};
use crate::local::{self, Local};
use crate::number::Number;
use crate::outside;
use crate::parcel::{NoReply, Parcel};
use crate::reply::{Replier, Reply, What, reply};
use crate::spread::{Spread, SpreadCall};
use crate::suspended::{File, Start};

/// The address of an element: what the attribute wraps into a type with a method for each entry.
///
/// 24 bytes that refer to nothing: a proxy outlives its element, and sending to one that is gone is a [`Failure`](crate::Failure).
pub struct One<T: Chare> {
    pub(crate) system: u32,
    pub(crate) collection: u32,
    pub(crate) number: Number,
    pub(crate) priority: i32,
    chare: PhantomData<fn() -> T>,
}

/// The address of all elements of an array, or of a section.
pub struct All<T: Chare> {
    pub(crate) system: u32,
    pub(crate) collection: u32,
    pub(crate) section: Option<u32>,
    pub(crate) priority: i32,
    chare: PhantomData<fn() -> T>,
}

/// Gives a proxy what can be derived only where the chare has it too.
macro_rules! address {
    ($proxy:ident) => {
        impl<T: Chare> Clone for $proxy<T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T: Chare> Copy for $proxy<T> {}

        impl<T: Chare> PartialEq for $proxy<T> {
            /// True when both lead to the same.
            fn eq(&self, other: &Self) -> bool {
                self.address() == other.address()
            }
        }

        impl<T: Chare> Eq for $proxy<T> {}

        impl<T: Chare> Hash for $proxy<T> {
            fn hash<H: Hasher>(&self, hasher: &mut H) {
                self.address().hash(hasher);
            }
        }
    };
}

address!(One);
address!(All);

impl<T: Chare> fmt::Debug for One<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}#{}:{:?}",
            T::NAME,
            self.collection,
            self.number
        )
    }
}

impl<T: Chare> fmt::Debug for All<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}#{}", T::NAME, self.collection)?;
        self.section
            .map_or(Ok(()), |section| write!(formatter, "/{section}"))
    }
}

impl<T: Chare> One<T> {
    /// What it leads to, with whatever priority.
    fn address(&self) -> (u32, u32, Number) {
        (self.system, self.collection, self.number)
    }

    #[inline]
    pub(crate) fn new(system: u32, collection: u32, number: Number) -> Self {
        Self {
            system,
            collection,
            number,
            priority: 0,
            chare: PhantomData,
        }
    }

    /// The same address, with messages of another priority: smaller ones are more urgent, the default is 0.
    ///
    /// Among the messages that have arrived at a worker, those with negative priorities run first, then those without any; those with positive
    /// ones come after all that were there before them. The order of messages between two elements holds only among those of the
    /// same priority. Cost: two allocations, and a second message to the worker itself.
    ///
    /// Messages for the element of a [`NodeGroup`](crate::NodeGroup) wait with the element, not at a worker: they have this order among
    /// themselves. A message for a seed travels without its priority, and messages that wait for the end of an `async` entry keep the order in
    /// which they came to the element.
    #[must_use]
    pub fn with_priority(self, priority: i32) -> Self {
        Self { priority, ..self }
    }

    /// Sends a message to an entry. Cost: some 15 ns to the own worker, the way of a pointer between two cores to others.
    #[inline]
    pub fn send<E: Entry<Chare = T>>(self, args: E::Args) {
        self.dispatch(Call::<E, Run, _>::new(args, NoReply));
    }

    /// Sends a message to an entry, and returns the reply to come.
    pub fn ask<E: Entry<Chare = T>>(self, args: E::Args) -> Reply<E::Output> {
        let (finish, reply) = self.reply(E::NAME);
        self.dispatch(Call::<E, Run, _>::new(args, finish));
        reply
    }

    /// Sends a message to an asynchronous entry.
    pub fn start<E: AsyncEntry<Chare = T>>(self, args: E::Args) {
        self.dispatch(Call::<E, Start, _>::new(args, NoReply));
    }

    /// Sends a message to an asynchronous entry, and returns the reply to come.
    pub fn ask_start<E: AsyncEntry<Chare = T>>(self, args: E::Args) -> Reply<E::Output> {
        let (finish, reply) = self.reply(E::NAME);
        self.dispatch(Call::<E, Start, _>::new(args, finish));
        reply
    }

    /// Sends a message of a kind that asynchronous entries wait for.
    pub fn file<M: Message<Chare = T>>(self, content: M::Args) {
        self.dispatch(Call::<M, File, _>::new(content, NoReply));
    }

    fn reply<O>(self, entry: &'static str) -> (Replier<O>, Reply<O>) {
        let what = What {
            chare: T::NAME,
            entry,
        };
        reply(self.system, Some((self.collection, self.number)), what)
    }

    #[inline]
    pub(crate) fn dispatch(self, parcel: impl Parcel<T>) {
        local::with(self.system, |local| match local {
            Some(local) => local.dispatch(self, parcel),
            None => outside::dispatch(self, Box::new(parcel)),
        });
    }
}

impl Local {
    /// Sends a parcel to where its element is.
    #[inline]
    fn dispatch<T: Chare>(&self, one: One<T>, parcel: impl Parcel<T>) {
        let part = self.part::<T>(one.collection);
        if let Some((collection, from)) = self.sender.get()
            && collection == one.collection
        {
            part.measure_traffic(from, one.number, size_of_val(&parcel));
        }
        let place = part.collection.directory.place(one.number);
        match place.worker_of(one.number, self.epoch.get()) {
            Some(worker) if one.priority == 0 && self.detours.borrow().is_empty() => {
                self.carry(worker, one, parcel);
            }
            _ => self.dispatch_slow(&part, one, Box::new(parcel)),
        }
    }

    /// Sends a parcel to a worker.
    #[inline]
    pub(crate) fn carry<T: Chare>(&self, worker: usize, one: One<T>, parcel: impl Parcel<T>) {
        let One {
            collection, number, ..
        } = one;
        self.post(worker, move |local| {
            parcel.deliver(local, &local.part(collection), number);
        });
    }
}

impl<T: Chare> All<T> {
    /// What it leads to.
    fn address(&self) -> (u32, u32, Option<u32>) {
        (self.system, self.collection, self.section)
    }

    pub(crate) fn new(system: u32, collection: u32, section: Option<u32>) -> Self {
        Self {
            system,
            collection,
            section,
            priority: 0,
            chare: PhantomData,
        }
    }

    /// The same address, with messages that are more urgent than others: smaller priorities are more urgent, the default is 0.
    ///
    /// Among the messages that have arrived at a worker, these run first, as those to [one](One::with_priority). Elements that move get them once.
    /// Those that are put in at about the same time may get them or not, whoever puts them in: an entry that contributes to reductions of an
    /// array that grows is not to be called like this. Cost: for each worker an allocation, and a second message to the worker itself.
    ///
    /// # Panics
    /// When `priority` is positive: elements would come and go while the message waits for its turn.
    #[must_use]
    #[track_caller]
    pub fn with_priority(self, priority: i32) -> Self {
        assert!(
            priority <= 0,
            "a message to all can be more urgent than others, not less: its priority is {priority}"
        );
        Self { priority, ..self }
    }

    /// The same address with a priority that has been looked at.
    pub(crate) fn at_priority(self, priority: i32) -> Self {
        Self { priority, ..self }
    }

    /// Sends a message to an entry of each element. Cost: a message for each worker, and a clone of the arguments for each element.
    pub fn send<E: Entry<Chare = T>>(self, args: E::Args)
    where
        E::Args: Clone,
    {
        self.spread(SpreadCall::<E, Run>::new(args));
    }

    /// Sends a message to an asynchronous entry of each element.
    pub fn start<E: AsyncEntry<Chare = T>>(self, args: E::Args)
    where
        E::Args: Clone,
    {
        self.spread(SpreadCall::<E, Start>::new(args));
    }

    /// Sends each element a message of a kind that asynchronous entries wait for.
    pub fn file<M: Message<Chare = T>>(self, content: M::Args)
    where
        M::Args: Clone,
    {
        self.spread(SpreadCall::<M, File>::new(content));
    }

    fn spread(self, spread: impl Spread<T>) {
        local::with(self.system, |local| match local {
            Some(local) => local.spread(self, spread),
            None => outside::spread(self, spread),
        });
    }
}
