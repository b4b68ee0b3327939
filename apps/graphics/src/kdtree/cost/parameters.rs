//! The parameters of a tree: the costs, the bonus for empty space, and the limits.

use crate::kdtree::error::BuildError;

/// The maximum depth of any tree. The traversal keeps a stack with this many entries.
pub const DEPTH_MAX: u32 = 64;

/// The limit on the depth of a tree. The root has depth 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DepthLimit {
    /// `8 + 1.3 log2(triangles)`, the rule of Havran and of pbrt.
    #[default]
    Automatic,
    /// At most this deep, and never deeper than [`DEPTH_MAX`].
    At(u32),
    /// As deep as the costs suggest, up to [`DEPTH_MAX`].
    Unlimited,
}

impl DepthLimit {
    /// Returns the maximum depth for a mesh of `triangle_count` triangles.
    #[must_use]
    pub fn levels(self, triangle_count: usize) -> u32 {
        match self {
            Self::Automatic => {
                let levels = 8.0 + 1.3 * (triangle_count.max(1) as f64).log2();
                (levels.round() as u32).min(DEPTH_MAX)
            }
            Self::At(levels) => levels.min(DEPTH_MAX),
            Self::Unlimited => DEPTH_MAX,
        }
    }
}

/// The default bound on copies.
///
/// Scanned models and interiors stay below it. A star of needles in all directions reaches it.
/// Building the tree of such a star takes 2.5 times as long per triangle as building that of a
/// scanned model of 870,000 triangles. With a bound of 5 it would take 3.0 times as long and save a
/// tenth of the tests per ray.
const COPIES_MAX: f64 = 4.7;

/// The parameters of the surface-area heuristic.
///
/// Only the ratio of the two costs affects the shape of the tree. The defaults suit the traversal
/// of this crate. A step through an inner node waits for memory and often takes the branch that the
/// processor did not predict; a test of a triangle does neither. On scanned models, a finer tree
/// makes rays no faster and takes twice as long to build.
///
/// # Examples
/// ```
/// use raddle_graphics::kdtree::{DepthLimit, Parameters};
///
/// let shallow = Parameters { depth_limit: DepthLimit::At(8), ..Parameters::default() };
/// assert_eq!(shallow.depth_limit.levels(1_000_000), 8);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    /// The cost of a step through an inner node; finite and above zero.
    pub traversal_cost: f64,
    /// The cost of a test of a triangle; finite and above zero.
    pub intersection_cost: f64,
    /// The factor, from 0 to 1, on the cost of a plane that cuts off empty space.
    pub empty_bonus: f64,
    /// The limit on the depth of the tree.
    pub depth_limit: DepthLimit,
    /// The maximum average number of references per triangle in the large cells, at least 1. A
    /// plane that cuts triangles copies their references. With infinity, only the costs limit the
    /// copies.
    pub copies_max: f64,
}

impl Parameters {
    pub(in crate::kdtree) fn check(&self) -> Result<(), BuildError> {
        let positive = |value: f64| value > 0.0 && value < 1e30;
        let share = |value: f64| (0.0..=1.0).contains(&value);
        let checks = [
            (
                "traversal cost",
                self.traversal_cost,
                positive(self.traversal_cost),
                "a number above 0",
            ),
            (
                "intersection cost",
                self.intersection_cost,
                positive(self.intersection_cost),
                "a number above 0",
            ),
            (
                "empty bonus",
                self.empty_bonus,
                share(self.empty_bonus),
                "a number from 0 to 1",
            ),
            (
                "limit on copies",
                self.copies_max,
                self.copies_max >= 1.0,
                "a number of at least 1",
            ),
        ];
        match checks.into_iter().find(|(_, _, fits, _)| !fits) {
            Some((name, value, _, expected)) => Err(BuildError::ParameterOutOfRange {
                name,
                value,
                expected,
            }),
            None => Ok(()),
        }
    }
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            traversal_cost: 1.0,
            intersection_cost: 0.5,
            empty_bonus: 0.9,
            depth_limit: DepthLimit::Automatic,
            copies_max: COPIES_MAX,
        }
    }
}
