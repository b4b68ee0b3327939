//! The serialisation of proxies: the number by which all nodes know the collection, and the number
//! of the element.

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::address::number::Number;
use crate::array::Array;
use crate::codec::reader;
use crate::engine::elements::collection::Collection;
use crate::engine::object::chare::Chare;
use crate::engine::object::proxy::{All, One};
use crate::engine::system::System;
use crate::engine::system::registry;
use crate::remote;

/// Returns the number by which all nodes know a collection. Fails for a collection of this node
/// alone.
fn wide<T: Chare, E: serde::ser::Error>(system: u32, collection: u32) -> Result<u32, E> {
    let found = registry::find(system).and_then(|system: std::sync::Arc<System>| {
        Collection::<T>::find(&system, collection)?.wide()
    });
    found.ok_or_else(|| {
        E::custom(format!(
            "the proxy of a {} that belongs to one node alone cannot go to another node",
            T::NAME
        ))
    })
}

/// Returns the system for which this thread reads, and the local number of the collection `wide`.
fn own<T: Chare, E: serde::de::Error>(wide: u32) -> Result<(u32, u32), E> {
    let outside = || E::custom("proxies can be read only in messages between nodes");
    let system = reader().ok_or_else(outside)?;
    let found = registry::find(system).and_then(|system: std::sync::Arc<System>| {
        let id = remote::away(&system)?.collection(wide)?.id();
        Collection::<T>::find(&system, id).map(|_| id)
    });
    let found = found.ok_or_else(|| {
        E::custom(format!(
            "the proxy of a {} of collection {wide}, which this node does not have",
            T::NAME
        ))
    });
    Ok((system, found?))
}

impl<T: Chare> Serialize for One<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let collection = wide::<T, S::Error>(self.system, self.collection)?;
        (collection, self.number.bits(), self.priority).serialize(serializer)
    }
}

impl<'de, T: Chare> Deserialize<'de> for One<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (collection, number, priority) = <(u32, u64, i32)>::deserialize(deserializer)?;
        let (system, collection) = own::<T, D::Error>(collection)?;
        let one = Self::new(system, collection, Number::from_bits(number));
        Ok(one.with_priority(priority))
    }
}

impl<T: Chare> Serialize for All<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.section.is_some() {
            let text = "the proxy of a section cannot go to another node";
            return Err(S::Error::custom(text));
        }
        let collection = wide::<T, S::Error>(self.system, self.collection)?;
        (collection, self.priority).serialize(serializer)
    }
}

impl<'de, T: Chare> Deserialize<'de> for All<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (collection, priority) = <(u32, i32)>::deserialize(deserializer)?;
        let (system, collection) = own::<T, D::Error>(collection)?;
        if priority > 0 {
            return Err(D::Error::custom(
                "a proxy of all elements with a positive priority",
            ));
        }
        Ok(Self::new(system, collection, None).at_priority(priority))
    }
}

impl<T: Chare> Serialize for Array<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wide::<T, S::Error>(self.system, self.collection)?.serialize(serializer)
    }
}

impl<'de, T: Chare> Deserialize<'de> for Array<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (system, collection) = own::<T, D::Error>(u32::deserialize(deserializer)?)?;
        Ok(Self::new(system, collection))
    }
}
