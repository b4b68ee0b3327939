//! The connection table: the thread that gets a connection's messages, and the memory in which
//! their data may be stored.
//!
//! # Source
//! Parker 2013, sections 3.3.2, 3.4 and 3.4.3.

/// A contiguous part of a process's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The first address of the segment.
    pub base: u64,
    /// The number of bytes of the segment.
    pub bytes: u64,
}

/// An entry of a node's connection table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The thread that gets the messages.
    pub thread: u32,
    /// The memory in which data may be stored.
    pub segment: Segment,
    /// If true, data may be put into the cache.
    pub injects: bool,
}

impl Segment {
    /// The segment of all addresses.
    pub const ALL: Self = Self {
        base: 0,
        bytes: u64::MAX,
    };

    /// Returns whether `bytes` bytes from an address on lie within the segment.
    #[must_use]
    pub const fn holds(self, address: u64, bytes: u64) -> bool {
        // Counted from the base, so that no sum overflows.
        match address.checked_sub(self.base) {
            Some(offset) => offset <= self.bytes && bytes <= self.bytes - offset,
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_holds_what_lies_within() {
        let segment = Segment {
            base: 100,
            bytes: 50,
        };
        assert!(segment.holds(100, 50));
        assert!(segment.holds(150, 0), "nothing, at its end");
        assert!(!segment.holds(99, 1));
        assert!(!segment.holds(101, 50));
        assert!(!segment.holds(u64::MAX, 2), "which would wrap around");
        assert!(Segment::ALL.holds(u64::MAX, 0));
    }
}
