//! Rays through a finished tree: [`traverse`] finds hits, [`statistics`] measures the tree, and
//! [`estimate`] follows sample rays.

mod estimate;
mod statistics;
mod traverse;

pub use estimate::TESTS_SLOW;
pub use statistics::TreeStatistics;
pub use traverse::RayCost;
