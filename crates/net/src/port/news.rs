//! A view of what has arrived at a port, which another thread can check.

use std::sync::Arc;

use raddle_sync::lane::LanePeek;
use raddle_sync::prim::Acquire;

use crate::mapped::WORDS;
use crate::shared::Shared;

/// A view of a port at one time. It is out of date after the next
/// [`Port::poll`](super::Port::poll).
#[derive(Debug)]
pub(super) struct News {
    pub(super) shared: Arc<Shared>,
    pub(super) index: u16,
    pub(super) lanes: Vec<LanePeek>,
    pub(super) known: [u64; WORDS],
    pub(super) changes: u32,
}

impl News {
    /// Returns true if something has arrived since.
    pub(super) fn has_news(&self) -> bool {
        self.lanes.iter().any(LanePeek::has_message)
            // ORDERING(N1): `poll` looks at lanes and states afterwards.
            || self.shared.changes() != self.changes
            || first_unknown(&self.shared, self.index, &self.known).is_some()
    }
}

/// Returns the index of a word with the bit of a port that has begun to send to port `index`, and
/// is not `known` yet.
#[inline]
pub(super) fn first_unknown(shared: &Shared, index: u16, known: &[u64; WORDS]) -> Option<usize> {
    let words = shared.shape.port_count().div_ceil(64);
    let openings = &shared.own.openings(index)[..words];
    openings.iter().zip(known).position(|(word, known)| {
        // ORDERING(N2): Acquire, the lane is used afterwards.
        word.load(Acquire) & !known != 0
    })
}
