//! Follows a ray to the surfaces of a volume.

use std::ops::ControlFlow;

use glam::{DVec3, Vec3};

use super::active::ActiveCells;
use super::{IsosurfaceCounts, IsosurfaceOptions, SURFACES_MAX, Surface};
use crate::bounds::Bounds;
use crate::light::Lights;
use crate::ray::Ray;
use crate::render::{Beams, Integrator, Sample, Slabs};
use crate::volume::cell::{Cell, Cubic};
use crate::volume::grid::Volume;
use crate::volume::occupancy::{self, Occupancy};
use crate::volume::project::VoxelMap;
use crate::volume::rendering::visible_leaves;
use crate::volume::traversal::{Faces, GridRay, Span};
use crate::volume::voxels::Voxel;

/// The share of light behind surfaces below which a ray ends.
const LIGHT_MIN: f32 = 1.0 / 512.0;
/// The maximum number of times that a ray crosses a surface in a cell.
const CROSSINGS_MAX: usize = 3;
/// The distance of the origin of a shadow ray from its surface, in voxels.
const SHADOW_OFFSET: f64 = 1.0 / 64.0;

/// The data that all rays need.
#[derive(Debug)]
pub(super) struct Tracer<'a, T> {
    voxels: &'a [T],
    /// The number of cells along x, y and z.
    cells: [usize; 3],
    /// The distances to the next row and the next slice of voxels.
    strides: [usize; 2],
    /// The number of macrocells along x, y and z.
    leaf_size: [usize; 3],
    occupancy: &'a Occupancy,
    active: &'a ActiveCells,
    beams: Option<&'a Beams>,
    surfaces: &'a [Surface],
    has_shadows: bool,
    clip: Option<Bounds>,
    lights: Lights,
    map: VoxelMap,
}

/// A point of a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Hit {
    /// The distance along the ray.
    t: f64,
    /// The gradient, in voxel coordinates.
    gradient: DVec3,
    /// The index of the surface.
    surface: usize,
}

impl<'a, T: Voxel> Tracer<'a, T> {
    pub(super) fn new(
        volume: &Volume,
        voxels: &'a [T],
        occupancy: &'a Occupancy,
        active: &'a ActiveCells,
        beams: Option<&'a Beams>,
        options: &'a IsosurfaceOptions,
        lights: Lights,
    ) -> Self {
        let [width, height, _] = volume.size();
        Self {
            voxels,
            cells: volume.size().map(|len| len - 1),
            strides: [width, width * height],
            leaf_size: volume.size().map(|len| (len - 1).div_ceil(4)),
            occupancy,
            active,
            beams,
            surfaces: &options.surfaces,
            has_shadows: options.has_shadows,
            clip: options.frame.clip,
            lights,
            map: volume.voxel_map(),
        }
    }

    /// Visits the surfaces along a ray, in their order, until `visit` ends the walk.
    ///
    /// `slabs` are those of the beam that the ray belongs to, if there is one.
    #[inline(always)]
    fn follow<B>(
        &self,
        ray: &Ray,
        slabs: Option<(&Beams, Slabs)>,
        counts: &mut IsosurfaceCounts,
        mut visit: impl FnMut(Hit, &mut IsosurfaceCounts) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let grid_ray = self.map.ray(ray);
        let (t_min, t_max) = (f64::from(ray.t_min), f64::from(ray.t_max));
        let Some(span) = grid_ray.clip(self.cells, t_min, t_max) else {
            return ControlFlow::Continue(());
        };
        counts.rays_inside += 1;
        let mut steps = 0;
        let leaves = self.occupancy.level(0);
        let enter = |leaf: [usize; 3], span: Span| {
            let active = self
                .active
                .word(leaves.index_of(leaf), occupancy::bit(leaf));
            let first = [4 * leaf[0], 4 * leaf[1], 4 * leaf[2]];
            let end = |axis: usize| self.cells[axis].min(first[axis] + 4);
            let end = [end(0), end(1), end(2)];
            grid_ray.walk::<0, B>([first, end], span, |cell, span| {
                counts.cells += 1;
                if active >> occupancy::bit(cell) & 1 == 0 {
                    return ControlFlow::Continue(());
                }
                self.cross(&grid_ray, cell, span, counts, &mut visit)
            })
        };
        let (all, steps_of) = (self.leaf_size, &mut steps);
        let outcome = visible_leaves(&grid_ray, self.occupancy, all, span, slabs, steps_of, enter);
        counts.macrocells += steps;
        outcome
    }

