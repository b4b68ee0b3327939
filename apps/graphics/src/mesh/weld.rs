//! Merges identical points to one vertex.
//!
//! STL repeats every corner for every triangle, but smooth shading needs to know that they are one
//! vertex. The table uses open addressing with linear probing over 32-bit vertex numbers and is at
//! most half full. The points themselves are stored only in the mesh. Negative zero equals zero.
//! Vertices are numbered by first appearance, so their numbers do not depend on the hash. The hash
//! has a random key, so that no file can cause collisions on purpose.
//!
//! # Source
//! Knuth, The Art of Computer Programming 3, 2nd edition, section 6.4 (algorithm L, multiplicative
//! hashing).

use std::hash::{BuildHasher, RandomState};

use glam::DVec3;

use super::points::{Point, Points};

#[cfg(test)]
mod tests;

/// The marker of a free slot in the table.
const FREE: u32 = u32::MAX;

/// Assigns equal numbers to equal points.
#[derive(Debug)]
pub(crate) struct Welder<P> {
    pub(crate) points: Points<P>,
    /// The hash table of vertex numbers; its length is a power of two.
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

    /// Returns the number of the vertex at `point`, and adds a vertex if there is none yet.
    ///
    /// Returns `None` if there are already 2^32 - 1 vertices.
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

    /// Returns the slot that contains the number of `point`, or the free slot where it belongs.
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
