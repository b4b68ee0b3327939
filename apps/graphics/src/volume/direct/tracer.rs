//! Follows a ray through a volume and takes samples.

use std::ops::ControlFlow;

use glam::{Vec3, Vec4Swizzles};

use super::{Blend, DirectCounts, DirectOptions};
use crate::light::{Incoming, Lights};
use crate::render::{Beams, Integrator, Sample};
use crate::volume::occupancy::Occupancy;
use crate::volume::project::VoxelMap;
use crate::volume::rendering::visible_leaves;
use crate::volume::transfer::Table;
use crate::volume::traversal::Span;
use crate::volume::voxels::Voxel;

/// The share of light behind samples below which a ray ends.
const LIGHT_MIN: f32 = 1.0 / 128.0;
/// The length of a gradient, in the range of the table per voxel, below which light has no
/// direction.
const GRADIENT_MIN: f32 = 1e-12;

/// The data that all rays need.
#[derive(Debug)]
pub(super) struct Tracer<'a, T> {
    pub(super) voxels: &'a [T],
    /// The number of voxels along x, y and z.
    pub(super) size: [usize; 3],
    pub(super) map: VoxelMap,
    pub(super) occupancy: &'a Occupancy,
    pub(super) beams: Option<&'a Beams>,
    pub(super) table: &'a Table,
    pub(super) options: &'a DirectOptions,
    /// The distance between samples in the world.
    pub(super) step: f64,
    pub(super) lights: Lights,
}

/// The light along a ray, of which all samples have the same.
struct RayLight {
    sight: Vec3,
    key: Incoming,
    half: Vec3,
}