    /// Visits the surfaces in a cell that contains at least one.
    #[inline(always)]
    fn cross<B>(
        &self,
        ray: &GridRay,
        at: [usize; 3],
        span: Span,
        counts: &mut IsosurfaceCounts,
        visit: &mut impl FnMut(Hit, &mut IsosurfaceCounts) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let [width, slice] = self.strides;
        let cell = Cell::read(
            self.voxels,
            at[0] + width * at[1] + slice * at[2],
            self.strides,
        );
        let way = Way {
            from: entry(ray, at, span),
            to: exit(ray, at, span),
            span,
        };
        let values = [cell.value(way.from), cell.value(way.to)];
        counts.cubics += 1;
        if let [surface] = self.surfaces {
            let mut crossings = way.crossings(&cell, 0, surface, values);
            while let Some(share) = crossings.next {
                visit(way.hit(&cell, share, 0), counts)?;
                crossings.advance();
            }
            return ControlFlow::Continue(());
        }
        self.cross_several(&cell, &way, values, counts, visit)
    }

    /// Visits the surfaces in a cell, of several ones, in their order along the ray.
    #[cold]
    fn cross_several<B>(
        &self,
        cell: &Cell,
        way: &Way,
        values: [f64; 2],
        counts: &mut IsosurfaceCounts,
        visit: &mut impl FnMut(Hit, &mut IsosurfaceCounts) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let [low, high] = cell.range();
        let mut all: [Option<Crossings>; SURFACES_MAX] = [None; SURFACES_MAX];
        for ((index, surface), crossings) in self.surfaces.iter().enumerate().zip(&mut all) {
            if low < surface.isovalue && surface.isovalue <= high {
                *crossings = Some(way.crossings(cell, index, surface, values));
            }
        }
        loop {
            let with_next = all.iter_mut().flatten();
            let nearest = with_next
                .filter_map(|crossings| Some((crossings.next?, crossings)))
                .min_by(|a, b| a.0.total_cmp(&b.0));
            let Some((share, crossings)) = nearest else {
                return ControlFlow::Continue(());
            };
            visit(way.hit(cell, share, crossings.surface), counts)?;
            crossings.advance();
        }
    }

    /// Returns the distance to the first surface along a ray through a point of the picture.
    #[cfg(test)]
    pub(super) fn first_hit(&self, ray: &Ray, position: [f32; 2]) -> Option<f64> {
        let slabs = self.beams.map(|beams| (beams, beams.slabs(position)));
        let mut counts = IsosurfaceCounts::default();
        let outcome = self.follow(ray, slabs, &mut counts, |hit, _| ControlFlow::Break(hit.t));
        outcome.break_value()
    }

    /// Returns true if a surface is between a point and the light in a direction.
    fn is_dark(&self, origin: Vec3, towards: Vec3, counts: &mut IsosurfaceCounts) -> bool {
        counts.rays_shadow += 1;
        let mut ignored = IsosurfaceCounts::default();
        let ray = Ray::new(origin, towards);
        let ray = self.clip.map_or(ray, |clip| clip.clip(&ray));
        self.follow(&ray, None, &mut ignored, |_, _| ControlFlow::Break(()))
            .is_break()
    }

    /// Returns the light that a point of a surface reflects.
    fn shade(&self, ray: &Ray, hit: &Hit, counts: &mut IsosurfaceCounts) -> Vec3 {
        let sight = ray.direction.normalize_or_zero();
        let gradient = self.map.world_gradient(hit.gradient.as_vec3());
        let normal = gradient.normalize_or(-sight);
        let normal = if normal.dot(sight) > 0.0 {
            -normal
        } else {
            normal
        };
        let point = ray.origin.as_dvec3() + hit.t * ray.direction.as_dvec3();
        let incoming = self.lights.key(point.as_vec3());
        let is_facing = normal.dot(incoming.towards) > 0.0;
        let is_lit = is_facing
            && !(self.has_shadows && {
                // A voxel in the world, along the normal.
                let voxel = (self.map.voxel_of_world * normal.as_dvec3())
                    .length()
                    .recip();
                let origin = point + SHADOW_OFFSET * voxel * normal.as_dvec3();
                self.is_dark(origin.as_vec3(), incoming.towards, counts)
            });
        let albedo = self.surfaces[hit.surface].colour;
        self.lights
            .shade(albedo, normal, sight, is_lit.then_some(incoming))
    }
}

