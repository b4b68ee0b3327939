//! Buffers of plain numbers, which are sent as raw bytes: one length, and then all bytes at once.
//!
//! serde sees a vector as a sequence of elements, and its formats write them one after the other,
//! each number in as many bytes as it needs. That suits few values, and is slow for a buffer.
//! Generic Rust code cannot ask whether the elements of a vector are numbers, but code with a
//! concrete type can. So the attribute `#[chare(nodes)]` writes and reads every argument, reply and
//! message that is a [`Buffer`] as raw bytes, without any annotation. The same applies to
//! contributions of vectors of numbers to the reducers of the library.
//!
//! For a buffer *within* another type, that type's `Serialize` asks for raw bytes with
//! `#[serde(with = …)]`:
//! ```
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize)]
//! struct Block {
//!     row: usize,
//!     #[serde(with = "raddle_chare::nodes::plain")]
//!     values: Vec<f64>,
//! }
//! # let block = Block { row: 3, values: vec![0.5; 10] };
//! # let text = serde_json::to_string(&block).unwrap();
//! # assert_eq!(serde_json::from_str::<Block>(&text).unwrap().values, block.values);
//! ```
//! The bytes are little-endian on all machines; a big-endian machine swaps them, so that
//! checkpoints are portable. `usize` and `isize` are not plain numbers: their sizes differ between
//! machines, so serde serialises them.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use bytemuck::Pod;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use raddle_collections::reduce::{BitAnd, BitOr, BitXor, Max, Min, Product, Sum};

/// A number that is sent as raw bytes.
pub trait Plain: sealed::Number {}

/// A sequence of plain numbers, and nothing else.
pub trait Buffer: Sized {
    /// The type of the numbers.
    type Number: Plain;

    /// Returns all numbers.
    fn numbers(&self) -> &[Self::Number];

    /// Creates the buffer from these numbers.
    fn of(numbers: Vec<Self::Number>) -> Self;
}

mod sealed {
    /// A type for which every sequence of bytes of its size is a valid number. There is no padding
    /// between the numbers of a slice.
    pub trait Number: super::Pod {}
}

macro_rules! plain {
    ($($number:ty)+) => {$(
        impl sealed::Number for $number {}
        impl Plain for $number {}
    )+};
}

plain!(u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 f32 f64);

macro_rules! buffers {
    ($($buffer:ty)+) => {$(
        impl<N: Plain> Buffer for $buffer {
            type Number = N;

            fn numbers(&self) -> &[N] {
                self
            }

            fn of(numbers: Vec<N>) -> Self {
                numbers.into()
            }
        }
    )+};
}

buffers!(Vec<N> Box<[N]> Arc<[N]>);

macro_rules! contributions {
    ($($reducer:ident)+) => {$(
        impl<N: Plain> Buffer for $reducer<Vec<N>> {
            type Number = N;

            fn numbers(&self) -> &[N] {
                &self.0
            }

            fn of(numbers: Vec<N>) -> Self {
                Self(numbers)
            }
        }
    )+};
}

contributions!(Sum Product Min Max BitAnd BitOr BitXor);

/// Serialises a buffer: for `#[serde(with = …)]`.
///
/// # Errors
/// The format's.
pub fn serialize<B: Buffer, S: Serializer>(buffer: &B, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(&to_little_endian::<B::Number>(bytemuck::cast_slice(
        buffer.numbers(),
    )))
}

/// Deserialises a buffer: for `#[serde(with = …)]`. The numbers are copied once, and need no
/// alignment.
///
/// # Errors
/// If the number of bytes is not a multiple of a number's size, and the errors of the format.
pub fn deserialize<'de, B: Buffer, D: Deserializer<'de>>(deserializer: D) -> Result<B, D::Error> {
    deserializer
        .deserialize_bytes(Bytes(PhantomData))
        .map(B::of)
}

/// A buffer that is a whole value.
#[derive(Serialize, Deserialize)]
#[serde(bound = "B: Buffer")]
pub(crate) struct Whole<B>(#[serde(with = "self")] pub(crate) B);

/// A borrowed buffer that is a whole value.
pub(crate) struct WholeOf<'a, B>(pub(crate) &'a B);

impl<B: Buffer> Serialize for WholeOf<'_, B> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(self.0, serializer)
    }
}

/// A serde visitor that converts bytes into numbers.
struct Bytes<N>(PhantomData<N>);

impl<'de, N: Plain> Visitor<'de> for Bytes<N> {
    type Value = Vec<N>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the bytes of numbers of {} each", size_of::<N>())
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<N>, E> {
        let bytes = to_little_endian::<N>(bytes);
        if !bytes.len().is_multiple_of(size_of::<N>()) {
            return Err(E::invalid_length(bytes.len(), &self));
        }
        // Copied once, without zeros before. Bytes need no alignment; other numbers may lack it.
        Ok(match bytemuck::try_cast_slice(&bytes) {
            Ok(numbers) => numbers.to_vec(),
            Err(_) => {
                let numbers = bytes.chunks_exact(size_of::<N>());
                numbers.map(bytemuck::pod_read_unaligned).collect()
            }
        })
    }

    /// Reads from a format without bytes, which writes them as numbers.
    fn visit_seq<A: SeqAccess<'de>>(self, mut bytes: A) -> Result<Vec<N>, A::Error> {
        let mut all = Vec::<u8>::new();
        while let Some(byte) = bytes.next_element()? {
            all.push(byte);
        }
        self.visit_bytes(&all)
    }
}

/// Swaps the bytes of each number on big-endian machines.
fn to_little_endian<N>(bytes: &[u8]) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") {
        return Cow::Borrowed(bytes);
    }
    Cow::Owned(turned_around(bytes, size_of::<N>()))
}

fn turned_around(bytes: &[u8], each: usize) -> Vec<u8> {
    let numbers = bytes.chunks(each);
    numbers
        .flat_map(|number| number.iter().rev())
        .copied()
        .collect()
}

#[cfg(test)]
mod tests;
