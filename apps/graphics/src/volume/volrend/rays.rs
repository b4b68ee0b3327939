//! Traces a ray through a density map.

use std::ops::ControlFlow;

use super::VolrendCounts;
use super::tables::{Shaded, Tables};
use super::view::{Camera, TABLE_LEN};
use crate::volume::occupancy::bit;
use crate::volume::traversal::{GridRay, Span};

/// The opacity at which a ray ends.
const OPAQUE: f32 = 0.95;
/// The share of the light that is left at the greatest depth, less than one.
const DEPTH_CUE: f32 = 0.6;
/// The maximum number of parts in which blocks are projected to beams.
const BEAM_PARTS_MAX: usize = 8;
/// The distance of samples from the last voxels.
const MARGIN: f32 = 1e-5 + 1.0 / 255.0;

/// The data that all rays of a frame need.
#[derive(Debug)]
pub(super) struct Tracer<'a> {
    tables: &'a Tables,
    camera: Camera,
    /// For each square of 4 × 4 pixels, the range of depths at which blocks are visible in it.
    beams: Vec<[f32; 2]>,
    beam_width: usize,
}

impl<'a> Tracer<'a> {
    pub(super) fn new(tables: &'a Tables, camera: Camera) -> Self {
        let (beams, beam_width) = beams(tables, &camera);
        Self {
            tables,
            camera,
            beams,
            beam_width,
        }
    }

    /// Returns true if nothing is visible in the square of 4 × 4 pixels with a corner.
    pub(super) fn is_empty(&self, (x, y): (u32, u32)) -> bool {
        let [near, far] = self.depths(x, y);
        near > far
    }

    /// Returns the range of depths at which blocks are visible near a pixel.
    fn depths(&self, x: u32, y: u32) -> [f32; 2] {
        self.beams[(y / 4) as usize * self.beam_width + (x / 4) as usize]
    }

    /// Returns the ray of a pixel, its part in the volume, and the depths of the first and the last
    /// sample there; `None` for a ray without a sample.
    #[inline(always)]
    fn path(&self, x: u32, y: u32) -> Option<(GridRay, Span, [u32; 2])> {
        let [right, up, along] = self.camera.steps;
        let origin = self.camera.origin + f64::from(x) * right + f64::from(y) * up;
        let ray = GridRay::new(origin, along);
        let steps = f64::from(self.camera.edge - 1);
        let span = ray.clip(self.tables.size.map(|len| len - 1), 0.0, steps)?;
        let (first, last) = (span.t_in.ceil() as u32, span.t_out.floor() as u32);
        (first <= last).then_some((ray, span, [first, last]))
    }

    /// Returns true if the ray of a pixel has a sample in the volume.
    pub(super) fn is_inside(&self, x: u32, y: u32) -> bool {
        self.path(x, y).is_some()
    }

