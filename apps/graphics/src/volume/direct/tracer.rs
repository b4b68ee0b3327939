//! Follows a ray through a volume and takes samples.

use std::ops::{ControlFlow, Range};

use glam::{Mat4, Vec3, Vec4, Vec4Swizzles};
use raddle::Private;

use super::bricks::Bricks;
use super::{Blend, DirectCounts, DirectOptions};
use crate::render::{Beams, Integrator, Sample, Slabs};
use crate::volume::macrocells::{EDGE, Macrocells};
use crate::volume::occupancy::Occupancy;
use crate::volume::project::VoxelMap;
use crate::volume::rendering::visible_leaves;
use crate::volume::shading::{Shading, Vectors, splat};
use crate::volume::transfer::Table;
use crate::volume::traversal::{GridRay, Span};
use crate::volume::voxels::Voxel;

/// The share of light behind samples below which a ray ends.
const LIGHT_MIN: f32 = 1.0 / 128.0;
/// The square of the difference between neighbouring voxels, as a share of the range, below which
/// there is no surface.
const SQUARE_MIN: f32 = 1e-12;

/// The number of samples that are lit together.
const FOUR: usize = 4;
/// The number of samples that are taken before their colours are blended.
const LANES: usize = 4 * FOUR;

/// The data that all rays need.
pub(super) struct Tracer<'a, T> {
    pub(super) voxels: &'a [T],
    /// The bricks of each worker.
    pub(super) bricks: Private<Bricks>,
    /// The number of voxels along x, y and z.
    pub(super) size: [usize; 3],
    pub(super) map: VoxelMap,
    pub(super) occupancy: &'a Occupancy,
    pub(super) beams: Option<&'a Beams>,
    pub(super) macrocells: &'a Macrocells,
    pub(super) table: &'a Table,
    pub(super) options: &'a DirectOptions,
    /// The distance between samples in the world.
    pub(super) step: f64,
    pub(super) shading: Shading,
}

/// The part of a ray in the volume, and the samples on it.
#[derive(Debug, Clone, Copy)]
struct Path {
    ray: GridRay,
    span: Span,
    /// The place of sample 0, in the coordinates of voxels.
    from: Vec4,
    /// The way from each sample to the next one.
    along: Vec4,
    /// The number of samples per unit of distance.
    per_step: f64,
    /// The first sample that has not been returned.
    next: u32,
}

impl Path {
    /// Returns the samples in a part of the path behind all earlier ones. There may be none.
    #[inline(always)]
    fn samples(&mut self, span: Span) -> Range<u32> {
        let end = ((span.t_out - self.span.t_in) * self.per_step) as u32 + 1;
        let first = (span.t_in - self.span.t_in) * self.per_step;
        // The conversion rounds down.
        let below = first as u32;
        let first = self.next.max(below + u32::from(f64::from(below) < first));
        self.next = first.max(end);
        first..end
    }
}

/// Samples that are not transparent.
#[derive(Debug, Default)]
struct Visible {
    len: usize,
    /// Values and gradients.
    samples: [Vec4; LANES],
    /// The places of the values in the table.
    places: [u32; LANES],
    /// Colours and opacities.
    entries: [Vec4; LANES],
}

/// The light along a ray, of which all samples have the same.
struct RayLight {
    sight: Vectors,
    half: Vectors,
}

