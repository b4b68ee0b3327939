//! The serialisation of reducers: those of the library, and those that a program names in its
//! set-up.
//!
//! Only the contributing code knows a reducer's type. Shares of other nodes carry the hash of the
//! reducer's name, which determines how to decode them.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use raddle_sync::prim::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::locked;
use crate::codec::{BySerde as _, Crossing, CrossingError, best, reading};
use crate::failure::Failure;
use crate::state::merged::{Merged, Output};
use raddle_collections::reduce::{
    self, Any as AnyOf, BitAnd, BitOr, BitXor, Concat, Count, Gather, Max, MaxAt, Min, MinAt,
    Product, Reducer, Sum, SumExact, Xor,
};

/// Type-erased serialisation of the values of one type.
struct Kind<V: ?Sized> {
    name: &'static str,
    number: u64,
    write: Box<Write>,
    read: Box<Read<V>>,
}

type Write = dyn Fn(&dyn Any) -> Result<Vec<u8>, CrossingError> + Send + Sync;
type Read<V> = dyn Fn(&[u8]) -> Result<Box<V>, CrossingError> + Send + Sync;

impl<V: ?Sized> Kind<V> {
    fn of<T: 'static>(crossing: Crossing<T>, boxed: fn(T) -> Box<V>) -> Self
    where
        V: 'static,
    {
        let name = type_name::<T>();
        // The number is the same at all nodes, because they run the same program.
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        Self {
            name,
            number: hasher.finish(),
            write: Box::new(move |value| {
                crossing.bytes_of(value.downcast_ref().expect("the value is of this kind"))
            }),
            read: Box::new(move |mut bytes| crossing.read(&mut bytes).map(boxed)),
        }
    }
}

/// The kinds by their types and by their numbers.
struct Kinds<V: ?Sized> {
    by_type: HashMap<TypeId, Arc<Kind<V>>>,
    by_number: HashMap<u64, Arc<Kind<V>>>,
}

impl<V: ?Sized> Default for Kinds<V> {
    fn default() -> Self {
        Self {
            by_type: HashMap::new(),
            by_number: HashMap::new(),
        }
    }
}

impl<V: ?Sized> Kinds<V> {
    fn add<T: 'static>(&mut self, kind: Kind<V>) {
        let kind = Arc::new(kind);
        self.by_number.insert(kind.number, Arc::clone(&kind));
        self.by_type.insert(TypeId::of::<T>(), kind);
    }
}

#[derive(Default)]
struct Known {
    merged: Kinds<dyn Merged>,
    outputs: Kinds<dyn Output>,
}

/// The reducers that can cross nodes.
pub(crate) struct Reducers(Mutex<Known>);

impl fmt::Debug for Reducers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = locked(&self.0).merged.by_type.len();
        write!(formatter, "Reducers({count})")
    }
}

/// Adds the reducers of these types of numbers, and of vectors of them.
macro_rules! for_numbers {
    ($known:ident: $($number:ty)+) => {$(
        for_numbers!(@ $known, $number, Sum Product Min Max);
        for_numbers!(@alone $known, $number, MinAt MaxAt Gather Concat);
    )+};
    (@ $known:ident, $number:ty, $($reducer:ident)+) => {$(
        $known.add::<$reducer<$number>>();
        $known.add_by::<$reducer<Vec<$number>>>(
            best!($reducer<Vec<$number>>),
            best!(<$reducer<Vec<$number>> as Reducer>::Output),
        );
    )+};
    (@alone $known:ident, $number:ty, $($reducer:ident)+) => {$(
        $known.add::<$reducer<$number>>();
    )+};
}

macro_rules! for_bits {
    ($known:ident: $($bits:ty)+) => {$(
        for_numbers!(@ $known, $bits, BitAnd BitOr BitXor);
    )+};
}

