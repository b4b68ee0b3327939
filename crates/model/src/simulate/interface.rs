//! A network interface: which thread receives a message, where its data is stored in memory, and
//! whether it goes into the cache.

mod cache;
mod connections;
mod translations;

pub use self::cache::{Injection, Placed};
pub use self::connections::{Connection, Segment};

pub(super) use self::cache::Cache;
pub(super) use self::translations::Translations;

use super::moment::Moment;

/// One direction of a link, which passes packets one after the other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gate {
    free: Moment,
    busy: Moment,
}

impl Gate {
    /// Passes a packet that is available from `now` on and takes `time`.
    ///
    /// Returns the time at which its first byte passes, and the time at which its last byte has
    /// passed.
    #[inline]
    pub(super) fn pass(&mut self, now: Moment, time: Moment) -> (Moment, Moment) {
        let first = self.free.max(now);
        self.free = first + time;
        self.busy += time;
        (first, self.free)
    }

    /// Returns the total time in which packets have passed.
    pub(super) const fn busy(&self) -> Moment {
        self.busy
    }
}
