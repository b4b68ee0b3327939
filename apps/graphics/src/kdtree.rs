//! kd-trees by the exact surface-area heuristic, built in O(N log N), and the way of rays through them.
//!
//! A tree halves space with axis-aligned planes until the heuristic says that testing what is left is cheaper
//! than halving on. [`KdTree::build`] does it with all workers, [`KdTree::build_sequential`] with the calling
//! thread alone; both give the same tree, node for node.
//!
//! ```text
//! parameters   what is weighed; level: the bound on copies of cut triangles
//! event        an end of a triangle's extent along an axis; sorting, merging
//! arena        the names of triangles, and the pieces that planes cut them into
//! cell         a box with its triangles and their events
//! sweep        the cheapest plane of a cell
//! mark         who is on which side of it
//! clip         the extents of the pieces of a triangle cut by a plane; perfect_split: the same for builders elsewhere
//! route        where the events of a triangle go
//! split, deal  dealing a cell's triangles and events out to its halves; lists: these while they are filled
//! shares       the same by several, each of whom has a part of the lists; halving: what their phases hand on
//! build        what all builders share; prepared: what they start from; crew: who does it
//! duplicates   leaving out triangles that no ray can hit
//! sequential, tasks, messages: the builders
//! work, store  what the latter two do with each cell, and in which memory; sums: what was counted, added up
//! assemble     from their pieces to a tree
//! large        hierarchies of boxes for large leaves
//! node         eight bytes of tree; traverse: rays; statistics: figures; estimate: what a ray costs
//! ```
//!
//! **Invariant:** whatever a builder decides depends on the cell alone, never on how or by whom the work is
//! done: every list has one possible order, and ties have a rule.
//!
//! # Source
//! I. Wald, V. Havran: On building fast kd-trees for ray tracing, and on doing that in O(N log N). IEEE
//! Symposium on Interactive Ray Tracing 2006.

mod builders;
mod cells;
mod cost;
mod crew;
mod error;
mod layout;
mod phases;
mod preparation;
mod sums;
mod traversal;

pub use builders::{Timed, messages};
pub use cost::parameters::{DEPTH_MAX, DepthLimit, Parameters};
pub use crew::{AllWorkers, Crew};
pub use error::BuildError;
pub use layout::node::{Node, NodeKind};
pub use layout::tree::KdTree;
pub use phases::perfect_split;
pub use preparation::{PrepareTimes, Prepared};
pub use traversal::{RayCost, TESTS_SLOW, TreeStatistics};

#[cfg(test)]
mod tests;
