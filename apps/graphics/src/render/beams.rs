//! The depths at which anything is visible through each part of a picture.
//!
//! A beam is a square of pixels, divided by depth into 64 slabs. A bit for each slab says whether a
//! box is visible in it. A ray needs to follow the scene only in the slabs of its beam with a box.
//! The boxes are projected once for each picture, which is much less work than finding them by
//! every ray.
//!
//! **Invariant:** a box that is visible in a beam is in slabs of that beam from end to end. So a
//! ray never begins or ends inside a box, and beams change the time for a picture, but never the
//! picture.

use glam::Vec3;

use crate::bounds::Bounds;
use crate::camera::Camera;

#[cfg(test)]
mod tests;

/// The number of pixels along an edge of a beam.
pub(super) const EDGE: u32 = 4;
/// The number of slabs.
const SLABS: u32 = u64::BITS;
/// The relative width of the margin around boxes, for rounding errors.
const MARGIN: f32 = 1e-4;

/// The beams of a picture.
#[derive(Debug)]
pub(crate) struct Beams {
    /// The number of beams in a row.
    width: usize,
    /// The slabs with a box, for each beam.
    slabs: Vec<u64>,
    /// The depth of the first slab, and the depth of each of them.
    near: f32,
    slab_depth: f32,
}

/// The slabs of a beam with a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slabs(u64);

impl Beams {
    /// Projects boxes with the half edges `axes` in `bounds`. `centres` passes their centres to its
    /// argument.
    ///
    /// Returns `None` for a camera that cannot project, and if the bounds reach behind the eye.
    pub(crate) fn of(
        camera: &Camera,
        size: (u32, u32),
        bounds: Bounds,
        axes: [Vec3; 3],
        centres: impl Fn(&mut dyn FnMut(Vec3)),
    ) -> Option<Self> {
        let [forward, right, up] = camera.axes();
        let eye = camera.eye();
        // In the axes of the camera, all boxes have the same extent.
        let extent = |axis: Vec3, edges: [Vec3; 3]| {
            let extent: f32 = edges.iter().map(|edge| axis.dot(*edge).abs()).sum();
            extent * (1.0 + MARGIN)
        };
        let half = [right, up, forward].map(|axis| extent(axis, axes));
        // All boxes are within the bounds, up to the size of a box.
        let size_all = 0.5 * bounds.extent();
        let edges = [
            Vec3::X * size_all.x,
            Vec3::Y * size_all.y,
            Vec3::Z * size_all.z,
        ];
        let (middle, reach) = (
            forward.dot(bounds.center() - eye),
            extent(forward, edges) + 2.0 * half[2],
        );
        let near = middle - reach - MARGIN * middle.abs();
        let slab_depth = 2.0 * (reach + MARGIN * middle.abs()) / SLABS as f32;
        let width = size.0.div_ceil(EDGE) as usize;
        let height = size.1.div_ceil(EDGE) as usize;
        let mut slabs = vec![0; width * height];
        let mut is_complete = near > 0.0;
        centres(&mut |centre| {
            let offset = centre - eye;
            let middle = [right, up, forward].map(|axis| axis.dot(offset));
            let margin = MARGIN * middle[2].abs();
            let half = half.map(|half| half + margin);
            let Some([left, top, end_x, end_y]) = camera.footprint(middle, half, size) else {
                is_complete = false;
                return;
            };
            let slab = |depth: f32| (((depth - near) / slab_depth) as u32).min(SLABS - 1);
            let (first, last) = (slab(middle[2] - half[2]), slab(middle[2] + half[2]));
            let mask = (u64::MAX << first) & (u64::MAX >> (SLABS - 1 - last));
            let first = |pixel: f32| (pixel.max(0.0) as usize) / EDGE as usize;
            let end = |pixel: f32, count: usize| {
                ((pixel.max(-(EDGE as f32)) + EDGE as f32) as usize / EDGE as usize).min(count)
            };
            let (end_x, end_y) = (end(end_x, width), end(end_y, height));
            for y in first(top)..end_y {
                for beam in &mut slabs[y * width..][first(left).min(end_x)..end_x] {
                    *beam |= mask;
                }
            }
        });
        is_complete.then_some(Self {
            width,
            slabs,
            near,
            slab_depth,
        })
    }

    /// Returns the slabs at a point of the picture.
    #[inline]
    pub(crate) fn slabs(&self, [x, y]: [f32; 2]) -> Slabs {
        let (x, y) = (x as usize / EDGE as usize, y as usize / EDGE as usize);
        Slabs(self.slabs[y * self.width + x])
    }

    /// Removes the first slabs without a gap, and returns the range of their depths.
    #[inline]
    pub(crate) fn next_run(&self, slabs: &mut Slabs) -> Option<[f32; 2]> {
        if slabs.is_empty() {
            return None;
        }
        let first = slabs.0.trailing_zeros();
        let end = first + (slabs.0 >> first).trailing_ones();
        slabs.0 &= u64::MAX.checked_shl(end).unwrap_or(0);
        Some([first, end].map(|slab| self.near + slab as f32 * self.slab_depth))
    }
}

impl Slabs {
    /// Returns true if nothing is visible.
    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }
}
