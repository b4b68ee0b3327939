//! The receiving end of a lane.

use std::any::Any;
use std::fmt;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use super::{Head, LONG_MAX, LaneRef, SHORT_MAX, Slot};
use crate::prim::{Acquire, Release};

/// The one who receives.
#[derive(Debug)]
pub struct LaneReceiver {
    lane: LaneRef,
    /// Messages received, modulo 2³².
    given_back: u32,
}

/// A message, where the sender has put it.
#[derive(Clone, Copy, Debug)]
pub struct Received<'a> {
    /// The short part.
    pub short: &'a [u8],
    /// The long part, in the memory of the lane.
    pub long: &'a [u8],
}

/// A slot says what no sender of ours writes: no further message of this lane can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokenLane {
    /// The bytes of the short part that it speaks of.
    pub short_len: u32,
    /// The bytes of the long one.
    pub long_len: u32,
}

impl fmt::Display for BrokenLane {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "a message of {} and {} bytes; expected at most {SHORT_MAX} and {LONG_MAX}, the latter in one piece",
            self.short_len, self.long_len
        )
    }
}

impl std::error::Error for BrokenLane {}

impl LaneReceiver {
    /// The receiving end of the lane at `address`, in memory that was all zeros when the first of its ends was made.
    ///
    /// # Safety
    /// [`Lane::BYTES`](super::Lane::BYTES) from `address` on can be read and written, are aligned to
    /// [`Lane::ALIGN`](super::Lane::ALIGN), and live as long as `memory`. They were zeros, and since then only the ends
    /// of the lane have used them, in whatever process. No other receiving end of it is ever made.
    pub unsafe fn attach(address: NonNull<u8>, memory: Arc<dyn Any + Send + Sync>) -> Self {
        Self {
            // SAFETY: as the caller says.
            lane: unsafe { LaneRef::new(address, memory) },
            given_back: 0,
        }
    }

    #[cfg(test)]
    pub(super) fn lane(&self) -> &super::Lane {
        self.lane.lane()
    }

    /// True when a message has come. Cost: a load, of a line that only a message takes away.
    #[inline]
    pub fn has_message(&self) -> bool {
        let number = self.given_back;
        // ORDERING(L1): Acquire, both parts are read next.
        Slot::of(self.lane.lane(), number).turn.load(Acquire) == number.wrapping_add(1)
    }

    /// Calls `read` with the next message, if one has come, and gives its memory back.
    ///
    /// # Errors
    /// [`BrokenLane`] when the slot makes no sense; then this lane has no further message.
    #[inline]
    pub fn receive<R>(
        &mut self,
        read: impl FnOnce(Received<'_>) -> R,
    ) -> Result<Option<R>, BrokenLane> {
        if !self.has_message() {
            return Ok(None);
        }
        let lane = self.lane.lane();
        let slot = Slot::of(lane, self.given_back);
        let result = slot.content.with(|content| {
            // SAFETY: the slot is ours (invariant 1). Read once, so that what is checked is what is used.
            let head = unsafe { ptr::read_volatile(content.cast::<Head>()) };
            if !head.is_sound() {
                return Err(BrokenLane {
                    short_len: head.short_len,
                    long_len: head.long_len,
                });
            }
            // SAFETY: as above.
            let short = unsafe { &(&(*content).short)[..head.short_len as usize] };
            let with_long = |long: &[u8]| read(Received { short, long });
            // SAFETY: within, as was checked, and ours (invariant 1).
            let result = unsafe {
                lane.long
                    .read(head.long_at as usize, head.long_len as usize, with_long)
            };
            Ok(result)
        })?;
        self.given_back = self.given_back.wrapping_add(1);
        // ORDERING(L2): Release, both parts have been read.
        lane.given_back.store(self.given_back, Release);
        Ok(Some(result))
    }
}
