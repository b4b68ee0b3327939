//! The progress of a build.
//!
//! The whole tree is one share, an integer number of units. A cell divides its share between its
//! halves in proportion to their triangles. This ends at cells that are finished soon, and these
//! report their shares when they are finished. So the shares of all finished cells add up to the
//! whole, whatever the planes cut and whichever task builds a cell. The cost is one atomic addition
//! per some thousand triangles.

use std::fmt;

use raddle_sync::prim::{AtomicU64, Relaxed};

/// Cells with fewer references than this do not divide their share.
pub(in crate::kdtree) const CELL_LEN_MIN: usize = 4096;

/// A share of the tree, in units of 1/[`WHOLE`]. A cell with share 0 reports nothing.
pub(in crate::kdtree) type Share = u64;

/// The share of the root.
pub(in crate::kdtree) const WHOLE: Share = 1 << 40;

/// Adds up the shares of finished cells and reports the sum.
pub(in crate::kdtree) struct Progress<'a> {
    done: AtomicU64,
    report: Box<dyn Fn(f32) + Send + Sync + 'a>,
}

impl<'a> Progress<'a> {
    pub(in crate::kdtree) fn new(report: impl Fn(f32) + Send + Sync + 'a) -> Self {
        Self {
            done: AtomicU64::new(0),
            report: Box::new(report),
        }
    }

    /// Records that a cell with the given share is finished.
    pub(in crate::kdtree) fn add(&self, share: Share) {
        if share > 0 {
            // Relaxed: the sum is only displayed; no other memory is read because of it.
            let done = self.done.fetch_add(share, Relaxed) + share;
            (self.report)((done as f64 / WHOLE as f64) as f32);
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

/// Divides a share between two halves with the given numbers of references.
pub(in crate::kdtree) fn halves(share: Share, below: usize, above: usize) -> (Share, Share) {
    let all = (below + above).max(1) as u128;
    let to_below = (u128::from(share) * below as u128 / all) as Share;
    (to_below, share - to_below)
}
