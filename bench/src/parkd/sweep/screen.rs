//! Weighing in `f32`, which finds the blocks of a list that may contain its lightest plane.
//!
//! The events are processed in chunks of several blocks. The first pass counts the starts, without
//! a branch and with a dependency chain of one addition per event. The second pass weighs all
//! planes in `f32`, four at a time. Blocks with planar triangles are weighed in `f64` at once.

use std::ops::Range;

use super::super::event::{self, PLANAR, START};
use super::{Lightest, Passed, Sweep};

/// The number of events in a block.
pub(super) const BLOCK_LEN: usize = 32;
/// The number of blocks that are counted at a time.
const CHUNK_BLOCKS: usize = 16;

/// Memory for weighing in `f32`.
#[derive(Debug)]
pub(in super::super) struct Screen {
    weighed: Weighed,
    /// For each block of a chunk: the number of starts before each event, and after the last.
    starts: [[u32; BLOCK_LEN + 1]; CHUNK_BLOCKS],
    /// True if a block has no planar events, and its positions have the same sign.
    is_plain: [bool; CHUNK_BLOCKS],
}

impl Default for Screen {
    fn default() -> Self {
        Self {
            weighed: Weighed::default(),
            starts: [[0; BLOCK_LEN + 1]; CHUNK_BLOCKS],
            is_plain: [false; CHUNK_BLOCKS],
        }
    }
}

/// The blocks that were weighed.
#[derive(Debug, Default)]
pub(super) struct Weighed {
    pub(super) blocks: Vec<Block>,
    /// The minimum over all blocks.
    pub(super) least: f32,
}

impl Weighed {
    fn clear(&mut self) {
        self.blocks.clear();
        self.least = f32::INFINITY;
    }

    #[inline]
    fn push(&mut self, least: f32, first: usize, passed: Passed) {
        self.least = self.least.min(least);
        self.blocks.push(Block {
            least,
            first,
            passed,
        });
    }
}

/// A block that was weighed in `f32`.
#[derive(Debug)]
pub(super) struct Block {
    /// The approximate minimum weight in the block.
    pub(super) least: f32,
    pub(super) first: usize,
    pub(super) passed: Passed,
}

impl Sweep<'_> {
    /// Weighs the planes through some events approximately. `passed` are the counts before them.
    #[inline]
    pub(super) fn screen<'a>(
        &self,
        range: Range<usize>,
        mut passed: Passed,
        screen: &'a mut Screen,
    ) -> &'a Weighed {
        screen.weighed.clear();
        let mut first = range.start;
        let (blocks, rest) = self.events[range.clone()].as_chunks::<BLOCK_LEN>();
        for chunk in blocks.chunks(CHUNK_BLOCKS) {
            self.screen_blocks(
                chunk,
                first..first + chunk.len() * BLOCK_LEN,
                &mut passed,
                screen,
            );
            first += chunk.len() * BLOCK_LEN;
        }
        if let Some(&last) = rest.last() {
            // Fill the block with starts at the last event's position. They are not lighter than
            // it.
            let filler = event::pack(event::position(last), START, 0);
            let mut chunk = [[filler; BLOCK_LEN]];
            chunk[0][..rest.len()].copy_from_slice(rest);
            self.screen_blocks(&chunk, first..range.end, &mut passed, screen);
        }
        &screen.weighed
    }

    /// Weighs the blocks of the events of `range`. The last block may be filled up beyond its end.
    ///
    /// `passed` are the counts before the events. They are advanced to the end of `range`.
    #[inline]
    fn screen_blocks(
        &self,
        chunk: &[[u64; BLOCK_LEN]],
        range: Range<usize>,
        passed: &mut Passed,
        screen: &mut Screen,
    ) {
        let Screen {
            weighed,
            starts,
            is_plain,
        } = screen;
        // Count all blocks before weighing any: a value that was just stored word by word cannot be
        // loaded four words at a time until it has left the processor's store queue.
        let mut sum = 0;
        for ((block, starts), is_plain) in chunk.iter().zip(&mut *starts).zip(&mut *is_plain) {
            let mut kinds = 0;
            starts[0] = sum;
            for (slot, &event) in starts[1..].iter_mut().zip(block) {
                sum += event as u32 >> 31;
                *slot = sum;
                kinds |= event;
            }
            let signs = block[0] ^ block[BLOCK_LEN - 1];
            *is_plain = event::kind(kinds) & PLANAR == 0 && signs >> 63 == 0;
        }
        for (number, block) in chunk.iter().enumerate() {
            let first = range.start + number * BLOCK_LEN;
            let before = *passed;
            let least = if is_plain[number] {
                let starts = &starts[number];
                let met = starts[BLOCK_LEN] - starts[0];
                passed.met += met;
                passed.left += BLOCK_LEN as u32 - met;
                self.least_in_plain(block, starts, before)
            } else {
                let end = range.end.min(first + BLOCK_LEN);
                let mut own = Lightest::NONE;
                self.weigh(first..end, before, &mut own);
                *passed = before + Passed::over(&self.events[first..end]);
                (own.weight / self.perimeter) as f32
            };
            weighed.push(least, first, before);
        }
    }

    /// Returns the minimum weight of a block without planar events and with positions of one sign,
    /// in units of the perimeter.
    #[inline]
    fn least_in_plain(
        &self,
        block: &[u64; BLOCK_LEN],
        starts: &[u32; BLOCK_LEN + 1],
        before: Passed,
    ) -> f32 {
        let flip = event::flip_of(block[0]);
        let ratio = (self.cross / self.perimeter) as f32;
        let below_first = before.met as i32 as f32;
        let above_first = (self.count - before.left) as i32 as f32 - 1.0;
        let mut positions = [0; BLOCK_LEN];
        for (position, &event) in positions.iter_mut().zip(block) {
            *position = (event >> 32) as u32;
        }
        let mut weights = [0.0_f32; BLOCK_LEN];
        for (index, weight) in weights.iter_mut().enumerate() {
            let position = f32::from_bits(positions[index] ^ flip);
            let below = below_first + (starts[index] - starts[0]) as i32 as f32;
            // The events so far are either starts or ends.
            let above =
                above_first + (starts[index + 1] as i32 - (starts[0] + index as u32) as i32) as f32;
            *weight =
                (ratio + (position - self.low)) * below + (ratio + (self.high - position)) * above;
        }
        least_of(weights)
    }
}

/// Returns the minimum of some weights.
#[inline]
fn least_of(mut weights: [f32; BLOCK_LEN]) -> f32 {
    let mut width = BLOCK_LEN;
    while width > 1 {
        width /= 2;
        let (first, second) = weights.split_at_mut(width);
        for (weight, &other) in first.iter_mut().zip(&*second) {
            *weight = if other < *weight { other } else { *weight };
        }
    }
    weights[0]
}
