//! Message-driven objects as the attribute describes them, and their addresses.

pub(crate) mod chare;
pub(crate) mod cx;
pub(crate) mod inbox;
pub(crate) mod proxy;
