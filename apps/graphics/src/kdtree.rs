//! kd-trees: built by the exact surface-area heuristic (SAH) in O(N log N) time, and traversed by
//! rays.
//!
//! A tree splits space by axis-aligned planes until the heuristic says that testing the remaining
//! triangles is cheaper than another split. [`KdTree::build`] uses all workers and
//! [`KdTree::build_sequential`] only the calling thread. Both give the same tree, node for node.
//!
//! The modules form layers. A module imports only from modules above it in this list:
//!
//! | module        | contents                                                                     |
//! |---------------|------------------------------------------------------------------------------|
//! | `error`       | the error type                                                               |
//! | `fork_join`   | threads that share work                                                      |
//! | `sums`        | addition of counters                                                         |
//! | `cells`       | boxes with their triangles and events                                        |
//! | `cost`        | the surface-area heuristic: parameters, sweep for the cheapest split plane   |
//! | `phases`      | splitting a cell: marking, copying triangles, copying events, perfect splits |
//! | `layout`      | the finished tree: nodes, leaves, hierarchies below large leaves, assembly   |
//! | `preparation` | the steps before a build: references, sorted events, removal of duplicates   |
//! | `builders`    | the sequential builder, the builder by tasks, and the builder by messages    |
//! | `traversal`   | rays through the tree, statistics, the estimated cost of a ray               |
//!
//! **Invariant:** every decision of a builder depends on the cell alone, never on how the work is
//! divided or which thread does it. Every list has exactly one possible order, and every tie has a
//! rule.
//!
//! # Source
//! I. Wald, V. Havran: On building fast kd-trees for ray tracing, and on doing that in O(N log N).
//! IEEE Symposium on Interactive Ray Tracing 2006.

mod builders;
mod cells;
mod cost;
mod error;
mod fork_join;
mod layout;
mod phases;
mod preparation;
mod sums;
mod traversal;

pub use builders::{Timed, messages};
pub use cost::parameters::{DEPTH_MAX, DepthLimit, Parameters};
pub use error::BuildError;
pub use fork_join::{AllWorkers, ForkJoin};
pub use layout::node::{Node, NodeKind};
pub use layout::tree::KdTree;
pub use phases::perfect_split;
pub use preparation::{PrepareTimes, Prepared};
pub use traversal::{RayCost, TESTS_SLOW, TreeStatistics};

#[cfg(test)]
mod tests;