impl<T: Voxel> Tracer<'_, T> {
    /// Calls `visit` for the samples along a ray in occupied macrocells, in their order.
    #[inline(always)]
    fn follow(
        &self,
        sample: &Sample,
        counts: &mut DirectCounts,
        mut visit: impl FnMut([f32; 3]) -> ControlFlow<()>,
    ) {
        let slabs = self
            .beams
            .map(|beams| (beams, beams.slabs(sample.position)));
        if slabs.is_some_and(|(_, slabs)| slabs.is_empty()) {
            return;
        }
        let ray = self.map.ray(&sample.ray);
        let cells = self.size.map(|len| len - 1);
        let (t_min, t_max) = (f64::from(sample.ray.t_min), f64::from(sample.ray.t_max));
        let Some(span) = ray.clip(cells, t_min, t_max) else {
            return;
        };
        counts.rays_inside += 1;
        // Samples have whole numbers, from where the ray enters the volume.
        let step = self.step / f64::from(sample.ray.direction.length());
        let per_step = 1.0 / step;
        let start = span.t_in;
        let from = [ray.at(0, start), ray.at(1, start), ray.at(2, start)].map(|it| it as f32);
        let along = ray.direction.map(|it| (it * step) as f32);
        let mut next = 0_u32;
        let mut take = |span: Span| {
            let end = ((span.t_out - start) * per_step) as u32;
            let first = ((span.t_in - start) * per_step).max(0.0);
            // The conversion rounds down.
            next = next.max(first as u32 + u32::from(first.fract() > 0.0));
            while next <= end {
                let share = next as f32;
                next += 1;
                visit([
                    from[0] + share * along[0],
                    from[1] + share * along[1],
                    from[2] + share * along[2],
                ])?;
            }
            ControlFlow::Continue(())
        };
        let mut steps = 0;
        let all = cells.map(|len| len.div_ceil(4));
        let take = |_, span| take(span);
        let _ = visible_leaves(&ray, self.occupancy, all, span, slabs, &mut steps, take);
        counts.macrocells += steps;
    }

    /// Returns the cell of a point, and the place in it.
    #[inline(always)]
    fn cell(&self, point: [f32; 3]) -> ([usize; 3], [f32; 3]) {
        let cell = |axis: usize| (point[axis] as usize).min(self.size[axis] - 2);
        let cell = [cell(0), cell(1), cell(2)];
        let share = |axis: usize| point[axis] - cell[axis] as f32;
        (cell, [share(0), share(1), share(2)])
    }

    /// Interpolates between two voxels that follow each other along x.
    #[inline(always)]
    fn pair(&self, at: usize, share: f32) -> f32 {
        let row = &self.voxels[at..at + 2];
        let (low, high): (f32, f32) = (row[0].into(), row[1].into());
        low + share * (high - low)
    }

    /// Interpolates the value at a point.
    #[inline(always)]
    fn value(&self, point: [f32; 3]) -> f32 {
        let ([x, y, z], [u, v, w]) = self.cell(point);
        let [width, height, _] = self.size;
        let slice = width * height;
        let at = (z * height + y) * width + x;
        let low = mix(self.pair(at, u), self.pair(at + width, u), v);
        let at = at + slice;
        let high = mix(self.pair(at, u), self.pair(at + width, u), v);
        mix(low, high, w)
    }

    /// Interpolates the differences of neighbouring voxels at a point: the trilinear interpolant of
    /// central differences, from 32 voxels.
    #[inline(always)]
    pub(super) fn gradient(&self, point: [f32; 3]) -> Vec3 {
        let (cell, shares) = self.cell(point);
        let is_inner = |axis: usize| cell[axis] > 0 && cell[axis] + 2 < self.size[axis];
        if !(is_inner(0) && is_inner(1) && is_inner(2)) {
            return self.gradient_at_border(cell, shares);
        }
        let [u, v, w] = shares;
        let [width, height, _] = self.size;
        let slice = width * height;
        let at = (cell[2] * height + cell[1]) * width + cell[0];
        // The value and the slope along x of the four rows through the cell, and the values of the
        // eight rows around them: y and z are from -1 to 2.
        let inner = |at: usize| {
            let row = &self.voxels[at - 1..at + 3];
            let [a, b, c, d]: [f32; 4] =
                [row[0].into(), row[1].into(), row[2].into(), row[3].into()];
            (mix(b, c, u), mix(c - a, d - b, u))
        };
        let outer = |at: usize| self.pair(at, u);
        let (y0_z0, slope_y0_z0) = inner(at);
        let (y1_z0, slope_y1_z0) = inner(at + width);
        let (y0_z1, slope_y0_z1) = inner(at + slice);
        let (y1_z1, slope_y1_z1) = inner(at + slice + width);
        let x = mix(
            mix(slope_y0_z0, slope_y1_z0, v),
            mix(slope_y0_z1, slope_y1_z1, v),
            w,
        );
        let along = |before: f32, first: f32, second: f32, behind: f32, share: f32| {
            mix(second - before, behind - first, share)
        };
        let y_z0 = along(outer(at - width), y0_z0, y1_z0, outer(at + 2 * width), v);
        let up = at + slice;
        let y_z1 = along(outer(up - width), y0_z1, y1_z1, outer(up + 2 * width), v);
        let z_y0 = along(outer(at - slice), y0_z0, y0_z1, outer(at + 2 * slice), w);
        let up = at + width;
        let z_y1 = along(outer(up - slice), y1_z0, y1_z1, outer(up + 2 * slice), w);
        Vec3::new(x, mix(y_z0, y_z1, w), mix(z_y0, z_y1, v))
    }

    /// Computes the gradient in a cell at the border of the volume, where the outermost voxel takes
    /// the place of the missing one.
    #[cold]
    fn gradient_at_border(&self, cell: [usize; 3], [u, v, w]: [f32; 3]) -> Vec3 {
        let [width, height, _] = self.size;
        let value = |offset: [isize; 3]| -> f32 {
            let place = |axis: usize| {
                let place = cell[axis].saturating_add_signed(offset[axis]);
                place.min(self.size[axis] - 1)
            };
            self.voxels[(place(2) * height + place(1)) * width + place(0)].into()
        };
        let difference = |corner: [isize; 3], axis: usize| {
            let [mut before, mut behind] = [corner; 2];
            before[axis] -= 1;
            behind[axis] += 1;
            value(behind) - value(before)
        };
        let along = |axis: usize| {
            let row = |y, z| mix(difference([0, y, z], axis), difference([1, y, z], axis), u);
            mix(
                mix(row(0, 0), row(1, 0), v),
                mix(row(0, 1), row(1, 1), v),
                w,
            )
        };
        Vec3::new(along(0), along(1), along(2))
    }

    /// Returns the colour of a sample as a surface across the gradient.
    #[inline(always)]
    fn shade(&self, colour: Vec3, gradient: Vec3, light: &RayLight) -> Vec3 {
        let gradient = self.map.world_gradient(gradient);
        let square = gradient.length_squared();
        if square < GRADIENT_MIN {
            return colour * self.lights.ambient(-light.sight);
        }
        let towards_viewer = -gradient.dot(light.sight);
        let normal = gradient * square.sqrt().recip().copysign(towards_viewer);
        let ambient = colour * self.lights.ambient(normal);
        match normal.dot(light.key.towards) > 0.0 {
            true => ambient + light.key.reflected(colour, normal, light.half),
            false => ambient,
        }
    }

    fn composite(&self, sample: &Sample, counts: &mut DirectCounts) -> (Vec3, f32) {
        let sight = sample.ray.direction.normalize_or_zero();
        // The light of an object comes from a distant sun, so it is the same everywhere.
        let key = self.lights.key(Vec3::ZERO);
        let half = key.half(sight);
        let ray_light = RayLight { sight, key, half };
        let (mut colour, mut light) = (Vec3::ZERO, 1.0);
        let (mut samples, mut visible) = (0, 0);
        self.follow(sample, counts, |point| {
            samples += 1;
            let entry = self.table.get(self.value(point));
            if entry.w == 0.0 {
                return ControlFlow::Continue(());
            }
            visible += 1;
            let own = match self.options.is_shaded {
                true => self.shade(entry.xyz(), self.gradient(point), &ray_light),
                false => entry.xyz(),
            };
            colour += light * entry.w * own;
            light *= 1.0 - entry.w;
            match light < LIGHT_MIN {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        counts.samples += samples;
        counts.samples_visible += visible;
        counts.hits += u64::from(visible > 0);
        (colour, light)
    }

    fn maximum(&self, sample: &Sample, counts: &mut DirectCounts) -> (Vec3, f32) {
        let mut highest = f32::NEG_INFINITY;
        let mut samples = 0;
        self.follow(sample, counts, |point| {
            samples += 1;
            highest = highest.max(self.value(point));
            ControlFlow::Continue(())
        });
        counts.samples += samples;
        counts.hits += u64::from(samples > 0);
        if samples == 0 {
            return (Vec3::ZERO, 1.0);
        }
        let entry = self.table.get(highest);
        (entry.w * entry.xyz(), 1.0 - entry.w)
    }
}

impl<T: Voxel> Integrator for Tracer<'_, T> {
    type Counts = DirectCounts;

    fn colour(&self, sample: &Sample, counts: &mut DirectCounts) -> Vec3 {
        let (colour, light) = match self.options.blend {
            Blend::Composite => self.composite(sample, counts),
            Blend::Maximum => self.maximum(sample, counts),
        };
        if light < LIGHT_MIN {
            return colour;
        }
        let background = self.options.background.unwrap_or_else(|| sample.backdrop());
        colour + light * background
    }
}

/// Interpolates between two values.
#[inline(always)]
fn mix(low: f32, high: f32, share: f32) -> f32 {
    low + share * (high - low)
}
