//! The number of an element in its collection, packed into a word. Messages carry it.
//!
//! ```text
//!   63      52 51          32 31               0
//!  ┌──────────┬──────────────┬──────────────────┐
//!  │   home   │  generation  │      index       │
//!  └──────────┴──────────────┴──────────────────┘
//! ```
//! `home` is the worker that allocated the number, and 0 in arrays. `index` is the place in that
//! home's table. `generation` counts how often the place was used before, so that a proxy of an
//! ended element does not reach the element that uses the place next. Generations never wrap
//! around: a place that has reached the last one is not used again.

use std::fmt;

use serde::{Deserialize, Serialize};

const INDEX_BITS: u32 = 32;
const GENERATION_BITS: u32 = 20;

/// The generation that no element has.
pub(crate) const LAST_GENERATION: u32 = (1 << GENERATION_BITS) - 1;

/// The number of an element. See the module's header.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Number(u64);

/// An element of any collection: the number of its collection, and its own.
pub(crate) type ElementId = (u32, Number);

impl Number {
    #[inline]
    pub(crate) fn new(home: usize, generation: u32, index: u32) -> Self {
        let high = (home as u64) << GENERATION_BITS | u64::from(generation);
        Self(high << INDEX_BITS | u64::from(index))
    }

    /// Returns the packed word, which is the same at all nodes.
    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    /// Unpacks a number from its [`bits`](Self::bits).
    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    #[inline]
    pub(crate) fn home(self) -> usize {
        (self.0 >> (INDEX_BITS + GENERATION_BITS)) as usize
    }

    #[inline]
    pub(crate) fn generation(self) -> u32 {
        (self.0 >> INDEX_BITS) as u32 & LAST_GENERATION
    }

    #[inline]
    pub(crate) fn index(self) -> u32 {
        self.0 as u32
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (home, index, generation) = (self.home(), self.index(), self.generation());
        write!(formatter, "{home}.{index}/{generation}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_unpacked_as_they_were_packed() {
        for home in [0, 1, 4095] {
            for generation in [0, 7, LAST_GENERATION] {
                for index in [0, 1, u32::MAX] {
                    let number = Number::new(home, generation, index);
                    assert_eq!(
                        (number.home(), number.generation(), number.index()),
                        (home, generation, index)
                    );
                }
            }
        }
    }
}