    /// Returns the grey of a pixel.
    pub(super) fn pixel(&self, x: u32, y: u32, counts: &mut VolrendCounts) -> u8 {
        let Some((ray, span, [first, last])) = self.path(x, y) else {
            return 0;
        };
        let [near, far] = self.depths(x, y).map(f64::from);
        let Some(span) = span.within(near, far) else {
            return 0;
        };
        let (mut colour, mut alpha) = (0.0_f32, 0.0_f32);
        // Samples have whole depths. One at the border of two blocks must not count twice.
        let mut next = first;
        let cue = DEPTH_CUE / (self.camera.edge - 1) as f32;
        let [from, step] = [ray.origin, ray.direction].map(|it| it.map(|value| value as f32));
        let _ = ray.walk::<2, ()>([[0; 3], self.tables.block_size], span, |block, span| {
            let cells = self.tables.block(block).cells;
            if cells == 0 {
                return ControlFlow::Continue(());
            }
            let end = (span.t_out.floor() as u32).min(last);
            next = next.max(span.t_in.max(0.0).ceil() as u32);
            while next <= end {
                let depth = next as f32;
                let place = |axis: usize| from[axis] + depth * step[axis];
                let place = [place(0), place(1), place(2)];
                let cell = [place[0] as usize, place[1] as usize, place[2] as usize];
                next += 1;
                // A rounding error may lead to the next block.
                let other = ((cell[0] / 4) ^ block[0])
                    | ((cell[1] / 4) ^ block[1])
                    | ((cell[2] / 4) ^ block[2]);
                if other != 0 || cells >> bit(cell) & 1 == 0 {
                    continue;
                }
                let light = 1.0 - cue * depth;
                counts.samples += 1;
                let (sample, opacity) = self.sample(place);
                colour += sample * light.clamp(0.0, 1.0) * (1.0 - alpha);
                alpha += opacity * (1.0 - alpha);
                if alpha > OPAQUE {
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        });
        colour.round().min(255.0) as u8
    }

    /// Interpolates colour, times opacity, and opacity between eight voxels.
    #[inline]
    fn sample(&self, place: [f32; 3]) -> (f32, f32) {
        let tables = self.tables;
        let clamped = |axis: usize| place[axis].min((tables.size[axis] - 1) as f32 - MARGIN);
        let place = [clamped(0), clamped(1), clamped(2)];
        let cell = [place[0] as usize, place[1] as usize, place[2] as usize];
        let share = |axis: usize| place[axis] - cell[axis] as f32;
        let (x, y, z) = (share(0), share(1), share(2));
        let corners = tables.corners(cell);
        let row = |first: usize, weight: f32| {
            let part = |voxel: Shaded, weight: f32| {
                let part = weight * f32::from(voxel.opacity());
                let shade = self.camera.shades[voxel.normal() % TABLE_LEN];
                (part * f32::from(shade), part)
            };
            let (first, second) = (
                part(corners[first], weight * (1.0 - x)),
                part(corners[first + 1], weight * x),
            );
            (first.0 + second.0, first.1 + second.1)
        };
        let rows = [
            row(0, (1.0 - y) * (1.0 - z)),
            row(2, y * (1.0 - z)),
            row(4, (1.0 - y) * z),
            row(6, y * z),
        ];
        let colour = (rows[0].0 + rows[1].0) + (rows[2].0 + rows[3].0);
        let opacity = (rows[0].1 + rows[1].1) + (rows[2].1 + rows[3].1);
        (colour * (1.0 / 255.0), opacity * (1.0 / 255.0))
    }
}

/// Finds the range of depths at which blocks are visible in each square of 4 × 4 pixels, with all
/// workers of the runtime. Also returns the number of squares in a row.
fn beams(tables: &Tables, camera: &Camera) -> (Vec<[f32; 2]>, usize) {
    let width = camera.edge.div_ceil(4) as usize;
    let none = || vec![[f32::INFINITY, f32::NEG_INFINITY]; width * width];
    let leaves = tables.occupancy.level(0);
    let words = leaves.words().len();
    let count = raddle::worker_count().min(BEAM_PARTS_MAX);
    let parts = raddle::map(0..count, |part| {
        let mut beams = none();
        for index in part * words / count..(part + 1) * words / count {
            leaves.for_each_in(index, |block, _| {
                add_block(&mut beams, width, camera, block)
            });
        }
        beams
    });
    let all = parts.into_iter().reduce(|mut all, part| {
        for (beam, [near, far]) in all.iter_mut().zip(part) {
            *beam = [beam[0].min(near), beam[1].max(far)];
        }
        all
    });
    (all.unwrap_or_else(none), width)
}

/// Extends the ranges of the squares in which a block is visible.
fn add_block(beams: &mut [[f32; 2]], width: usize, camera: &Camera, block: [usize; 3]) {
    // Half the extent of a block in the picture, and a margin for rounding errors.
    let reach = camera
        .steps
        .map(|axis| 2.0 * axis.abs().element_sum() + 1e-3);
    let middle = glam::DVec3::from_array(block.map(|at| 4.0 * at as f64 + 2.0));
    let offset = middle - camera.origin;
    let [x, y, depth] = camera.steps.map(|axis| axis.dot(offset));
    let (near, far) = ((depth - reach[2]) as f32, (depth + reach[2]) as f32);
    let first = |at: f64, reach: f64| ((at - reach).max(0.0) as usize / 4).min(width);
    let end = |at: f64, reach: f64| ((at + reach).max(-4.0) + 4.0) as usize / 4;
    for row in first(y, reach[1])..end(y, reach[1]).min(width) {
        let (first, end) = (first(x, reach[0]), end(x, reach[0]).min(width));
        for beam in &mut beams[row * width..][first.min(end)..end] {
            *beam = [beam[0].min(near), beam[1].max(far)];
        }
    }
}
