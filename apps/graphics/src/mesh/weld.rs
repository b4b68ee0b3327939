//! Making one vertex of all points that are the same to the last bit.
//!
//! STL repeats every corner for every triangle; a smooth picture needs to know that they are one. The table
//! is open addressing with linear probing over 32-bit vertex numbers, at most half full; the points stand
//! in the mesh alone. Negative zero is the same as zero. The numbering is by first appearance, so it does not
//! depend on the hash, which is keyed at random so that no file can be made to collide.
//!
//! # Source
//! Knuth, The Art of Computer Programming 3, 2nd edition, section 6.4 (algorithm L, multiplicative hashing).

use std::hash::{BuildHasher, RandomState};

use glam::DVec3;

use super::points::{Point, Points};

#[cfg(test)]
mod tests;

/// A free place in the table.
const FREE: u32 = u32::MAX;

/// Gives equal points equal numbers.
#[derive(Debug)]
pub(crate) struct Welder<P> {
    pub(crate) points: Points<P>,
    /// Numbers of vertices at the places that their hashes point to; a power of two of them.
    table: Vec<u32>,
    key: u64,
}

impl<P: Point> Welder<P> {
    pub(crate) fn new() -> Self {
        Self {
            points: Points::new(),
            table: vec![FREE; 1 << 10],
            key: RandomState::new().hash_one(0) | 1,
        }
    }

    /// Returns the number of the vertex at `point`, a new one if there is none yet.
    ///
    /// None if that would be the 2^32th vertex.
    pub(crate) fn vertex(&mut self, point: P) -> Option<u32> {
        // Adding zero turns negative zero into zero.
        let point = P::from_array((point.double() + DVec3::ZERO).to_array());
        if 2 * self.points.len() >= self.table.len() {
            self.grow();
        }
        let place = self.place(point);
        if self.table[place] == FREE {
            let number = u32::try_from(self.points.len()).ok()?;
            if number == FREE {
                return None;
            }
            self.table[place] = number;
            self.points.list.push(point);
        }
        Some(self.table[place])
    }

    /// The place in the table that holds the number of `point`, or that would.
    fn place(&self, point: P) -> usize {
        let mask = self.table.len() - 1;
        let mut place = self.hash(point) & mask;
        while self.table[place] != FREE && self.points.list[self.table[place] as usize] != point {
            place = (place + 1) & mask;
        }
        place
    }

    fn hash(&self, point: P) -> usize {
        let mut hash = 0x9e37_79b9_7f4a_7c15;
        for word in point.bits() {
            let product = u128::from(hash ^ word) * u128::from(self.key);
            hash = (product as u64) ^ (product >> 64) as u64;
        }
        hash as usize
    }

    #[cold]
    fn grow(&mut self) {
        self.table = vec![FREE; 2 * self.table.len()];
        for number in 0..self.points.len() {
            let place = self.place(self.points.list[number]);
            self.table[place] = number as u32;
        }
    }
}
