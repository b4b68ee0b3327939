//! A lane: messages from one sender to one receiver, in order, through memory that both can reach, be it in one process or in two.
//!
//! A message has a short part, which lies in the slot that announces it, and a long part, which the sender writes straight to where the receiver
//! reads it. The sender alone decides where that is (`places`): it owns the long bytes until it gives them away with a slot, and the receiver gives slots back in
//! order, each with its bytes. No step is a read-modify-write, nobody locks, and a message whose short part fits beside the slot's head moves one cache line.
//!
//! # States
//! ```text
//!            sender: writes parts, stores turn n + 1            receiver: reads parts, stores `given back`
//!  slot n ────────────────────────────────────────────► full ───────────────────────────────────────────► slot n + SLOTS
//! ```
//! # Memory ordering
//! | label | release side | acquire side | what it publishes |
//! | --- | --- | --- | --- |
//! | L1 | sender stores a slot's `turn` | receiver loads it | both parts of the message |
//! | L2 | receiver stores `given_back` | sender loads it | that nobody reads the slot and bytes now |
//! # Invariants
//! 1. Between two stores of L1 and L2 that concern it, a slot and its long bytes belong to the receiver, else to the sender.
//! 2. Messages are numbered from 0; message n lies in slot n mod `SLOTS`, whose turn is n + 1 (modulo 2³²) from the store of L1 until message
//!    n + `SLOTS` is stored. Turns of one slot that are that far apart differ, and memory of zeros is a lane without messages.
//! 3. Whatever the memory holds, a receiver reads within it: lengths are checked before they are used. A sender that writes nonsense harms its own
//!    messages.
//! # Source
//! Lamport, Specifying concurrent program modules, 1983, with the sequence number in the slot, so that sender and receiver share one line a message
//! (FastForward: Giacomoni, Moseley, Vachharajani, PPoPP 2008). The sender owns the memory at the receiver: Parker, section 3.4.

mod long;
mod places;
mod receiver;
mod sender;

use std::any::Any;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::prim::{AtomicU32, LIGHT, UnsafeCell};

use long::Long;
pub use receiver::{BrokenLane, LaneReceiver, Received};
pub use sender::{Full, LaneSender};

/// Messages under way at most; a power of two, so that numbers may wrap around.
const SLOTS: usize = if LIGHT { 2 } else { 64 };
/// Bytes for long parts.
const LONG_BYTES: usize = if LIGHT { 256 } else { 512 * 1024 };
/// Long parts lie within about so many of them while the receiver keeps up: half of a first-level cache.
const CLOSE_BYTES: usize = if LIGHT { 128 } else { 16 * 1024 };
/// Long parts begin at a multiple of this, so that two do not share a cache line.
const LONG_ALIGN: usize = 64;

/// The longest short part.
pub const SHORT_MAX: usize = 240;
/// The longest long part, of which there may be a few under way.
pub const LONG_MAX: usize = if LIGHT { 128 } else { 128 * 1024 };
const _: () = assert!(LONG_MAX <= LONG_BYTES, "an empty lane has room for it");

/// What both sides see.
#[derive(Debug)]
#[repr(C)]
pub struct Lane {
    /// How many messages the receiver is done with, modulo 2³².
    given_back: CachePadded<AtomicU32>,
    slots: [Slot; SLOTS],
    long: Long,
}

#[derive(Debug)]
#[repr(C, align(64))]
struct Slot {
    turn: AtomicU32,
    content: UnsafeCell<Content>,
}

/// A slot's message; its head comes first.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Content {
    head: Head,
    short: [u8; SHORT_MAX],
}

/// What a slot says of its message.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Head {
    short_len: u32,
    long_len: u32,
    /// Where the long part begins among the lane's bytes.
    long_at: u32,
}

// SAFETY: invariant 1 says who touches a slot and long bytes when; the rest is atomics.
unsafe impl Sync for Lane {}

impl Lane {
    /// A lane without messages, made where it stays: many threads have no room for it on their stacks.
    #[cfg(not(any(loom, shuttle)))]
    fn empty() -> Arc<Self> {
        // SAFETY: zeros are a lane without messages (invariant 2).
        unsafe { Arc::<Self>::new_zeroed().assume_init() }
    }

    /// A lane without messages. Atomics of a model are not made of zeros; its lane is small.
    #[cfg(any(loom, shuttle))]
    fn empty() -> Arc<Self> {
        let nothing = Content {
            head: Head::default(),
            short: [0; SHORT_MAX],
        };
        Arc::new(Self {
            given_back: CachePadded::new(AtomicU32::new(0)),
            slots: std::array::from_fn(|_| Slot {
                turn: AtomicU32::new(0),
                content: UnsafeCell::new(nothing),
            }),
            long: Long::new(),
        })
    }

    /// Its bytes, a multiple of [`ALIGN`](Self::ALIGN).
    pub const BYTES: usize = size_of::<Self>();

    /// What its address is a multiple of.
    pub const ALIGN: usize = align_of::<Self>();

    /// The two ends of a lane of this process. Cost: an allocation of [`BYTES`](Self::BYTES).
    pub fn pair() -> (LaneSender, LaneReceiver) {
        let lane = Self::empty();
        let address = NonNull::from(&*lane).cast();
        // SAFETY: the lane lives as long as the count, and this end is made once.
        let sender = unsafe { LaneSender::attach(address, Arc::clone(&lane) as _) };
        // SAFETY: as above.
        let receiver = unsafe { LaneReceiver::attach(address, lane) };
        (sender, receiver)
    }
}

/// A lane, kept alive by the end that holds this.
struct LaneRef {
    lane: NonNull<Lane>,
    _memory: Arc<dyn Any + Send + Sync>,
}

// SAFETY: it hands out shared references to a lane, which any thread may use.
unsafe impl Send for LaneRef {}

impl fmt::Debug for LaneRef {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "LaneRef({:?})", self.lane)
    }
}

impl LaneRef {
    /// The lane at `address`, in memory that was all zeros when the first of its ends was made.
    ///
    /// # Safety
    /// [`Lane::BYTES`] from `address` on can be read and written, are aligned, and live as long as `memory`. They were
    /// zeros, and since then only the ends of the lane have used them.
    unsafe fn new(address: NonNull<u8>, memory: Arc<dyn Any + Send + Sync>) -> Self {
        Self {
            lane: address.cast(),
            _memory: memory,
        }
    }

    fn lane(&self) -> &Lane {
        // SAFETY: `new` was promised a lane there, for as long as the memory is kept.
        unsafe { self.lane.as_ref() }
    }
}

impl Head {
    /// True when both parts lie within.
    fn is_sound(self) -> bool {
        let (place, len) = (self.long_at as usize, self.long_len as usize);
        self.short_len as usize <= SHORT_MAX
            && place.is_multiple_of(LONG_ALIGN)
            && place <= LONG_BYTES
            && len <= LONG_MAX.min(LONG_BYTES - place)
    }
}

impl Slot {
    /// The slot of message `number`.
    fn of(lane: &Lane, number: u32) -> &Self {
        &lane.slots[number as usize % SLOTS]
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
