//! The decision whether a packet's data goes into the receiver's cache (the study's figure 4), and
//! the contents of that cache.
//!
//! ```text
//! message and connection agree ─ yes ─► process is on the core ─ yes ─► INJECTED: allocates lines
//!            │ no                              │ no
//!            └────────────────┬────────────────┘
//!                             ▼
//!              lines are in the cache ─ yes ─► UPDATED, in place
//!                             │ no
//!                             ▼
//!                         TO MEMORY
//! ```
//! The contents of the cache are known by blocks, each as large as a packet's data. A block stays
//! until as many bytes have come in after it as the cache holds (first in, first out). Blocks are
//! recorded only if they can make a difference: if all data is injected, the contents do not
//! matter.
//!
//! # Source
//! Parker 2013, section 3.3.2 and figure 4.

use std::collections::HashMap;

use crate::parameters::Parameters;

/// The smallest number of blocks at which evicted ones are removed.
const BLOCKS_MIN: usize = 64;

/// The conditions for the injection of data into the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Injection {
    /// True if the message asks for its data to be put into the cache.
    pub message: bool,
    /// True if the connection allows data to be put into the cache.
    pub connection: bool,
    /// True if the receiving process is on the core.
    pub is_on_core: bool,
}

/// The destination of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Placed {
    /// The cache: lines were allocated, which may evict others.
    Injected,
    /// Lines that the cache already held.
    Updated,
    /// Memory.
    ToMemory,
}

impl Injection {
    /// Returns the destination of data. `is_in_cache` says whether the cache holds its lines.
    #[must_use]
    pub const fn place(self, is_in_cache: bool) -> Placed {
        match (
            self.message && self.connection && self.is_on_core,
            is_in_cache,
        ) {
            (true, _) => Placed::Injected,
            (false, true) => Placed::Updated,
            (false, false) => Placed::ToMemory,
        }
    }
}

/// The data that messages have put into a core's cache.
#[derive(Clone, Debug)]
pub(in crate::simulate) struct Cache {
    capacity: u64,
    block_bytes: u64,
    /// The number of bytes that have come in since the start.
    brought: u64,
    /// The value of `brought` when each block came in; `None` if the contents do not matter.
    blocks: Option<HashMap<u64, u64>>,
    /// The number of blocks above which evicted ones are removed.
    blocks_max: usize,
}

impl Cache {
    pub(in crate::simulate) fn new(capacity: u64, block_bytes: u64, is_asked: bool) -> Self {
        Self {
            capacity,
            block_bytes,
            brought: 0,
            blocks: is_asked.then(HashMap::new),
            blocks_max: BLOCKS_MIN,
        }
    }

    /// Stores a packet's data, and returns its destination.
    #[inline]
    pub(in crate::simulate) fn place(
        &mut self,
        injection: Injection,
        address: u64,
        bytes: u64,
    ) -> Placed {
        let placed = injection.place(self.has(address));
        if placed == Placed::Injected {
            self.bring(address, bytes);
        }
        placed
    }

    /// Records that `bytes` bytes from an address on are in the cache, because a message was
    /// injected or a thread has read it.
    pub(in crate::simulate) fn bring(&mut self, address: u64, bytes: u64) {
        let Some(blocks) = &mut self.blocks else {
            return;
        };
        let (first, last) = (address, address.saturating_add(bytes.saturating_sub(1)));
        for block in first / self.block_bytes..=last / self.block_bytes {
            let begin = (block * self.block_bytes).max(first);
            let end = (block * self.block_bytes)
                .saturating_add(self.block_bytes - 1)
                .min(last);
            self.brought += end - begin + 1;
            blocks.insert(block, self.brought);
        }
        // Evicted blocks are removed when there are twice as many blocks as after the last removal,
        // so that the cost per block is constant.
        if blocks.len() > self.blocks_max {
            let oldest = self.brought.saturating_sub(self.capacity);
            blocks.retain(|_, &mut came| came > oldest);
            self.blocks_max = BLOCKS_MIN.max(2 * blocks.len());
        }
    }

    /// Returns the memory of the record of all blocks if each block is full.
    pub(in crate::simulate) fn memory_bytes(parameters: &Parameters) -> u64 {
        let blocks = parameters.cache.bytes.0 / f64::from(parameters.network.packet_payload_bytes);
        // Twice as many blocks before a removal, in a table that is half full.
        (4.0 * blocks) as u64 * size_of::<(u64, u64)>() as u64
    }

    fn has(&self, address: u64) -> bool {
        let Some(blocks) = &self.blocks else {
            return false;
        };
        let came = blocks.get(&(address / self.block_bytes));
        came.is_some_and(|came| self.brought - came < self.capacity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGREED: Injection = Injection {
        message: true,
        connection: true,
        is_on_core: true,
    };

    #[test]
    fn data_goes_where_figure_4_says() {
        let of = |message, connection, is_on_core, is_in_cache| {
            let injection = Injection {
                message,
                connection,
                is_on_core,
            };
            injection.place(is_in_cache)
        };
        for is_in_cache in [false, true] {
            assert_eq!(of(true, true, true, is_in_cache), Placed::Injected);
            let otherwise = match is_in_cache {
                true => Placed::Updated,
                false => Placed::ToMemory,
            };
            for (message, connection, is_on_core) in [
                (false, true, true),
                (true, false, true),
                (false, false, true),
                (true, true, false),
                (false, false, false),
            ] {
                assert_eq!(of(message, connection, is_on_core, is_in_cache), otherwise);
            }
        }
    }

    #[test]
    fn a_block_stays_until_others_have_filled_the_cache() {
        let mut cache = Cache::new(4096, 1024, true);
        let bypassing = Injection {
            message: false,
            ..AGREED
        };
        assert_eq!(cache.place(bypassing, 0, 1024), Placed::ToMemory);
        assert_eq!(cache.place(AGREED, 0, 1024), Placed::Injected);
        for block in 1..4 {
            cache.place(AGREED, block * 1024, 1024);
            assert_eq!(cache.place(bypassing, 0, 1024), Placed::Updated);
        }
        cache.place(AGREED, 5 * 1024, 1024);
        assert_eq!(cache.place(bypassing, 0, 1024), Placed::ToMemory);
    }

    // Regression: small pieces fill no cache by their bytes. A removal at each of them made the
    // time of a run quadratic.
    #[test]
    fn small_pieces_cause_few_removals() {
        let mut cache = Cache::new(1 << 20, 1024, true);
        for block in 0..50_000 {
            cache.place(AGREED, block * 1024, 18);
        }
        assert!(cache.blocks_max > 50_000, "{}", cache.blocks_max);
    }

    #[test]
    fn memory_does_not_grow_with_messages() {
        let mut cache = Cache::new(4096, 1024, true);
        for block in 0..100_000 {
            cache.place(AGREED, block * 1024, 1024);
        }
        assert!(cache.blocks.unwrap().len() <= BLOCKS_MIN + 1);
    }
}
