//! The macrocells that a ray has to enter, as bits.
//!
//! A predicate on ranges of values decides for each macrocell: it contains an isovalue, or a value
//! that is not transparent. The 4 × 4 × 4 macrocells in one macrocell of the next level are the
//! bits of one word, so a volume of 256³ voxels takes 32 KiB, which fits into the first-level
//! cache. The bits are computed for each picture. This takes some tenths of a millisecond, since
//! only the ranges in occupied macrocells of the next level are examined.

use std::ops::Range;

use super::macrocells::{self, Blocks, EDGE, LEVELS, Macrocells};

#[cfg(test)]
mod tests;

/// The occupied macrocells of all levels, and of one level above them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Occupancy {
    /// The words of each level, the lowest level first.
    levels: [Words; LEVELS],
}

/// The occupied macrocells of a level: one word for 4 × 4 × 4 of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Words {
    /// The number of words along x, y and z.
    size: [usize; 3],
    words: Vec<u64>,
}

impl Occupancy {
    /// Selects the macrocells with a range that `is_occupied`. It must accept every range that
    /// contains an accepted one.
    pub(crate) fn of(
        macrocells: &Macrocells,
        is_occupied: impl Fn(macrocells::Range) -> bool + Sync,
    ) -> Self {
        let levels = macrocells.levels();
        Self::top_down(levels[0].size, |level, at, _| {
            word_of(&levels[level], at, &is_occupied)
        })
    }

    /// Selects macrocells, the largest ones first. `word` gets a level, the position of a word, and
    /// the number of macrocells of the level along each axis. It returns the bits of the macrocells
    /// in the word. Words in an empty macrocell of the level above are empty.
    pub(crate) fn top_down(
        leaves: [usize; 3],
        word: impl Fn(usize, [usize; 3], [usize; 3]) -> u64 + Sync,
    ) -> Self {
        let above = |size: [usize; 3]| size.map(|len| len.div_ceil(EDGE));
        let (middle, top) = (above(leaves), above(above(leaves)));
        let top_words = Words::of(top, None, |at| word(2, at, top));
        let middle_words = Words::of(middle, Some(&top_words), |at| word(1, at, middle));
        let leaf_words = Words::of(leaves, Some(&middle_words), |at| word(0, at, leaves));
        Self {
            levels: [leaf_words, middle_words, top_words],
        }
    }

    /// Selects macrocells of the lowest level by their positions. `size` is their number along x, y
    /// and z.
    pub(crate) fn of_leaves(
        size: [usize; 3],
        is_occupied: impl Fn([usize; 3]) -> bool + Sync,
    ) -> Self {
        let leaves = Words::of_positions(size, is_occupied);
        let middle = Words::of_positions(leaves.size, |[x, y, z]| leaves.word([x, y, z]) != 0);
        let top = Words::of_positions(middle.size, |[x, y, z]| middle.word([x, y, z]) != 0);
        Self {
            levels: [leaves, middle, top],
        }
    }

    /// Returns the words of a level.
    #[inline]
    pub(crate) fn level(&self, level: usize) -> &Words {
        &self.levels[level]
    }

    /// Returns the number of words of the highest level along x, y and z.
    pub(crate) fn size(&self) -> [usize; 3] {
        self.levels[LEVELS - 1].size
    }

    /// Returns the number of occupied macrocells of the lowest level.
    pub(crate) fn leaf_count(&self) -> u64 {
        let words = self.levels[0].words.iter();
        words.map(|word| u64::from(word.count_ones())).sum()
    }
}

impl Words {
    /// Selects the occupied macrocells of a level that has `len` of them along each axis. Those in
    /// an empty macrocell of the level `above` are empty.
    fn of(
        len: [usize; 3],
        above: Option<&Self>,
        word_at: impl Fn([usize; 3]) -> u64 + Sync,
    ) -> Self {
        let size = len.map(|len| len.div_ceil(EDGE));
        let mut words = vec![0; size.iter().product()];
        let mut rows: Vec<_> = words.chunks_mut(size[0]).collect();
        raddle::for_each_mut(&mut rows, |row, words| {
            let (y, z) = (row % size[1], row / size[1]);
            for (x, word) in words.iter_mut().enumerate() {
                if above.is_none_or(|above| above.get([x, y, z])) {
                    *word = word_at([x, y, z]);
                }
            }
        });
        Self { size, words }
    }

