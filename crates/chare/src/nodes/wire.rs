//! What crosses nodes, as bytes: postcard's format, and whose proxies are read.
//!
//! A proxy names its collection by the number that all nodes know it by, and becomes one of the system that reads it: a thread says which that is while
//! it reads.

use std::cell::Cell;
use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

raddle_sync::prim::thread_local! {
    static READER: Cell<Option<u32>> = const { Cell::new(None) };
}

/// How values of a type are written and read.
pub struct Crossing<T> {
    pub(crate) write: fn(&T) -> Result<Vec<u8>, postcard::Error>,
    pub(crate) read: fn(&[u8]) -> Result<T, postcard::Error>,
}

impl<T> Clone for Crossing<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Crossing<T> {}

impl<T> fmt::Debug for Crossing<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Crossing<{}>", std::any::type_name::<T>())
    }
}

impl<T: Serialize + DeserializeOwned> Crossing<T> {
    /// By what serde says of the type.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            write: postcard::to_allocvec::<T>,
            read: |bytes| postcard::from_bytes(bytes),
        }
    }
}

impl<T: Serialize + DeserializeOwned> Default for Crossing<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// How messages for an entry cross nodes: by which door they come in, and what they carry there and back.
pub struct Across<A, O> {
    pub(crate) door: u16,
    pub(crate) args: Crossing<A>,
    pub(crate) output: Crossing<O>,
}

impl<A, O> fmt::Debug for Across<A, O> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Across({})", self.door)
    }
}

impl<A, O> Across<A, O>
where
    A: Serialize + DeserializeOwned,
    O: Serialize + DeserializeOwned,
{
    /// By the door with this number.
    #[must_use]
    pub const fn new(door: u16) -> Self {
        Self {
            door,
            args: Crossing::new(),
            output: Crossing::new(),
        }
    }
}

/// Calls what reads for `system`.
pub(crate) fn reading<R>(system: u32, read: impl FnOnce() -> R) -> R {
    /// Also where a type's own code panics.
    struct Before(Option<u32>);

    impl Drop for Before {
        fn drop(&mut self) {
            READER.with(|reader| reader.set(self.0));
        }
    }

    let _before = Before(READER.with(|reader| reader.replace(Some(system))));
    read()
}

/// The system for which this thread reads.
pub(crate) fn reader() -> Option<u32> {
    READER.with(Cell::get)
}
