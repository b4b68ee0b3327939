//! A random number generator that migrates with its element.

use serde::{Deserialize, Serialize};

/// A generator of pseudorandom numbers: xorshift64.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Dice(u64);

impl Dice {
    /// Creates a generator with a different sequence for each `number`.
    pub(crate) fn new(number: u64) -> Self {
        Self((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Returns a number below `sides`.
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }
}
