//! A network interface: who may write where, where that is in memory, and whether it goes into the cache.

mod cache;
mod connections;
mod translations;

pub use self::cache::{Injection, Placed};
pub use self::connections::{Connection, Segment};

pub(super) use self::cache::Cache;
pub(super) use self::translations::Translations;

use super::moment::Moment;

/// One direction of a link: packets one after the other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gate {
    free: Moment,
    busy: Moment,
}

impl Gate {
    /// Takes a packet that is there from `now` on and needs so long; returns when its first byte passes, and when its last one has.
    #[inline]
    pub(super) fn pass(&mut self, now: Moment, time: Moment) -> (Moment, Moment) {
        let first = self.free.max(now);
        self.free = first + time;
        self.busy += time;
        (first, self.free)
    }

    /// How long packets have passed altogether.
    pub(super) const fn busy(&self) -> Moment {
        self.busy
    }
}
