//! How much of a tree stands while it is built.
//!
//! The whole tree is one share, a number of parts. A cell hands its share on to its halves, by their triangles,
//! down to cells that are soon done; these tell when they are. So the shares of all finished cells add up to
//! the whole, whatever the planes cut and whoever builds what, and counting costs one atomic addition for some
//! thousand triangles.

use std::fmt;

use raddle_sync::prim::{AtomicU64, Relaxed};

/// Cells with fewer references than this keep their share to themselves.
pub(in crate::kdtree) const CELL_LEN_MIN: usize = 4096;

/// A part of the tree, in parts of [`WHOLE`]. Nothing is told of cells with none.
pub(in crate::kdtree) type Share = u64;

/// The share of the root.
pub(in crate::kdtree) const WHOLE: Share = 1 << 40;

/// Adds up what is done and tells it.
pub(in crate::kdtree) struct Progress<'a> {
    done: AtomicU64,
    tell: Box<dyn Fn(f32) + Send + Sync + 'a>,
}

impl<'a> Progress<'a> {
    pub(in crate::kdtree) fn new(tell: impl Fn(f32) + Send + Sync + 'a) -> Self {
        Self {
            done: AtomicU64::new(0),
            tell: Box::new(tell),
        }
    }

    /// Notes that a cell with that share is done.
    pub(in crate::kdtree) fn add(&self, share: Share) {
        if share > 0 {
            // Relaxed: a figure for people, because of which nothing is read.
            let done = self.done.fetch_add(share, Relaxed) + share;
            (self.tell)((done as f64 / WHOLE as f64) as f32);
        }
    }
}

impl fmt::Debug for Progress<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Progress")
            .field("done", &self.done)
            .finish_non_exhaustive()
    }
}

/// Deals a share out to two halves of so many references.
pub(in crate::kdtree) fn halves(share: Share, below: usize, above: usize) -> (Share, Share) {
    let all = (below + above).max(1) as u128;
    let to_below = (u128::from(share) * below as u128 / all) as Share;
    (to_below, share - to_below)
}
