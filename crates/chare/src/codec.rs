//! Serialisation of values that cross nodes: postcard's format, and the context for proxies.
//!
//! A serialised proxy names its collection by the number that all nodes know. It becomes a proxy of
//! the system that reads it: a thread-local variable names that system while the thread reads.

mod packed;
pub mod plain;

use std::cell::Cell;
use std::fmt;

use postcard::ser_flavors::Flavor;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub(crate) use packed::Packed;
pub(crate) use plain::Whole;
use plain::{Buffer, WholeOf};

/// Extra capacity for data appended to a value: a few more values and the header of a wire message.
/// It avoids reallocating a long value for a short suffix.
const EXTRA: usize = 96;

raddle_sync::prim::thread_local! {
    static READER: Cell<Option<u32>> = const { Cell::new(None) };
}

/// The reason why a value cannot be serialised, or bytes cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CrossingError(#[from] postcard::Error);

/// The serialisation of values of a type: a pair of functions.
pub struct Crossing<T> {
    write: Write<T>,
    read: Read<T>,
}

type Write<T> = fn(&T, &mut Vec<u8>) -> Result<(), CrossingError>;
type Read<T> = fn(&mut &[u8]) -> Result<T, CrossingError>;

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

impl<T> Crossing<T> {
    /// Creates the serialisation with these functions: one appends a value's bytes, the other takes
    /// them off the front.
    #[must_use]
    pub const fn by(write: Write<T>, read: Read<T>) -> Self {
        Self { write, read }
    }

    /// Appends a value's bytes to `to`.
    ///
    /// # Errors
    /// [`CrossingError`].
    pub fn write(self, value: &T, to: &mut Vec<u8>) -> Result<(), CrossingError> {
        (self.write)(value, to)
    }

    /// Takes a value off the front of `from`.
    ///
    /// # Errors
    /// [`CrossingError`] if the bytes are not those of a value.
    pub fn read(self, from: &mut &[u8]) -> Result<T, CrossingError> {
        (self.read)(from)
    }

    /// Returns the bytes of a value.
    pub(crate) fn bytes_of(self, value: &T) -> Result<Vec<u8>, CrossingError> {
        let mut bytes = Vec::with_capacity(EXTRA);
        self.write(value, &mut bytes)?;
        Ok(bytes)
    }
}

impl<T> Crossing<T> {
    /// Creates the serialisation with the type's serde implementation.
    #[must_use]
    // The bounds are on the function, not on the block, and name `Deserialize` itself. So the
    // compiler names the derive that a type lacks.
    pub const fn new() -> Self
    where
        T: Serialize + for<'de> Deserialize<'de>,
    {
        Self::by(write, |from| read(from))
    }
}

impl<T: Serialize + DeserializeOwned> Default for Crossing<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// The best serialisation of a concrete type. For buffers, the compiler prefers these inherent
/// functions; for all other types, it takes those of [`BySerde`].
impl<B: Buffer> Crossing<B> {
    /// Appends the numbers as raw bytes.
    ///
    /// # Errors
    /// [`CrossingError`].
    pub fn write_best(buffer: &B, to: &mut Vec<u8>) -> Result<(), CrossingError> {
        write(&WholeOf(buffer), to)
    }

    /// Takes numbers that were written as raw bytes off the front.
    ///
    /// # Errors
    /// [`CrossingError`].
    pub fn read_best(from: &mut &[u8]) -> Result<B, CrossingError> {
        read::<Whole<B>>(from).map(|whole| whole.0)
    }
}

/// The serialisation of every type that implements the serde traits. With this trait in scope,
/// `Crossing::<T>::write_best` and `read_best` are the best serialisation of a concrete type `T`.
/// For a type parameter `T`, they are always those of this trait.
///
/// The bounds are on the functions. So the compiler takes these functions for each type that is not
/// a buffer, and then reports the traits that such a type lacks.
pub trait BySerde<T> {
    /// Appends a value in its serde format.
    ///
    /// # Errors
    /// [`CrossingError`].
    fn write_best(value: &T, to: &mut Vec<u8>) -> Result<(), CrossingError>
    where
        T: Serialize;

    /// Takes a value in its serde format off the front.
    ///
    /// # Errors
    /// [`CrossingError`].
    fn read_best(from: &mut &[u8]) -> Result<T, CrossingError>
    where
        T: for<'de> Deserialize<'de>;
}

impl<T> BySerde<T> for Crossing<T> {
    fn write_best(value: &T, to: &mut Vec<u8>) -> Result<(), CrossingError>
    where
        T: Serialize,
    {
        write(value, to)
    }

    fn read_best(from: &mut &[u8]) -> Result<T, CrossingError>
    where
        T: for<'de> Deserialize<'de>,
    {
        read(from)
    }
}

/// The best serialisation of a concrete type: see [`BySerde`].
macro_rules! best {
    ($of:ty) => {
        $crate::codec::Crossing::<$of>::by(
            |value, to| $crate::codec::Crossing::<$of>::write_best(value, to),
            |from| $crate::codec::Crossing::<$of>::read_best(from),
        )
    };
}

pub(crate) use best;

/// Appends the bytes of a value, in its serde format.
pub(crate) fn write<T: Serialize>(value: &T, to: &mut Vec<u8>) -> Result<(), CrossingError> {
    postcard::serialize_with_flavor(value, Behind(to))?;
    Ok(())
}

/// Takes a value off the front, in its serde format.
pub(crate) fn read<'de, T: Deserialize<'de>>(from: &mut &'de [u8]) -> Result<T, CrossingError> {
    let (value, rest) = postcard::take_from_bytes(from)?;
    *from = rest;
    Ok(value)
}

/// A postcard output that appends to a vector.
struct Behind<'a>(&'a mut Vec<u8>);

impl Flavor for Behind<'_> {
    type Output = ();

    #[inline]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.reserve(bytes.len() + EXTRA);
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

/// The serialisation of messages for an entry: the handler id, the arguments and the reply.
pub struct Across<A, O> {
    pub(crate) handler: u16,
    pub(crate) args: Crossing<A>,
    pub(crate) output: Crossing<O>,
}

impl<A, O> fmt::Debug for Across<A, O> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Across({})", self.handler)
    }
}

impl<A, O> Across<A, O> {
    /// Creates the serialisation of messages for the handler with this number.
    #[must_use]
    pub const fn new(handler: u16, args: Crossing<A>, output: Crossing<O>) -> Self {
        Self {
            handler,
            args,
            output,
        }
    }
}

/// Calls `read`, and makes the proxies that it reads belong to `system`.
pub(crate) fn reading<R>(system: u32, read: impl FnOnce() -> R) -> R {
    /// Restores the previous reader, even if the type's code panics.
    struct Before(Option<u32>);

    impl Drop for Before {
        fn drop(&mut self) {
            READER.with(|reader| reader.set(self.0));
        }
    }

    let _before = Before(READER.with(|reader| reader.replace(Some(system))));
    read()
}

/// Returns the system for which this thread reads.
pub(crate) fn reader() -> Option<u32> {
    READER.with(Cell::get)
}