impl<T: Voxel> Integrator for Tracer<'_, T> {
    type Counts = IsosurfaceCounts;

    #[inline]
    fn colour(&self, sample: &Sample, counts: &mut IsosurfaceCounts) -> Vec3 {
        let (mut colour, mut light) = (Vec3::ZERO, 1.0);
        let mut is_hit = false;
        let slabs = self
            .beams
            .map(|beams| (beams, beams.slabs(sample.position)));
        if slabs.is_some_and(|(_, slabs)| slabs.is_empty()) {
            return sample.backdrop();
        }
        let _ = self.follow(&sample.ray, slabs, counts, |hit, counts| {
            is_hit = true;
            let opacity = self.surfaces[hit.surface].opacity;
            colour += light * opacity * self.shade(&sample.ray, &hit, counts);
            light *= 1.0 - opacity;
            match light < LIGHT_MIN {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        counts.hits += u64::from(is_hit);
        if light < LIGHT_MIN {
            return colour;
        }
        colour + light * sample.backdrop()
    }
}

/// The way of a ray through a cell.
#[derive(Debug, Clone, Copy)]
struct Way {
    /// The points of entry and exit, in coordinates from 0 to 1.
    from: [f64; 3],
    to: [f64; 3],
    span: Span,
}

impl Way {
    /// Returns the crossings of a surface. `values` are those at both ends of the way.
    #[inline(always)]
    fn crossings(
        &self,
        cell: &Cell,
        index: usize,
        surface: &Surface,
        values: [f64; 2],
    ) -> Crossings {
        let cubic = cell.cubic(self.from, self.to, surface.isovalue);
        let sides = [values[0] >= surface.isovalue, values[1] >= surface.isovalue];
        Crossings::new(index, cubic, sides)
    }

    /// Returns the hit at a share of the way.
    #[inline(always)]
    fn hit(&self, cell: &Cell, share: f64, surface: usize) -> Hit {
        let at = |axis: usize| self.from[axis] + share * (self.to[axis] - self.from[axis]);
        Hit {
            t: self.span.t_in + share * (self.span.t_out - self.span.t_in),
            gradient: cell.gradient([at(0), at(1), at(2)]).into(),
            surface,
        }
    }
}

/// The places where a ray crosses a surface in a cell.
#[derive(Debug, Clone, Copy)]
struct Crossings {
    surface: usize,
    cubic: Cubic,
    is_inside: bool,
    is_inside_at_end: bool,
    count: usize,
    /// The next place, as a share of the way through the cell.
    next: Option<f64>,
}

impl Crossings {
    #[inline(always)]
    fn new(surface: usize, cubic: Cubic, [is_inside, is_inside_at_end]: [bool; 2]) -> Self {
        Self {
            surface,
            cubic,
            is_inside,
            is_inside_at_end,
            count: 0,
            next: cubic.first_change(0.0, is_inside, is_inside_at_end),
        }
    }

    /// Proceeds to the next place.
    #[inline]
    fn advance(&mut self) {
        let Some(place) = self.next else { return };
        self.count += 1;
        self.is_inside = !self.is_inside;
        self.next = match self.count < CROSSINGS_MAX {
            true => self
                .cubic
                .first_change(place, self.is_inside, self.is_inside_at_end),
            false => None,
        };
    }
}

/// Returns the point at which a ray enters a cell, in coordinates from 0 to 1. It is exactly on the
/// faces of entry.
#[inline(always)]
fn entry(ray: &GridRay, cell: [usize; 3], span: Span) -> [f64; 3] {
    let [x, y, z] = ray.direction;
    let upper = [x < 0.0, y < 0.0, z < 0.0];
    on_faces(ray, cell, span.t_in, span.faces_in, upper)
}

/// Returns the point at which a ray leaves a cell, like [`entry`].
#[inline(always)]
fn exit(ray: &GridRay, cell: [usize; 3], span: Span) -> [f64; 3] {
    let [x, y, z] = ray.direction;
    let upper = [x > 0.0, y > 0.0, z > 0.0];
    on_faces(ray, cell, span.t_out, span.faces_out, upper)
}

/// Returns the point at `t` in a cell, exactly on `faces`. They are at 1 for the axes in `upper`,
/// and at 0 for others.
#[inline(always)]
fn on_faces(ray: &GridRay, cell: [usize; 3], t: f64, faces: Faces, upper: [bool; 3]) -> [f64; 3] {
    let coordinate = |axis: usize| match faces.0[axis] {
        true => f64::from(u8::from(upper[axis])),
        false => (ray.at(axis, t) - cell[axis] as f64).clamp(0.0, 1.0),
    };
    [coordinate(0), coordinate(1), coordinate(2)]
}
