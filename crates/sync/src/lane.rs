//! A lane: messages from one sender to one receiver, in order, through memory that both can access,
//! in one process or in two.
//!
//! A message has a short part, which is in the slot that announces it, and a long part, which the
//! sender writes directly to the place where the receiver reads it. Only the sender chooses this
//! place (`places`). The sender owns the long bytes until it hands them over together with a slot.
//! The receiver gives slots back in order, each with its bytes. No step is a read-modify-write, and
//! no thread takes a lock. A message with a short part that fits beside the head of its slot moves
//! one cache line.
//!
//! # States
//! ```text
//!           sender: writes parts,                 receiver: reads parts,
//!           stores turn n + 1                     stores `given_back`
//!  slot n ────────────────────────────► full ───────────────────────────► slot n + SLOTS
//! ```
//! # Memory ordering
//! | label | release side | acquire side | what it publishes |
//! | --- | --- | --- | --- |
//! | L1 | sender stores a slot's `turn` | receiver loads it | both parts of the message |
//! | L2 | receiver stores `given_back` | sender loads it | that the slot is free again |
//! # Invariants
//! 1. A slot and its long bytes belong to the receiver from the store of L1 until the store of L2
//!    that concerns them, and to the sender otherwise.
//! 2. Messages are numbered from 0. Message n is in slot n mod `SLOTS`. From the store of L1 until
//!    the next message in the same slot is stored, the turn of this slot is n + 1 (modulo 2³²). The
//!    turns of consecutive messages in one slot differ. Memory that contains zeros is a lane
//!    without messages.
//! 3. The receiver reads only within the lane, no matter what the memory contains, because it
//!    checks all lengths before it uses them. A sender that writes invalid data harms only its own
//!    messages.
//! # Source
//! Lamport, Specifying concurrent program modules, 1983, with the sequence number in the slot, so
//! that sender and receiver share one cache line per message (FastForward: Giacomoni, Moseley,
//! Vachharajani, PPoPP 2008). The sender owns the memory at the receiver: Parker, section 3.4.

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
pub use receiver::{BrokenLane, LanePeek, LaneReceiver, Received};
pub use sender::{Full, LaneSender};

/// The maximum number of messages under way; a power of two, so that numbers may wrap around.
const SLOTS: usize = if LIGHT { 2 } else { 64 };
/// The number of bytes for long parts.
const LONG_BYTES: usize = if LIGHT { 256 } else { 512 * 1024 };
/// The approximate number of bytes that long parts use while the receiver keeps up: half of a
/// first-level cache.
const CLOSE_BYTES: usize = if LIGHT { 128 } else { 16 * 1024 };
/// The alignment of long parts, in bytes. It prevents two parts from sharing a cache line.
const LONG_ALIGN: usize = 64;

/// The maximum length of a short part, in bytes.
pub const SHORT_MAX: usize = 240;
/// The maximum length of a long part, in bytes. A few parts of this length may be under way.
pub const LONG_MAX: usize = if LIGHT { 128 } else { 128 * 1024 };
const _: () = assert!(
    LONG_MAX <= LONG_BYTES,
    "an empty lane can take the longest part"
);

/// The memory that both ends share.
#[derive(Debug)]
#[repr(C)]
pub struct Lane {
    /// The number of messages that the receiver has given back, modulo 2³².
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

/// The message in a slot. Its head comes first.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Content {
    head: Head,
    short: [u8; SHORT_MAX],
}

/// The description of a message in its slot.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Head {
    short_len: u32,
    long_len: u32,
    /// The offset of the long part among the lane's bytes.
    long_at: u32,
}

// SAFETY: invariant 1 defines which thread accesses a slot and its long bytes; the rest is atomic.
unsafe impl Sync for Lane {}

impl Lane {
    /// Creates a lane without messages in its final place, because it is too large for the stack of
    /// many threads.
    #[cfg(not(any(loom, shuttle)))]
    fn empty() -> Arc<Self> {
        // SAFETY: zeros are a lane without messages (invariant 2).
        unsafe { Arc::<Self>::new_zeroed().assume_init() }
    }

    /// Creates a lane without messages. The atomics of a model cannot be created from zeros, and
    /// its lane is small.
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

    /// The size of a lane in bytes, a multiple of [`ALIGN`](Self::ALIGN).
    pub const BYTES: usize = size_of::<Self>();

    /// The alignment of a lane in bytes.
    pub const ALIGN: usize = align_of::<Self>();

    /// Creates a lane in this process and returns its two ends. Costs an allocation of
    /// [`BYTES`](Self::BYTES).
    pub fn pair() -> (LaneSender, LaneReceiver) {
        let lane = Self::empty();
        let address = NonNull::from(&*lane).cast();
        // SAFETY: the reference count keeps the lane alive, and this end is created once.
        let sender = unsafe { LaneSender::attach(address, Arc::clone(&lane) as _) };
        // SAFETY: as above.
        let receiver = unsafe { LaneReceiver::attach(address, lane) };
        (sender, receiver)
    }
}

/// A reference to a lane that keeps the lane alive.
#[derive(Clone)]
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
    /// Refers to the lane at `address`, in memory that was all zeros when the first of its ends was
    /// created.
    ///
    /// # Safety
    /// The [`Lane::BYTES`] from `address` on are readable and writable, aligned, and live as long
    /// as `memory`. They contained zeros, and since then only the ends of the lane have used them.
    unsafe fn new(address: NonNull<u8>, memory: Arc<dyn Any + Send + Sync>) -> Self {
        Self {
            lane: address.cast(),
            _memory: memory,
        }
    }

    fn lane(&self) -> &Lane {
        // SAFETY: the contract of `new` guarantees a lane there for as long as the memory is kept.
        unsafe { self.lane.as_ref() }
    }
}

impl Head {
    /// Returns true if the lengths and the offset are valid, so that both parts are inside the
    /// lane.
    fn is_sound(self) -> bool {
        let (place, len) = (self.long_at as usize, self.long_len as usize);
        self.short_len as usize <= SHORT_MAX
            && place.is_multiple_of(LONG_ALIGN)
            && place <= LONG_BYTES
            && len <= LONG_MAX.min(LONG_BYTES - place)
    }
}

impl Slot {
    /// Returns the slot of message `number`.
    fn of(lane: &Lane, number: u32) -> &Self {
        &lane.slots[number as usize % SLOTS]
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
