//! The reads of other nodes' memory that are on their way in packets.
//!
//! A port that reads memory that it does not share asks the other node for it, and names a slot.
//! The answer is put into the memory of that slot. The thread that pumps the last packet of the
//! answer marks the slot, and wakes the port.
//!
//! # States
//! ```text
//!            begin: store             complete: CAS             end: store
//!  IDLE ──────────────────► ON_WAY ──────────────────► ARRIVED ────────────► IDLE
//!                             └────────────── end: store ───────────────────► IDLE
//! ```
//! # Memory ordering
//! | label | release side | acquire side | what it publishes |
//! |---|---|---|---|
//! | G1 | `complete` exchanges the word | `has_arrived` loads it | the bytes of the answer |
//!
//! # Invariants
//! 1. Only the thread of the port begins and ends the read of a slot. A read has a *turn*, which no
//!    earlier read of the slot had within the last 2²³. An answer to an earlier read changes
//!    nothing.

use raddle_sync::prim::{Acquire, AtomicU32, Relaxed, Release};

use crate::address::Shape;

/// The largest number of reads of a port that are on their way in packets.
pub(crate) const GETS_MAX: usize = 32;

const SLOT_BITS: u32 = 8;
const _: () = assert!(
    GETS_MAX <= 1 << SLOT_BITS,
    "a token has the index of a slot"
);

/// The slots of all ports of a node.
#[derive(Debug)]
pub(crate) struct Gets {
    ports: Box<[[AtomicU32; GETS_MAX]]>,
}

/// The name of a read in its request and its answer: a slot, and the turn of the read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token(pub(crate) u32);

/// The state of a slot, and the turn of its last read: `ON_WAY` and `ARRIVED` are the lowest bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word(u32);

impl Token {
    /// Returns the index of the slot.
    pub(crate) const fn slot(self) -> usize {
        (self.0 & ((1 << SLOT_BITS) - 1)) as usize
    }

    const fn turn(self) -> u32 {
        self.0 >> SLOT_BITS
    }
}

impl Word {
    const ON_WAY: u32 = 1;
    const ARRIVED: u32 = 2;
    const TURN_SHIFT: u32 = 8;

    const fn new(turn: u32, state: u32) -> Self {
        Self(turn << Self::TURN_SHIFT | state)
    }

    const fn turn(self) -> u32 {
        self.0 >> Self::TURN_SHIFT
    }
}

impl Gets {
    /// Creates the slots of the ports of one node. All are idle.
    pub(crate) fn new(shape: Shape) -> Self {
        let slots = |_| std::array::from_fn(|_| AtomicU32::new(0));
        Self {
            ports: (0..shape.ports).map(slots).collect(),
        }
    }

    /// Begins a read in a slot of a port, which is idle. Returns the name of the read. Only for the
    /// thread of the port.
    pub(crate) fn begin(&self, port: u16, slot: usize) -> Token {
        let word = &self.ports[usize::from(port)][slot];
        // Relaxed: only this thread changes an idle slot (invariant 1).
        let last = Word(word.load(Relaxed));
        let turn = last.turn().wrapping_add(1) & (u32::MAX >> SLOT_BITS);
        // Relaxed: the request, which is sent afterwards, publishes nothing of this process.
        word.store(Word::new(turn, Word::ON_WAY).0, Relaxed);
        // Below 2⁸ by the number of slots.
        Token(turn << SLOT_BITS | slot as u32)
    }

    /// Records that the answer to a read is in its place. Returns false if that port has no such
    /// read on its way.
    pub(crate) fn complete(&self, port: u16, token: Token) -> bool {
        let slots = self.ports.get(usize::from(port));
        let Some(word) = slots.and_then(|slots| slots.get(token.slot())) else {
            return false;
        };
        let expected = Word::new(token.turn(), Word::ON_WAY);
        let arrived = Word::new(token.turn(), Word::ARRIVED);
        // ORDERING(G1): Release: the bytes of the answer. Relaxed on failure: nothing is read.
        word.compare_exchange(expected.0, arrived.0, Release, Relaxed)
            .is_ok()
    }

    /// Returns true if the answer to a read is in its place.
    #[inline]
    pub(crate) fn has_arrived(&self, port: u16, token: Token) -> bool {
        // ORDERING(G1): Acquire: the bytes are read afterwards.
        let word = self.ports[usize::from(port)][token.slot()].load(Acquire);
        word == Word::new(token.turn(), Word::ARRIVED).0
    }

    /// Ends a read: its slot is idle. Only for the thread of the port.
    pub(crate) fn end(&self, port: u16, token: Token) {
        let idle = Word::new(token.turn(), 0);
        // Relaxed: an answer that arrives from now on is refused, or has been written already.
        self.ports[usize::from(port)][token.slot()].store(idle.0, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { nodes: 2, ports: 2 };

    #[test]
    fn a_read_arrives_once_and_only_with_its_own_answer() {
        let gets = Gets::new(SHAPE);
        let first = gets.begin(1, 3);
        assert!(!gets.has_arrived(1, first));
        assert!(!gets.complete(0, first), "another port");
        assert!(!gets.complete(2, first), "there is no such port");
        assert!(!gets.complete(1, Token(first.0 + 1)), "another slot");
        assert!(!gets.complete(1, Token(0xFF)), "there is no such slot");
        assert!(gets.complete(1, first));
        assert!(gets.has_arrived(1, first));
        assert!(!gets.complete(1, first), "it has arrived already");
        gets.end(1, first);
        let second = gets.begin(1, 3);
        assert_eq!(second.slot(), 3);
        assert!(!gets.complete(1, first), "the answer to an earlier read");
        assert!(!gets.has_arrived(1, second));
    }

    #[test]
    fn turns_start_again_after_the_last_one() {
        let gets = Gets::new(SHAPE);
        for _ in 0..3 {
            let token = gets.begin(0, GETS_MAX - 1);
            assert!(gets.complete(0, token));
            gets.end(0, token);
        }
        let slot = &gets.ports[0][GETS_MAX - 1];
        // Relaxed: no other thread is there.
        slot.store(Word::new(u32::MAX >> SLOT_BITS, 0).0, Relaxed);
        let token = gets.begin(0, GETS_MAX - 1);
        assert_eq!((token.turn(), token.slot()), (0, GETS_MAX - 1));
        assert!(gets.complete(0, token));
    }
}
