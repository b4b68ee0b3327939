//! The receiving end of a lane.

use std::any::Any;
use std::fmt;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use super::{Head, LONG_MAX, LaneRef, SHORT_MAX, Slot};
use crate::prim::{Acquire, Release};

/// The receiving end of a lane.
#[derive(Debug)]
pub struct LaneReceiver {
    lane: LaneRef,
    /// The number of messages received, modulo 2³².
    given_back: u32,
}

/// A view of the receiving end of a lane, which shows the next message after it was
/// [taken](LaneReceiver::peek).
#[derive(Debug)]
pub struct LanePeek {
    lane: LaneRef,
    given_back: u32,
}

impl LanePeek {
    /// Returns true if that message has arrived. Once it has been received, the result means
    /// nothing.
    pub fn has_message(&self) -> bool {
        has_message(&self.lane, self.given_back)
    }
}

/// Returns true if the message after the first `number` ones has arrived.
#[inline]
fn has_message(lane: &LaneRef, number: u32) -> bool {
    // ORDERING(L1): Acquire: the receiver reads both parts next.
    Slot::of(lane.lane(), number).turn.load(Acquire) == number.wrapping_add(1)
}

/// A received message, in the place where the sender has put it.
#[derive(Clone, Copy, Debug)]
pub struct Received<'a> {
    /// The short part.
    pub short: &'a [u8],
    /// The long part, in the memory of the lane.
    pub long: &'a [u8],
}

/// The error of an invalid slot, which no sender of this crate writes. The lane has no further
/// messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokenLane {
    /// The length of the short part that the slot claims, in bytes.
    pub short_len: u32,
    /// The length of the long part that the slot claims, in bytes.
    pub long_len: u32,
}

impl fmt::Display for BrokenLane {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "a message of {} and {} bytes; expected at most {SHORT_MAX} and {LONG_MAX}, \
             the latter in one piece",
            self.short_len, self.long_len
        )
    }
}

impl std::error::Error for BrokenLane {}

impl LaneReceiver {
    /// Creates the receiving end of the lane at `address`, in memory that was all zeros when the
    /// first of its ends was created.
    ///
    /// # Safety
    /// The [`Lane::BYTES`](super::Lane::BYTES) from `address` on are readable and writable, are
    /// aligned to [`Lane::ALIGN`](super::Lane::ALIGN), and live as long as `memory`. They contained
    /// zeros, and since then only the ends of the lane have used them, in any process. No other
    /// receiving end of this lane is ever created.
    pub unsafe fn attach(address: NonNull<u8>, memory: Arc<dyn Any + Send + Sync>) -> Self {
        Self {
            // SAFETY: by the contract of this function.
            lane: unsafe { LaneRef::new(address, memory) },
            given_back: 0,
        }
    }

    #[cfg(all(test, not(any(loom, shuttle))))]
    pub(super) fn lane(&self) -> &super::Lane {
        self.lane.lane()
    }

    /// Returns true if a message has arrived. Costs a load of a cache line that only a new message
    /// takes away.
    #[inline]
    pub fn has_message(&self) -> bool {
        has_message(&self.lane, self.given_back)
    }

    /// Returns a view of this end by which another thread can see whether the next message has
    /// arrived.
    pub fn peek(&self) -> LanePeek {
        LanePeek {
            lane: self.lane.clone(),
            given_back: self.given_back,
        }
    }

    /// Calls `read` with the next message, if one has arrived, and gives the memory of the message
    /// back.
    ///
    /// # Errors
    /// [`BrokenLane`] if the slot is invalid. The lane then has no further messages.
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
            // SAFETY: the slot belongs to the receiver (invariant 1). The head is read once, so
            // that the checked values are the used ones.
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
            // SAFETY: inside the lane, as checked above, and owned by the receiver (invariant 1).
            let result = unsafe {
                lane.long
                    .read(head.long_at as usize, head.long_len as usize, with_long)
            };
            Ok(result)
        })?;
        self.given_back = self.given_back.wrapping_add(1);
        // ORDERING(L2): Release: both parts have been read.
        lane.given_back.store(self.given_back, Release);
        Ok(Some(result))
    }
}
