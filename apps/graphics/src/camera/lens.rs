//! The projections of cameras.

use glam::Vec3;

/// The projection of a camera.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Lens {
    /// All rays start at the eye.
    Perspective {
        /// The tangent of half of the vertical field of view.
        tangent: f32,
    },
    /// All rays are parallel to the line of sight, and start in the plane of the eye.
    Orthographic {
        /// Half of the height of the picture.
        half_height: f32,
    },
    /// All rays are parallel. The eye is the upper left corner of the picture.
    Matrix {
        /// The image of a pixel to the right.
        right: Vec3,
        /// The image of a pixel downwards.
        down: Vec3,
        /// The image of a unit of depth.
        depth: Vec3,
    },
}
