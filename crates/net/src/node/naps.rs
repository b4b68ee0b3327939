//! The listening thread of a node by MPI, of which nothing tells it that something has come: it looks, and naps.
//!
//! A nap is an eighth of the silence before it: of the time since something has come, or somebody went to sleep. So what comes is found late by that much
//! of the time that it took, by ten milliseconds at most, and a silent node costs next to nothing. A larger part would not do: where two nodes answer each other,
//! the one's delay is a part of the other's silence, and with naps as long as the silence each made the other's longer, up to the longest.

use std::num::NonZeroU64;
use std::os::fd::AsFd;
use std::time::Duration;

use raddle_sync::prim::{Acquire, Instant};
use rustix::thread::set_current_timer_slack;

use super::{LEAVING, Shared};
use crate::control;
use crate::transport::Ranks;

/// The shortest nap.
const NAP_MIN: Duration = Duration::from_micros(20);
/// The longest.
const NAP_MAX: Duration = Duration::from_millis(10);
/// A nap in a silence.
const SILENCE_PER_NAP: u32 = 8;
/// By how much the system may let a nap take longer: 50 µs are usual.
const SLACK_NS: NonZeroU64 = NonZeroU64::new(1_000).expect("it is not zero");

impl Shared {
    /// Hears what other nodes tell until the node leaves, and pumps while somebody wants that.
    pub(super) fn listen_between_naps(&self, ranks: &Ranks) {
        // Naps are longer where the system refuses that.
        let _ = set_current_timer_slack(Some(SLACK_NS));
        let mut since = Instant::now();
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
                since = Instant::now();
            }
            let nap = (since.elapsed() / SILENCE_PER_NAP).clamp(NAP_MIN, NAP_MAX);
            let woken = control::wait(&[self.wake.as_fd()], Some(nap));
            if woken.is_ok_and(|woken| !woken.is_empty()) {
                self.take_wake();
                since = Instant::now();
            }
        }
    }
}
