//! What a tree is built for: costs, the bonus for empty space, and a limit on the depth.

use crate::kdtree::error::BuildError;

/// The deepest that any tree grows: the traversal keeps a stack of that many entries.
pub const DEPTH_MAX: u32 = 64;

/// How deep a tree may grow. The root has depth 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DepthLimit {
    /// `8 + 1.3 log2(triangles)`, the rule of Havran and of pbrt.
    #[default]
    Automatic,
    /// At most this deep, and never deeper than [`DEPTH_MAX`].
    At(u32),
    /// As deep as the costs say, but for [`DEPTH_MAX`].
    Unlimited,
}

impl DepthLimit {
    /// The limit for a mesh of `triangle_count` triangles.
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

/// The bound on copies unless another is asked for.
///
/// Scanned models and rooms stay below it. A star of needles in all directions reaches it; building
/// its tree takes 2.5 times as long per triangle as that of a scanned model of 870,000 triangles.
/// With 5 that is 3.0 times, for a tenth fewer tests per ray.
const COPIES_MAX: f64 = 4.7;

/// What the surface-area heuristic weighs.
///
/// Only the ratio of the two costs matters for the shape of the tree. The defaults suit the traversal of this
/// crate, where a step through an inner node waits for memory and often goes the way that the processor did not
/// guess, and a test of a triangle does neither: on scanned models a finer tree makes rays no faster, and takes
/// twice as long to build.
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
    /// What a step through an inner node costs; finite, above zero.
    pub traversal_cost: f64,
    /// What a test of a triangle costs; finite, above zero.
    pub intersection_cost: f64,
    /// The factor, from 0 to 1, on the cost of a plane that cuts off empty space.
    pub empty_bonus: f64,
    /// How deep the tree may grow.
    pub depth_limit: DepthLimit,
    /// How many references to each triangle the large cells may have on average, where planes cut
    /// triangles and copy the references; at least 1. Infinity: as many as the costs say.
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
                "limit of copies",
                self.copies_max,
                self.copies_max >= 1.0,
                "a number from 1 on",
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
