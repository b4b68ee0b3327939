//! The sending end of a lane.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;

use super::places::Places;
use super::{Head, LONG_MAX, LaneRef, SHORT_MAX, SLOTS, Slot};
use crate::hand_over::{Copier, Copying, Reader};
use crate::prim::{Acquire, Release};

/// The sending end of a lane.
#[derive(Debug)]
pub struct LaneSender {
    lane: LaneRef,
    /// The number of messages sent, modulo 2³².
    sent: u32,
    /// The number of messages given back, as of the last look.
    seen: u32,
    places: Places,
    copier: Copier,
}

/// The error of a send into a full lane. The message still belongs to the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

impl LaneSender {
    /// Creates the sending end of the lane at `address`, in memory that was all zeros when the
    /// first of its ends was created.
    ///
    /// # Safety
    /// The [`Lane::BYTES`](super::Lane::BYTES) from `address` on are readable and writable, are
    /// aligned to [`Lane::ALIGN`](super::Lane::ALIGN), and live as long as `memory`. They contained
    /// zeros, and since then only the ends of the lane have used them, in any process. No other
    /// sending end of this lane is ever created.
    pub unsafe fn attach(address: NonNull<u8>, memory: Arc<dyn Any + Send + Sync>) -> Self {
        Self {
            // SAFETY: by the contract of this function.
            lane: unsafe { LaneRef::new(address, memory) },
            sent: 0,
            seen: 0,
            places: Places::new(),
            copier: Copier::default(),
        }
    }

    /// Sends a message of two parts. Copies each part once, to where the receiver reads it. The
    /// short part is the concatenation of the pieces in `short`.
    ///
    /// # Errors
    /// [`Full`] if the receiver is behind. Nothing has been sent then.
    /// # Panics
    /// If the short part is longer than [`SHORT_MAX`], or `long` is longer than [`LONG_MAX`].
    #[inline]
    pub fn send(&mut self, short: &[&[u8]], long: &[u8]) -> Result<(), Full> {
        self.send_for(short, long, Reader::Soon)
    }

    /// Sends a message as [`send`](Self::send) does, with a long part that is read as `reader`
    /// says.
    ///
    /// # Errors
    /// Those of [`send`](Self::send).
    /// # Panics
    /// As for [`send`](Self::send).
    #[inline]
    pub fn send_for(&mut self, short: &[&[u8]], long: &[u8], reader: Reader) -> Result<(), Full> {
        let short_len: usize = short.iter().map(|piece| piece.len()).sum();
        assert!(
            short_len <= SHORT_MAX,
            "a short part of {short_len} bytes; expected at most {SHORT_MAX}"
        );
        assert!(
            long.len() <= LONG_MAX,
            "a long part of {} bytes; expected at most {LONG_MAX}",
            long.len()
        );
        // Checked before the copy is chosen, because the copier learns nothing from a copy that is
        // not made.
        if !self.has_slot() {
            self.look();
            if !self.has_slot() {
                return Err(Full);
            }
        }
        let copying = self.copier.choose(long.len(), reader);
        let place = self.find_place(long.len(), copying).ok_or(Full)?;
        let head = Head {
            short_len: short_len as u32,
            long_len: long.len() as u32,
            long_at: place as u32,
        };
        let lane = self.lane.lane();
        let copy = |address| {
            // SAFETY: the bytes belong to the sender until they are handed over with a slot
            // (invariant 1).
            unsafe { self.copier.copy(copying, long, address) };
        };
        lane.long.write(place, long.len(), copy);
        let slot = Slot::of(lane, self.sent);
        slot.content.with_mut(|content| {
            // SAFETY: the slot belongs to the sender (invariant 1).
            let content = unsafe { &mut *content };
            content.head = head;
            let mut at = 0;
            // Even a copy of no bytes is a function call.
            for piece in short.iter().filter(|piece| !piece.is_empty()) {
                content.short[at..at + piece.len()].copy_from_slice(piece);
                at += piece.len();
            }
        });
        self.places
            .take(self.sent, place, long.len(), copying.is_streamed());
        self.sent = self.sent.wrapping_add(1);
        // ORDERING(L1): Release: both parts are written.
        slot.turn.store(self.sent, Release);
        Ok(())
    }

    /// Finds a place for a long part of `len` bytes, or returns `None` if there is no space for it.
    fn find_place(&mut self, len: usize, copying: Copying) -> Option<usize> {
        // Streamed copies do not start over, because they should avoid lines that the receiver has
        // just had in its cache.
        if len > 0 && self.places.are_far() && !copying.is_streamed() {
            self.look();
            self.places.start_over(self.is_under_way());
        }
        self.try_find_place(len, copying).or_else(|| {
            self.look();
            self.try_find_place(len, copying)
        })
    }

    fn try_find_place(&self, len: usize, copying: Copying) -> Option<usize> {
        let oldest = self.is_under_way().then_some(self.seen);
        self.places.find(len, copying.is_streamed(), oldest)
    }

    /// Returns true if a slot is free, as far as is known.
    const fn has_slot(&self) -> bool {
        (self.sent.wrapping_sub(self.seen) as usize) < SLOTS
    }

    const fn is_under_way(&self) -> bool {
        self.seen != self.sent
    }

    /// Updates `seen`, the number of messages given back.
    fn look(&mut self) {
        // ORDERING(L2): Acquire: the receiver no longer reads what it has given back.
        self.seen = self.lane.lane().given_back.load(Acquire);
    }
}
