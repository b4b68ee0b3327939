//! Message-driven objects as the attribute describes them, and messages on their way to them.

pub(crate) mod chare;
pub(crate) mod cx;
pub(crate) mod handler;
pub(crate) mod inbox;
pub(crate) mod parcel;
pub(crate) mod proxy;
