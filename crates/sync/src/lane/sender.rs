//! The sending end of a lane.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;

use super::places::Places;
use super::{Head, LONG_MAX, LaneRef, SHORT_MAX, SLOTS, Slot};
use crate::hand_over::{Copier, Copying, Reader};
use crate::prim::{Acquire, Release};

/// The one who sends.
#[derive(Debug)]
pub struct LaneSender {
    lane: LaneRef,
    /// Messages sent, modulo 2³².
    sent: u32,
    /// How many of them had been given back when last looked.
    seen: u32,
    places: Places,
    copier: Copier,
}

/// The receiver has not taken enough yet: the message is still the caller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

impl LaneSender {
    /// The sending end of the lane at `address`, in memory that was all zeros when the first of its ends was made.
    ///
    /// # Safety
    /// [`Lane::BYTES`](super::Lane::BYTES) from `address` on can be read and written, are aligned to
    /// [`Lane::ALIGN`](super::Lane::ALIGN), and live as long as `memory`. They were zeros, and since then only the ends
    /// of the lane have used them, in whatever process. No other sending end of it is ever made.
    pub unsafe fn attach(address: NonNull<u8>, memory: Arc<dyn Any + Send + Sync>) -> Self {
        Self {
            // SAFETY: as the caller says.
            lane: unsafe { LaneRef::new(address, memory) },
            sent: 0,
            seen: 0,
            places: Places::new(),
            copier: Copier::default(),
        }
    }

    /// Sends a message of two parts, each copied once, to where the receiver reads it; the short one is what `short` has, one after the other.
    ///
    /// # Errors
    /// [`Full`] while the receiver is behind; nothing has been sent then.
    /// # Panics
    /// When `short` is longer than [`SHORT_MAX`] or `long` than [`LONG_MAX`].
    #[inline]
    pub fn send(&mut self, short: &[&[u8]], long: &[u8]) -> Result<(), Full> {
        self.send_for(short, long, Reader::Soon)
    }

    /// As [`send`](Self::send), for who reads the long part then.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    /// # Panics
    /// As [`send`](Self::send).
    #[inline]
    pub fn send_for(&mut self, short: &[&[u8]], long: &[u8], reader: Reader) -> Result<(), Full> {
        let short_len: usize = short.iter().map(|piece| piece.len()).sum();
        assert!(
            short_len <= SHORT_MAX,
            "{short_len} bytes are no short part"
        );
        assert!(
            long.len() <= LONG_MAX,
            "{} bytes are too many at once",
            long.len()
        );
        // Of a copy that is not made nothing is learnt.
        if !self.has_slot() {
            self.look();
            if !self.has_slot() {
                return Err(Full);
            }
        }
        let copying = self.copier.choose(long.len(), reader);
        let place = self.room_for(long.len(), copying).ok_or(Full)?;
        let head = Head {
            short_len: short_len as u32,
            long_len: long.len() as u32,
            long_at: place as u32,
        };
        let lane = self.lane.lane();
        let copy = |address| {
            // SAFETY: the bytes are ours until they are given away with a slot (invariant 1).
            unsafe { self.copier.copy(copying, long, address) };
        };
        lane.long.write(place, long.len(), copy);
        let slot = Slot::of(lane, self.sent);
        slot.content.with_mut(|content| {
            // SAFETY: the slot is ours (invariant 1).
            let content = unsafe { &mut *content };
            content.head = head;
            let mut at = 0;
            // A copy of nothing is a call all the same.
            for piece in short.iter().filter(|piece| !piece.is_empty()) {
                content.short[at..at + piece.len()].copy_from_slice(piece);
                at += piece.len();
            }
        });
        self.places
            .take(self.sent, place, long.len(), copying.is_streamed());
        self.sent = self.sent.wrapping_add(1);
        // ORDERING(L1): Release, both parts are written.
        slot.turn.store(self.sent, Release);
        Ok(())
    }

    /// A place for the long part.
    fn room_for(&mut self, len: usize, copying: Copying) -> Option<usize> {
        // Lines that are streamed should not be such as the receiver has just had.
        if len > 0 && self.places.are_far() && !copying.is_streamed() {
            self.look();
            self.places.begin_anew(self.is_under_way());
        }
        self.try_room_for(len, copying).or_else(|| {
            self.look();
            self.try_room_for(len, copying)
        })
    }

    fn try_room_for(&self, len: usize, copying: Copying) -> Option<usize> {
        let oldest = self.is_under_way().then_some(self.seen);
        self.places.find(len, copying.is_streamed(), oldest)
    }

    /// True when another message may be under way, as far as is known.
    const fn has_slot(&self) -> bool {
        (self.sent.wrapping_sub(self.seen) as usize) < SLOTS
    }

    const fn is_under_way(&self) -> bool {
        self.seen != self.sent
    }

    /// Sees how far the receiver is.
    fn look(&mut self) {
        // ORDERING(L2): Acquire, what was given back is read by nobody.
        self.seen = self.lane.lane().given_back.load(Acquire);
    }

    /// True when the receiver has given back all that was sent.
    pub fn is_taken(&self) -> bool {
        // ORDERING(L2): Acquire, as for who sends.
        self.lane.lane().given_back.load(Acquire) == self.sent
    }
}
