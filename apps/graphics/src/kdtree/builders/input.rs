//! The input that all builders share, and the decision to split a cell.

use super::progress::Progress;
use crate::intersect::Corners;
use crate::kdtree::cost::level::Level;
use crate::kdtree::cost::parameters::Parameters;
use crate::kdtree::cost::plane::Plane;
use crate::kdtree::error::BuildError;

/// The input of a build.
#[derive(Debug)]
pub(in crate::kdtree) struct Input<'a> {
    /// The corners of every triangle.
    pub(in crate::kdtree) triangles: Vec<Corners>,
    pub(in crate::kdtree) parameters: Parameters,
    /// The depth at which every cell becomes a leaf.
    pub(in crate::kdtree) levels: u32,
    /// The progress of the build.
    pub(in crate::kdtree) progress: Progress<'a>,
}

impl<'a> Input<'a> {
    /// Checks the parameters and computes the maximum depth.
    pub(in crate::kdtree) fn new(
        triangles: Vec<Corners>,
        parameters: &Parameters,
        progress: Progress<'a>,
    ) -> Result<Self, BuildError> {
        parameters.check()?;
        Ok(Self {
            levels: parameters.depth_limit.levels(triangles.len()),
            triangles,
            parameters: *parameters,
            progress,
        })
    }

    /// Returns true if a cell may be split at all, that is, if its depth permits it and some plane
    /// could be cheaper than a leaf.
    #[inline]
    pub(in crate::kdtree) fn may_split(&self, reference_count: usize, level: Level) -> bool {
        let parameters = &self.parameters;
        level.depth < self.levels
            && parameters.empty_bonus * parameters.traversal_cost < self.leaf_cost(reference_count)
    }

    /// Returns the plane if it is cheaper than a leaf and respects the bound on copies.
    #[inline]
    pub(in crate::kdtree) fn worth_it(
        &self,
        plane: Option<Plane>,
        count: usize,
        level: Level,
    ) -> Option<Plane> {
        plane.filter(|plane| {
            plane.cost < self.leaf_cost(count)
                && level.allows(plane, count, self.parameters.copies_max)
        })
    }

    fn leaf_cost(&self, reference_count: usize) -> f64 {
        self.parameters.intersection_cost * reference_count as f64
    }
}
