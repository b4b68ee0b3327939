//! Perfect splits as a public function, for builders outside of this crate: the boxes of both
//! pieces of a triangle that a plane cuts.

use super::clip;
use crate::bounds::Bounds;
use crate::intersect::Corners;
use crate::kdtree::cells::extent::Extent;

/// Cuts a triangle by the plane at `position` along `axis` and returns the boxes of its pieces,
/// below and above.
///
/// `extent` is the box of the part of the triangle inside `cell`. For a triangle that was never
/// cut, this is the box of the whole triangle; for a piece, it is the box that an earlier call
/// returned. `extent` must reach to both sides of the plane, and the returned boxes lie within it.
/// A piece is `None` if the triangle reaches into that half only because of rounding. Takes about
/// 200 ns.
///
/// # Examples
/// ```
/// use glam::Vec3;
/// use raddle_graphics::kdtree::perfect_split;
/// use raddle_graphics::bounds::Bounds;
///
/// let triangle = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
/// let extent = Bounds { min: Vec3::ZERO, max: Vec3::new(4.0, 4.0, 0.0) };
/// let [below, above] = perfect_split::pieces(&triangle, extent, extent, 0, 1.0);
/// assert_eq!(below.unwrap().max, Vec3::new(1.0, 4.0, 0.0));
/// assert_eq!(above.unwrap().max, Vec3::new(4.0, 3.0, 0.0));
/// ```
#[must_use]
pub fn pieces(
    triangle: &Corners,
    extent: Bounds,
    cell: Bounds,
    axis: usize,
    position: f32,
) -> [Option<Bounds>; 2] {
    let as_extent = |bounds: Bounds| Extent {
        low: bounds.min.to_array(),
        high: bounds.max.to_array(),
    };
    let (below, above) = clip::halves(
        triangle,
        &as_extent(extent),
        &as_extent(cell),
        axis,
        position,
    );
    [below, above].map(|piece| piece.map(Bounds::from))
}
