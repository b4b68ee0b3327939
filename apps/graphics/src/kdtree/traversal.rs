//! Rays.

mod estimate;
mod statistics;
mod traverse;

pub use estimate::TESTS_SLOW;
pub use statistics::TreeStatistics;
pub use traverse::RayCost;
