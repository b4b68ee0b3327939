//! Estimates the cost of a ray by following sample rays and counting their triangle tests.
//!
//! The surface-area heuristic takes into account neither that rays stop at their first hit nor the
//! hierarchies of large leaves. So its cost compares trees of the same triangles, but does not tell
//! whether rays are slow.

use glam::Vec3;

use super::traverse::RayCost;
use crate::kdtree::layout::tree::KdTree;
use crate::ray::Ray;

/// The maximum number of sample rays.
const RAY_COUNT: u32 = 512;
/// The number of tests after which no further ray is followed.
const TESTS_MAX: u64 = 4_000_000;
/// Rays that test more triangles than this on average are slow. In trees of scanned models they
/// test about ten.
pub const TESTS_SLOW: f64 = 1_000.0;

impl KdTree {
    /// Estimates the average number of triangles that a ray tests, by following sample rays.
    ///
    /// The rays come from all directions and aim at points in the box of the tree. They are the
    /// same for the same box. Takes at most some hundred rays and a few million tests.
    #[must_use]
    pub fn tests_per_ray(&self) -> f64 {
        let (center, extent) = (self.bounds.center(), self.bounds.extent());
        if extent == Vec3::ZERO {
            return 0.0;
        }
        let (mut cost, mut count) = (RayCost::default(), 0);
        while count < RAY_COUNT && cost.tests < TESTS_MAX {
            let [around, height, x, y, z] = spread(count);
            let (sin, cos) = (std::f32::consts::TAU * around).sin_cos();
            let height = 2.0 * height - 1.0;
            let radius = (1.0 - height * height).sqrt();
            let direction = Vec3::new(radius * cos, radius * sin, height);
            let origin = center + extent.length() * direction;
            let target = self.bounds.min + extent * Vec3::new(x, y, z);
            cost += self.nearest_with_cost(&Ray::new(origin, target - origin)).1;
            count += 1;
        }
        cost.tests as f64 / f64::from(count)
    }
}

/// Returns five numbers in [0, 1) for each index. Over all indices they fill the space evenly.
///
/// # Source
/// M. Roberts: The unreasonable effectiveness of quasirandom sequences, 2018: an additive
/// recurrence with the powers of 1/φ, where φ⁶ = φ + 1.
fn spread(index: u32) -> [f32; 5] {
    const PHI: f64 = 1.134_724_138_401_519_4;
    [1, 2, 3, 4, 5].map(|power| {
        let step = PHI.powi(-power);
        (0.5 + step * f64::from(index + 1)).fract() as f32
    })
}