    /// Selects macrocells of a level by their positions.
    fn of_positions(len: [usize; 3], is_occupied: impl Fn([usize; 3]) -> bool + Sync) -> Self {
        let size = len.map(|len| len.div_ceil(EDGE));
        let mut words = vec![0; size.iter().product()];
        raddle::for_each_mut(&mut words, |index, word| {
            let [width, height, _] = size;
            let at = [
                index % width,
                index / width % height,
                index / (width * height),
            ];
            for position in 0..EDGE * EDGE * EDGE {
                let inner = [
                    position % EDGE,
                    position / EDGE % EDGE,
                    position / (EDGE * EDGE),
                ];
                let cell = [0, 1, 2].map(|axis: usize| at[axis] * EDGE + inner[axis]);
                let is_inside = (0..3).all(|axis| cell[axis] < len[axis]);
                *word |= u64::from(is_inside && is_occupied(cell)) << bit(cell);
            }
        });
        Self { size, words }
    }

    /// Returns all words, x fastest.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Returns the indices of the words with macrocells of a layer across z.
    pub(crate) fn of_layer(&self, z: usize) -> Range<usize> {
        let [width, height, _] = self.size;
        let first = z / EDGE * width * height;
        first..first + width * height
    }

    /// Calls `visit` with every occupied macrocell of the word with an index, and its bit.
    pub(crate) fn for_each_in(&self, index: usize, mut visit: impl FnMut([usize; 3], usize)) {
        let [width, height, _] = self.size;
        let at = [
            index % width,
            index / width % height,
            index / (width * height),
        ];
        let mut word = self.words[index];
        while word != 0 {
            let bit = word.trailing_zeros() as usize;
            word &= word - 1;
            let inner = [bit % EDGE, bit / EDGE % EDGE, bit / (EDGE * EDGE)];
            visit(
                [0, 1, 2].map(|axis: usize| at[axis] * EDGE + inner[axis]),
                bit,
            );
        }
    }

    /// Returns the index of the word of a macrocell.
    #[inline(always)]
    pub(crate) fn index_of(&self, [x, y, z]: [usize; 3]) -> usize {
        ((z / EDGE) * self.size[1] + y / EDGE) * self.size[0] + x / EDGE
    }

    /// Returns true if a macrocell is occupied.
    #[inline]
    pub(crate) fn get(&self, [x, y, z]: [usize; 3]) -> bool {
        self.word([x / EDGE, y / EDGE, z / EDGE]) >> bit([x, y, z]) & 1 == 1
    }

    /// Returns the bits of the macrocells in a macrocell of the next level.
    #[inline]
    pub(crate) fn word(&self, [x, y, z]: [usize; 3]) -> u64 {
        self.words[(z * self.size[1] + y) * self.size[0] + x]
    }
}

/// Returns the bit of a macrocell in its word.
#[inline]
pub(crate) fn bit([x, y, z]: [usize; 3]) -> u32 {
    ((z % EDGE * EDGE + y % EDGE) * EDGE + x % EDGE) as u32
}

/// Computes a word.
fn word_of(
    blocks: &Blocks,
    at: [usize; 3],
    is_occupied: impl Fn(macrocells::Range) -> bool,
) -> u64 {
    let first = at.map(|index| index * EDGE);
    let end = [0, 1, 2].map(|axis: usize| blocks.size[axis].min(first[axis] + EDGE));
    let mut word = 0;
    for z in first[2]..end[2] {
        for y in first[1]..end[1] {
            let row = (z * blocks.size[1] + y) * blocks.size[0];
            let ranges = &blocks.ranges[row + first[0]..row + end[0]];
            for (x, &range) in ranges.iter().enumerate() {
                word |= u64::from(is_occupied(range)) << bit([x, y, z]);
            }
        }
    }
    word
}
