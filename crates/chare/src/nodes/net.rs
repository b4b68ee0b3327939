//! The network: the real one, or that of the seeded schedules.

#[cfg(not(shuttle))]
pub(super) use raddle_net::*;

#[cfg(shuttle)]
pub(super) use crate::model::net::*;
