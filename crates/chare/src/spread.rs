//! A message to many elements, each of which gets a parcel of its own.

use std::marker::PhantomData;

use crate::call::{Call, Kind, written};
use crate::engine::elements::parcel::{Parcel, ToAll};
use crate::engine::object::chare::{Chare, Method};
use crate::failure::Failure;

/// A message to many elements of `T`.
pub(crate) trait Spread<T: Chare>: Clone + Send + 'static {
    /// Returns the name of the entry, for error messages.
    fn name(&self) -> &'static str;

    /// Converts the message itself, for the last receiver.
    fn into_parcel(self) -> impl Parcel<T>;

    /// Serialises the message for other nodes: its handler id and its arguments. Returns `None` if
    /// the message came from another node.
    fn cross(&self) -> Option<Result<(u16, Vec<u8>), Failure>>;

    /// Clones the message for one receiver.
    #[inline]
    fn parcel(&self) -> impl Parcel<T> {
        self.clone().into_parcel()
    }
}

/// A call of a method of each element.
pub(crate) struct SpreadCall<M: Method, K> {
    args: M::Args,
    kind: PhantomData<fn() -> K>,
}

impl<M: Method, K> SpreadCall<M, K> {
    pub(crate) fn new(args: M::Args) -> Self {
        Self {
            args,
            kind: PhantomData,
        }
    }
}

impl<M: Method<Args: Clone>, K> Clone for SpreadCall<M, K> {
    fn clone(&self) -> Self {
        Self::new(self.args.clone())
    }
}

impl<M: Method<Args: Clone>, K: Kind<M>> Spread<M::Chare> for SpreadCall<M, K> {
    fn name(&self) -> &'static str {
        M::NAME
    }

    fn cross(&self) -> Option<Result<(u16, Vec<u8>), Failure>> {
        Some(written::<M>(&self.args))
    }

    #[inline]
    fn into_parcel(self) -> impl Parcel<M::Chare> {
        Call::<M, K, _>::new(self.args, ToAll)
    }
}
