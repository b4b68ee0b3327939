//! Perfect splits for other builders: the boxes of both pieces of a triangle that a plane cuts.

use super::clip;
use crate::intersect::Corners;
use crate::kdtree::cells::extent::Extent;
use crate::mesh::Bounds;

/// Cuts a triangle by the plane at `position` along `axis` and returns the boxes of its pieces, below and above.
///
/// `extent` is the box of the part of the triangle inside `cell`; it reaches to both sides of the plane, and the
/// pieces' boxes stay in it. Of a triangle that was never cut it is the box of all of it, of a piece what this has returned. A piece
/// is `None` where the triangle reaches into its half by no more than rounding. Cost: some 200 ns.
///
/// # Examples
/// ```
/// use glam::Vec3;
/// use raddle_graphics::kdtree::perfect_split;
/// use raddle_graphics::mesh::Bounds;
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
