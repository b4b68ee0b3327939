//! The sending end of a lane.

use super::{GivenBack, Head, LONG_BYTES, LONG_MAX, LaneRef, SHORT_MAX, SLOTS, Slot};
use crate::hand_over::Reader;
use crate::prim::{Acquire, Release};

/// The one who sends.
#[derive(Debug)]
pub struct LaneSender {
    lane: LaneRef,
    /// Messages sent, modulo 2³².
    sent: u32,
    /// Long bytes given away, modulo 2³².
    long_at: u32,
    /// How far the receiver was when last looked.
    seen: GivenBack,
}

/// The receiver has not taken enough yet: the message is still the caller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

impl LaneSender {
    /// The sending end of a lane to which there is no other.
    pub fn new(lane: LaneRef) -> Self {
        Self {
            lane,
            sent: 0,
            long_at: 0,
            seen: GivenBack::default(),
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
        let head = self.head_for(short_len as u32, long.len() as u32)?;
        let lane = self.lane.lane();
        // SAFETY: the bytes are ours until they are given away with a slot (invariant 1).
        unsafe { lane.long.write(head.place(), long, reader) };
        let slot = Slot::of(lane, self.sent);
        slot.content.with_mut(|content| {
            // SAFETY: the slot is ours (invariant 1).
            let content = unsafe { &mut *content };
            content.head = head;
            let mut at = 0;
            for piece in short {
                content.short[at..at + piece.len()].copy_from_slice(piece);
                at += piece.len();
            }
        });
        self.sent = self.sent.wrapping_add(1);
        self.long_at = head.long_end();
        // ORDERING(L1): Release, both parts are written.
        slot.turn.store(self.sent, Release);
        Ok(())
    }

    /// What the slot will say, once there is room for the long part and for a slot.
    fn head_for(&mut self, short_len: u32, long_len: u32) -> Result<Head, Full> {
        let mut head = Head {
            short_len,
            long_len,
            long_at: self.long_at,
        };
        // A part lies in one piece: what is left before the end is given away with it.
        let left = LONG_BYTES - head.place();
        if long_len as usize > left {
            head.long_at = head.long_at.wrapping_add(left as u32);
        }
        if !self.fits(head) {
            // ORDERING(L2): Acquire, what was given back is read by nobody.
            self.seen = GivenBack::of(self.lane.lane().given_back.load(Acquire));
            if !self.fits(head) {
                return Err(Full);
            }
        }
        Ok(head)
    }

    /// True when there is a slot, and no byte of the long part is still the receiver's.
    fn fits(&self, head: Head) -> bool {
        let under_way = self.sent.wrapping_sub(self.seen.slots);
        let long_under_way = head.long_end().wrapping_sub(self.seen.long_bytes);
        (under_way as usize) < SLOTS && long_under_way as usize <= LONG_BYTES
    }

    /// True when the receiver has given back all that was sent.
    pub fn is_taken(&self) -> bool {
        // ORDERING(L2): Acquire, as for who sends.
        GivenBack::of(self.lane.lane().given_back.load(Acquire)).slots == self.sent
    }
}
