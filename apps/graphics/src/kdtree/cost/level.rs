//! The level of a cell in the tree: its depth, and how much the planes above it have copied.
//!
//! A plane that cuts triangles copies their references, since both halves get one. Long triangles
//! that cross many cells thus multiply level by level, while each plane seems to gain a little. So
//! every path from the root has a bound: the product of `(below + above) / count` over the planes
//! of its large cells must not exceed
//! [`Parameters::copies_max`](super::parameters::Parameters::copies_max). A plane that would exceed
//! the bound is not used.
//!
//! # Why this bounds the tree
//! Give the root a budget of `copies_max · N` references, and let each cell divide its budget
//! between its halves in proportion to their references. Then every reference of a cell has the
//! same share of the budget: `copies_max` at the root, and at any other cell `copies_max` divided
//! by the product on its path. The bound keeps that share at 1 or above. So no large cell has more
//! references than its budget, and neither has a cell that has just become small. The cells of one
//! level share the budget of the root, so they have at most `copies_max · N` references in total.
//!
//! Small cells are exempt. The last levels of every tree copy references several times to save some
//! tests, and these cells cannot grow far.
//!
//! # Source
//! A bound on the copies instead of a price: S. Popov, I. Georgiev, R. Dimov, P. Slusallek: Object
//! partitioning considered harmful: space subdivision for BVHs. High Performance Graphics 2009,
//! section 5. There, a queue grants copies to the best split of all. A budget for each path needs
//! no order among cells, so every builder makes the same tree.

use super::plane::Plane;

/// Cells with fewer references than this are small.
pub(in crate::kdtree) const LARGE_LEN_MIN: usize = 64;

/// The depth of a cell, and the copies on the path to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::kdtree) struct Level {
    /// The depth in the tree. The root has depth 0.
    pub(in crate::kdtree) depth: u32,
    /// The product of the copy factors of the planes above.
    copies: f64,
}

impl Level {
    /// The level of the root.
    pub(in crate::kdtree) const ROOT: Self = Self {
        depth: 0,
        copies: 1.0,
    };

    /// Returns the level of both halves of a cell that is at this level and has `count` references.
    #[must_use]
    pub(in crate::kdtree) fn below(self, plane: &Plane, count: usize) -> Self {
        Self {
            depth: self.depth + 1,
            copies: self.copies * plane.copies(count),
        }
    }

    /// Returns true if a plane respects the bound on copies.
    pub(in crate::kdtree) fn allows(self, plane: &Plane, count: usize, copies_max: f64) -> bool {
        let factor = plane.copies(count);
        count < LARGE_LEN_MIN || factor <= 1.0 || self.copies * factor <= copies_max
    }
}
