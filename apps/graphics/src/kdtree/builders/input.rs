//! The input of a build.

use super::progress::Progress;
use crate::intersect::Corners;
use crate::kdtree::cost::level::Level;
use crate::kdtree::cost::parameters::Parameters;
use crate::kdtree::cost::plane::Plane;
use crate::kdtree::error::BuildError;

/// What a tree is built over.
#[derive(Debug)]
pub(in crate::kdtree) struct Input<'a> {
    /// The corners of every triangle.
    pub(in crate::kdtree) triangles: Vec<Corners>,
    pub(in crate::kdtree) parameters: Parameters,
    /// The depth at which every cell becomes a leaf.
    pub(in crate::kdtree) levels: u32,
    /// How much of the tree stands.
    pub(in crate::kdtree) progress: Progress<'a>,
}

impl<'a> Input<'a> {
    /// Checks the parameters and settles the depth.
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

    /// Whether a cell may be split at all: some plane could be cheaper than a leaf, and is allowed.
    #[inline]
    pub(in crate::kdtree) fn may_split(&self, reference_count: usize, level: Level) -> bool {
        let parameters = &self.parameters;
        level.depth < self.levels
            && parameters.empty_bonus * parameters.traversal_cost < self.leaf_cost(reference_count)
    }

    /// The plane, if it is cheaper than a leaf and keeps to the bound on copies.
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
