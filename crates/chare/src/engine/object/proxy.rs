//! Proxies: addresses of elements, small and copied freely, from which messages are sent.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use crate::address::number::Number;
use crate::engine::object::chare::Chare;

/// The address of an element: what the attribute wraps into a type with a method for each entry.
///
/// An address has 24 bytes and refers to nothing: a proxy outlives its element. Sending to an
/// element that has ended is a [`Failure`](crate::Failure).
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

/// Implements traits of a proxy that a derive would implement only if the chare has them too.
macro_rules! address {
    ($proxy:ident) => {
        impl<T: Chare> Clone for $proxy<T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T: Chare> Copy for $proxy<T> {}

        impl<T: Chare> PartialEq for $proxy<T> {
            /// Returns true if both lead to the same elements.
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
    /// Returns the address without the priority.
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

    /// Returns the same address with another priority. Smaller numbers are more urgent; the default
    /// is 0.
    ///
    /// Among the messages that have arrived at a worker, those with negative priorities run first,
    /// then those without a priority. Messages with positive priorities run after all messages that
    /// were there before them. The order of messages between two elements holds only among messages
    /// of the same priority. Cost: two allocations, and a second message to the worker itself.
    ///
    /// Messages for the element of a [`NodeGroup`](crate::NodeGroup) wait with the element, not at
    /// a worker: they have this order among themselves. A message for a seed travels without its
    /// priority. Messages that wait for the end of an `async` entry keep the order in which they
    /// reached the element.
    #[must_use]
    pub fn with_priority(self, priority: i32) -> Self {
        Self { priority, ..self }
    }
}

impl<T: Chare> All<T> {
    /// Returns the address without the priority.
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

    /// Returns the same address with a more urgent priority. Smaller numbers are more urgent; the
    /// default is 0.
    ///
    /// Among the messages that have arrived at a worker, these run first, as messages to [one
    /// element](One::with_priority) do. Elements that migrate get each message once. Elements that
    /// are inserted at about the same time may or may not get the message, whatever inserts them.
    /// So do not call an entry that contributes to reductions of a growing array like this. Cost:
    /// for each worker an allocation, and a second message to the worker itself.
    ///
    /// # Panics
    /// If `priority` is positive: elements would come and go while the message waits for its turn.
    #[must_use]
    #[track_caller]
    pub fn with_priority(self, priority: i32) -> Self {
        assert!(
            priority <= 0,
            "a message to all can be more urgent than others, not less: its priority is {priority}"
        );
        Self { priority, ..self }
    }

    /// Returns the same address with a priority that has been checked.
    pub(crate) fn at_priority(self, priority: i32) -> Self {
        Self { priority, ..self }
    }
}
