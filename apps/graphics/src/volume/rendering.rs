//! The result of rendering a volume, and the walk of a ray that all renderers share.

use std::ops::ControlFlow;
use std::time::Duration;

use super::occupancy::{self, Occupancy};
use super::traversal::{GridRay, Span};
use crate::camera::Camera;
use crate::picture::Picture;
use crate::render::{Beams, Slabs};

/// A picture of a volume, and a report on rendering it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Rendering<Counts> {
    /// The picture.
    pub picture: Picture,
    /// The camera.
    pub camera: Camera,
    /// The work.
    pub counts: Counts,
    /// The number of rays from the camera.
    pub rays: u64,
    /// The number of macrocells of the lowest level in which something may be visible.
    pub leaf_count: u64,
    /// The number of tiles, each of which is a task.
    pub tile_count: usize,
    /// The time spent on selecting macrocells.
    pub time_prepare: Duration,
    /// The time spent on following the rays.
    pub time_trace: Duration,
}

/// Visits the occupied macrocells of the lowest level along a ray, in their order.
///
/// With `slabs`, the ray visits only the slabs of its beam. Without them, it descends level by
/// level. `size` is the number of macrocells along x, y and z, and `steps` counts the visited ones.
#[inline(always)]
pub(crate) fn visible_leaves<B>(
    ray: &GridRay,
    occupancy: &Occupancy,
    size: [usize; 3],
    span: Span,
    slabs: Option<(&Beams, Slabs)>,
    steps: &mut u64,
    mut visit: impl FnMut([usize; 3], Span) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let Some((beams, mut slabs)) = slabs else {
        return ray.leaves(occupancy, span, steps, visit);
    };
    let leaves = occupancy.level(0);
    while let Some([t_in, t_out]) = beams.next_run(&mut slabs) {
        let Some(span) = span.within(f64::from(t_in), f64::from(t_out)) else {
            continue;
        };
        ray.walk::<2, B>([[0; 3], size], span, |leaf, span| {
            *steps += 1;
            let word = leaves.words()[leaves.index_of(leaf)];
            match word >> occupancy::bit(leaf) & 1 == 0 {
                true => ControlFlow::Continue(()),
                false => visit(leaf, span),
            }
        })?;
    }
    ControlFlow::Continue(())
}
