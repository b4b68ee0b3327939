//! The part of a program that all nodes run before the main part begins.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use raddle_collections::reduce::Reducer;
use raddle_runtime::Runtime;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::listener::Listener;
use crate::address::index::Index;
use crate::array::{Array, ArrayOptions, Plan};
use crate::checkpoint::{CheckpointError, restore};
use crate::codec::reading;
use crate::engine::handler::{CrossesNodes, Handlers};
use crate::engine::system::System;
use crate::remote::{self, WireMessage, out};

/// The part of a program that all nodes run before the main part begins.
pub struct Setup<'a> {
    pub(super) runtime: &'a Runtime,
    pub(super) system: &'a Arc<System>,
    pub(super) listener: Option<&'a Listener>,
}

impl fmt::Debug for Setup<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Setup({} of {})", self.node(), self.node_count())
    }
}

impl<'a> Setup<'a> {
    /// Returns the runtime of this node.
    pub fn runtime(&self) -> &'a Runtime {
        self.runtime
    }

    /// Returns the number of this node.
    pub fn node(&self) -> usize {
        remote::away(self.system).map_or(0, |away| away.me.into())
    }

    /// Returns the number of nodes.
    pub fn node_count(&self) -> usize {
        let away = remote::away(self.system);
        away.map_or(1, |away| away.node_count.into())
    }

    /// Creates an array over all nodes: each node constructs its own elements.
    ///
    /// # Panics
    /// As for [`Chares::array`](crate::Chares::array).
    pub fn array<T: CrossesNodes<Index: Index>>(
        &self,
        shape: <T::Index as Index>::Shape,
        make: impl Fn(T::Index) -> T + Send + Sync + 'static,
    ) -> Array<T> {
        self.array_with(ArrayOptions::new(shape), make)
    }

    /// Creates an array over all nodes, with options. The workers of all nodes are numbered
    /// consecutively, starting with those of the first node.
    ///
    /// # Panics
    /// As for [`Chares::array_with`](crate::Chares::array_with).
    pub fn array_with<T: CrossesNodes<Index: Index>>(
        &self,
        options: ArrayOptions<T::Index>,
        make: impl Fn(T::Index) -> T + Send + Sync + 'static,
    ) -> Array<T> {
        Plan::new(self.system, options, Some(Handlers::new())).make(self.system, make)
    }

    /// Creates an array over all nodes from a [checkpoint](Array::checkpoint) in `folder`. The
    /// numbers of workers and nodes may differ from those that wrote it.
    ///
    /// # Errors
    /// [`CheckpointError`].
    pub fn restore<T: CrossesNodes<Index: Index>>(
        &self,
        folder: impl AsRef<Path>,
    ) -> Result<Array<T>, CheckpointError> {
        restore(
            self.system,
            folder.as_ref(),
            Some(Handlers::new()),
            |options| options,
        )
    }

    /// Returns a value that is the same at all nodes: the first node computes it with `make` and
    /// sends it to the others.
    ///
    /// # Panics
    /// If the value cannot be serialised or deserialised, or a node has ended.
    #[track_caller]
    pub fn readonly<V: Serialize + DeserializeOwned>(&self, make: impl FnOnce() -> V) -> V {
        let Some(listener) = self.listener else {
            return make();
        };
        if self.node() == 0 {
            let value = make();
            match postcard::to_allocvec(&value) {
                Ok(bytes) => out::send_to_others_with(self.system, &WireMessage::Readonly, bytes),
                Err(error) => panic!("a read-only value cannot cross nodes: {error}"),
            }
            return value;
        }
        let bytes = match listener.wait_for_readonly() {
            Ok(bytes) => bytes,
            Err(error) => panic!("a read-only value has not arrived: {error}"),
        };
        match reading(self.system.id(), || postcard::from_bytes(&bytes)) {
            Ok(value) => value,
            Err(error) => panic!("a read-only value cannot be read: {error}"),
        }
    }

    /// Lets elements of arrays over nodes contribute `R`, a reducer that is not in the library.
    pub fn reducer<R>(&self)
    where
        R: Reducer<Output: Serialize + DeserializeOwned> + Serialize + DeserializeOwned,
    {
        if let Some(away) = remote::away(self.system) {
            away.reducers.add::<R>();
        }
    }
}