impl Reducers {
    /// Creates a table with the reducers of the library.
    pub(crate) fn new() -> Self {
        let mut known = Known::default();
        for_numbers!(known: u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64);
        for_bits!(known: u8 u16 u32 u64 usize i8 i16 i32 i64 isize bool);
        known.add::<()>();
        known.add::<reduce::All>();
        known.add::<AnyOf>();
        known.add::<Xor>();
        known.add::<Count>();
        known.add::<SumExact<f64>>();
        known.add::<SumExact<f32>>();
        Self(Mutex::new(known))
    }

    /// Adds a reducer.
    pub(crate) fn add<R>(&self)
    where
        R: Reducer<Output: Serialize + DeserializeOwned> + Serialize + DeserializeOwned,
    {
        locked(&self.0).add::<R>();
    }

    /// Serialises the merged contributions of a node's elements.
    ///
    /// # Errors
    /// If the reducer cannot cross nodes.
    pub(crate) fn write(&self, merged: &dyn Merged) -> Result<(u64, Vec<u8>), Failure> {
        let value = merged.as_any_ref();
        let kind = locked(&self.0)
            .merged
            .by_type
            .get(&value.type_id())
            .cloned();
        write(kind, value, || merged.name().to_string())
    }

    /// Serialises the result of a reduction.
    ///
    /// # Errors
    /// Those of [`write`](Self::write).
    pub(crate) fn write_output(&self, output: &dyn Output) -> Result<(u64, Vec<u8>), Failure> {
        let value: &dyn Any = output;
        let kind = locked(&self.0)
            .outputs
            .by_type
            .get(&value.type_id())
            .cloned();
        write(kind, value, || output.type_name().to_owned())
    }

    /// Decodes the merged contributions of another node.
    ///
    /// # Errors
    /// If they cannot be decoded.
    pub(crate) fn read_merged(
        &self,
        system: u32,
        number: u64,
        bytes: &[u8],
    ) -> Result<Box<dyn Merged>, Failure> {
        let kind = locked(&self.0).merged.by_number.get(&number).cloned();
        let kind = kind.ok_or_else(|| senseless("a reducer"))?;
        reading(system, || (kind.read)(bytes)).map_err(|error| unread(kind.name, error))
    }

    /// Decodes the result of a reduction on another node.
    ///
    /// # Errors
    /// If it cannot be decoded.
    pub(crate) fn read_output(
        &self,
        system: u32,
        number: u64,
        bytes: &[u8],
    ) -> Result<Box<dyn Output>, Failure> {
        let kind = locked(&self.0).outputs.by_number.get(&number).cloned();
        let kind = kind.ok_or_else(|| senseless("a result"))?;
        reading(system, || (kind.read)(bytes)).map_err(|error| unread(kind.name, error))
    }
}

impl Known {
    fn add<R>(&mut self)
    where
        R: Reducer<Output: Serialize + DeserializeOwned> + Serialize + DeserializeOwned,
    {
        self.add_by::<R>(Crossing::new(), Crossing::new());
    }

    fn add_by<R: Reducer>(&mut self, merged: Crossing<R>, output: Crossing<R::Output>) {
        let merged = Kind::of(merged, |value| Box::new(value) as Box<dyn Merged>);
        self.merged.add::<R>(merged);
        let output = Kind::of(output, |value| Box::new(value) as Box<dyn Output>);
        self.outputs.add::<R::Output>(output);
    }
}

fn write<V: ?Sized>(
    kind: Option<Arc<Kind<V>>>,
    value: &dyn Any,
    name: impl Fn() -> String,
) -> Result<(u64, Vec<u8>), Failure> {
    let kind = kind.ok_or_else(|| {
        Failure::new(format!(
            "{} cannot cross nodes: add it in the set-up, with `reducer::<…>()`",
            name()
        ))
    })?;
    let bytes = (kind.write)(value)
        .map_err(|error| Failure::new(format!("{} cannot cross nodes: {error}", name())))?;
    Ok((kind.number, bytes))
}

fn senseless(what: &str) -> Failure {
    Failure::new(format!(
        "another node has sent {what} of an unknown type: \
         the nodes run different programs, or their set-ups name different reducers"
    ))
}

fn unread(name: &str, error: CrossingError) -> Failure {
    Failure::new(format!(
        "a {name} from another node cannot be read: {error}"
    ))
}