impl<T: Voxel> Tracer<'_, T> {
    /// Returns the part of a ray in the volume, and the samples on it.
    #[inline(always)]
    fn path(&self, sample: &Sample) -> Option<Path> {
        let ray = self.map.ray(&sample.ray);
        let cells = self.size.map(|len| len - 1);
        let (t_min, t_max) = (f64::from(sample.ray.t_min), f64::from(sample.ray.t_max));
        let span = ray.clip(cells, t_min, t_max)?;
        // Samples have whole numbers, from where the ray enters the volume.
        let step = self.step / f64::from(sample.ray.direction.length());
        let point = |t: f64| [0, 1, 2].map(|axis: usize| ray.at(axis, t) as f32);
        Some(Path {
            ray,
            span,
            from: Vec3::from_array(point(span.t_in)).extend(0.0),
            along: Vec3::from_array(ray.direction.map(|it| (it * step) as f32)).extend(0.0),
            per_step: 1.0 / step,
            next: 0,
        })
    }

    /// Calls `visit` for the occupied macrocells along a path, in their order.
    #[inline(always)]
    fn walk(
        &self,
        path: &Path,
        slabs: Option<(&Beams, Slabs)>,
        counts: &mut DirectCounts,
        visit: impl FnMut([usize; 3], Span) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut steps = 0;
        let all = self.size.map(|len| (len - 1).div_ceil(EDGE));
        let (ray, span) = (&path.ray, path.span);
        let outcome = visible_leaves(ray, self.occupancy, all, span, slabs, &mut steps, visit);
        counts.rays_inside += 1;
        counts.macrocells += steps;
        outcome
    }

    /// Calls `visit` for the samples along a ray in occupied macrocells, in their order: with the
    /// values and gradients of up to [`LANES`] of them, and their number.
    #[inline(always)]
    fn follow(
        &self,
        sample: &Sample,
        slabs: Option<(&Beams, Slabs)>,
        bricks: &mut Bricks,
        counts: &mut DirectCounts,
        mut visit: impl FnMut(&[Vec4; LANES], usize) -> ControlFlow<()>,
    ) {
        let Some(path) = self.path(sample) else {
            return;
        };
        let (from, along) = (path.from, path.along);
        let mut numbers = path;
        let (mut samples, mut len, mut taken) = ([Vec4::ZERO; LANES], 0, 0);
        let take = |leaf: [usize; 3], span: Span| {
            let Range { mut start, end } = numbers.samples(span);
            if start >= end {
                return ControlFlow::Continue(());
            }
            let brick = bricks.get(self.voxels, leaf);
            let from = from - brick.first;
            while start < end {
                let room = LANES - len % LANES;
                let count = room.min((end - start) as usize);
                for (lane, sample) in samples[len % LANES..][..count].iter_mut().enumerate() {
                    let number = (start + lane as u32) as f32;
                    *sample = brick.at(from + along * number);
                }
                taken += count as u64;
                start += count as u32;
                len += count;
                if len == LANES {
                    len = 0;
                    visit(&samples, LANES)?;
                }
            }
            ControlFlow::Continue(())
        };
        let outcome = self.walk(&path, slabs, counts, take);
        if outcome.is_continue() && len > 0 {
            let _ = visit(&samples, len);
        }
        counts.samples += taken;
    }

    #[inline(always)]
    fn composite(
        &self,
        sample: &Sample,
        slabs: Option<(&Beams, Slabs)>,
        bricks: &mut Bricks,
        counts: &mut DirectCounts,
    ) -> (Vec3, f32) {
        let sight = sample.ray.direction.normalize_or_zero();
        let ray_light = RayLight {
            sight: splat(sight),
            half: splat(self.shading.half(sight)),
        };
        let (mut colour, mut light) = (Vec4::ZERO, 1.0);
        let mut count = 0;
        let mut visible = Visible::default();
        self.follow(sample, slabs, bricks, counts, |samples, len| {
            self.select(&mut visible, &samples[..len]);
            count += visible.len as u64;
            if self.options.is_shaded {
                let entries = visible.entries.as_chunks_mut().0.iter_mut();
                let fours = entries.zip(visible.samples.as_chunks().0);
                for (entries, samples) in fours.take(visible.len.div_ceil(FOUR)) {
                    self.shade(entries, samples, &ray_light);
                }
            }
            for entry in &visible.entries[..visible.len] {
                colour += *entry * (light * entry.w);
                light *= 1.0 - entry.w;
                if light < LIGHT_MIN {
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        });
        counts.samples_visible += count;
        counts.hits += u64::from(count > 0);
        (colour.xyz(), light)
    }

    /// Selects the samples that are not transparent.
    #[inline(always)]
    fn select(&self, visible: &mut Visible, samples: &[Vec4]) {
        visible.len = 0;
        for sample in samples {
            let place = self.table.place(sample.x);
            visible.samples[visible.len % LANES] = *sample;
            visible.places[visible.len % LANES] = place;
            visible.len += self.table.visible(place) as usize;
        }
        let places = &visible.places[..visible.len];
        for (entry, &place) in visible.entries.iter_mut().zip(places) {
            *entry = self.table.entry(place);
        }
    }

    /// Replaces the colours of four samples by those of surfaces across the gradients.
    #[inline(always)]
    fn shade(&self, entries: &mut [Vec4; FOUR], samples: &[Vec4; FOUR], light: &RayLight) {
        let [_, x, y, z] = transposed(*samples);
        let (normal, is_surface) = self.shading.normals([x, y, z], light.sight, SQUARE_MIN);
        let [red, green, blue, opacity] = transposed(*entries);
        // Without a surface, the sun is left out.
        let is_lit = is_surface & self.shading.faces_sun(normal);
        let albedo = [red, green, blue];
        let [red, green, blue] = self.shading.light(albedo, normal, light.half, is_lit);
        *entries = transposed([red, green, blue, opacity]);
    }

    #[inline(always)]
    fn maximum(
        &self,
        sample: &Sample,
        slabs: Option<(&Beams, Slabs)>,
        bricks: &mut Bricks,
        counts: &mut DirectCounts,
    ) -> (Vec3, f32) {
        let Some(path) = self.path(sample) else {
            return (Vec3::ZERO, 1.0);
        };
        let (from, along) = (path.from, path.along);
        let mut numbers = path;
        let (mut highest, mut taken) = (f32::NEG_INFINITY, 0);
        let _ = self.walk(&path, slabs, counts, |leaf, span| {
            let samples = numbers.samples(span);
            // An interpolated value may be larger than all voxels by a rounding error. It counts as
            // the largest of them. So a macrocell that is passed over cannot matter.
            let ceiling = self.macrocells.highest(leaf) as f32;
            if ceiling <= highest || samples.is_empty() {
                return ControlFlow::Continue(());
            }
            let brick = bricks.get(self.voxels, leaf);
            let from = from - brick.first;
            taken += samples.len() as u64;
            for number in samples {
                let value = brick.at(from + along * number as f32).x;
                highest = highest.max(value.min(ceiling));
            }
            ControlFlow::Continue(())
        });
        counts.samples += taken;
        if highest == f32::NEG_INFINITY {
            return (Vec3::ZERO, 1.0);
        }
        let entry = self.table.entry(self.table.place(highest));
        let is_visible = u64::from(entry.w > 0.0);
        counts.hits += is_visible;
        counts.samples_visible += is_visible;
        (entry.w * entry.xyz(), 1.0 - entry.w)
    }
}

impl<T: Voxel> Integrator for Tracer<'_, T> {
    type Counts = DirectCounts;

    fn colour(&self, sample: &Sample, counts: &mut DirectCounts) -> Vec3 {
        let slabs = self
            .beams
            .map(|beams| (beams, beams.slabs(sample.position)));
        if slabs.is_some_and(|(_, slabs)| slabs.is_empty()) {
            return sample.behind();
        }
        let (colour, light) = self.bricks.with(|bricks| match self.options.blend {
            Blend::Composite => self.composite(sample, slabs, bricks, counts),
            Blend::Maximum => self.maximum(sample, slabs, bricks, counts),
        });
        match light < LIGHT_MIN {
            true => colour,
            false => colour + light * sample.behind(),
        }
    }
}

/// Exchanges the rows and columns of 4 × 4 numbers.
#[inline(always)]
fn transposed([a, b, c, d]: [Vec4; 4]) -> [Vec4; 4] {
    let matrix = Mat4::from_cols(a, b, c, d).transpose();
    [matrix.x_axis, matrix.y_axis, matrix.z_axis, matrix.w_axis]
}
