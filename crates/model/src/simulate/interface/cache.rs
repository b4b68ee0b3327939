//! Whether a packet's data goes into the receiver's cache (the study's figure 4), and what is there.
//!
//! ```text
//!  message and connection agree  ─ yes ─► process is on the core ─ yes ─► INJECTED: lines are allocated
//!            │ no                              │ no
//!            └────────────────┬────────────────┘
//!                             ▼
//!              lines are in the cache ─ yes ─► UPDATED, in place
//!                             │ no
//!                             ▼
//!                         TO MEMORY
//! ```
//! What is in the cache is known by blocks, as large as a packet's data: a block is there until as many bytes have come in after it as the cache
//! holds (first in, first out). That is kept only where it can make a difference: where all is injected, nobody asks.
//!
//! # Source
//! Parker 2013, section 3.3.2 and figure 4.

use std::collections::HashMap;

use crate::parameters::Parameters;

/// Fewer blocks are not looked through.
const BLOCKS_MIN: usize = 64;

/// How the data of messages and connections is meant for the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Injection {
    /// The message's hint.
    pub message: bool,
    /// The connection's.
    pub connection: bool,
    /// Whether the process is on the core.
    pub is_on_core: bool,
}

/// Where data went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Placed {
    /// Into the cache, whatever it had to put out.
    Injected,
    /// Into lines that the cache had.
    Updated,
    /// To memory.
    ToMemory,
}

impl Injection {
    /// Where data goes, if the cache has its lines or has not.
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

/// What messages have put into a core's cache.
#[derive(Clone, Debug)]
pub(in crate::simulate) struct Cache {
    capacity: u64,
    block_bytes: u64,
    /// Bytes that have come in since the begin.
    brought: u64,
    /// When each block came in, by that clock; nothing where nobody asks.
    blocks: Option<HashMap<u64, u64>>,
    /// With so many of them those that have left are forgotten.
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

    /// Places a packet's data.
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

    /// Notes that so many bytes from an address on are in the cache, because of a message or of who has read it.
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
        // Looked through when there are twice as many as were there last time, so that it costs each block little.
        if blocks.len() > self.blocks_max {
            let oldest = self.brought.saturating_sub(self.capacity);
            blocks.retain(|_, &mut came| came > oldest);
            self.blocks_max = BLOCKS_MIN.max(2 * blocks.len());
        }
    }

    /// What knowing of all blocks takes, if each is full.
    pub(in crate::simulate) fn memory_bytes(parameters: &Parameters) -> u64 {
        let blocks = parameters.cache.bytes.0 / f64::from(parameters.network.packet_payload_bytes);
        // Twice as many before they are looked through, and a table that is half full.
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

    /// Blocks of which little is known fill no cache by their bytes: looked through at each, they made a run quadratic.
    #[test]
    fn small_pieces_are_looked_through_seldom() {
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
