//! The listening thread of a node by MPI, of which nothing tells it that something has come: it looks, and naps.
//!
//! A nap is short while something comes, or when somebody has just gone to sleep, and then each is twice as long as the one before. So what comes
//! after a silence is found late by about as long as that had lasted, by a millisecond at most, and a silent node costs next to nothing.

use std::os::fd::AsFd;
use std::time::Duration;

use raddle_sync::prim::Acquire;

use super::{LEAVING, Shared};
use crate::control;
use crate::transport::Ranks;

/// The first nap.
const NAP_MIN: Duration = Duration::from_micros(20);
/// The longest.
const NAP_MAX: Duration = Duration::from_millis(1);

impl Shared {
    /// Hears what other nodes tell until the node leaves, and pumps while somebody wants that.
    pub(super) fn listen_between_naps(&self, ranks: &Ranks) {
        let mut nap = NAP_MIN;
        loop {
            // ORDERING(N3): Acquire, as in `begin_pumping`.
            let wanted = self.wanted.load(Acquire);
            if wanted & LEAVING != 0 {
                return;
            }
            let mut has_come = wanted > 0 && self.transport.pump();
            while let Some((node, frame)) = ranks.hear() {
                self.hear(node, Ok(Some(frame)));
                has_come = true;
            }
            if has_come {
                nap = NAP_MIN;
            }
            let woken = control::wait(&[self.wake.as_fd()], Some(nap));
            nap = if woken.is_ok_and(|woken| woken.is_empty()) {
                NAP_MAX.min(2 * nap)
            } else {
                self.take_wake();
                NAP_MIN
            };
        }
    }
}
