//! Follows rays to the surfaces of a volume: those of a block of pixels together, and others alone.

use std::ops::ControlFlow;

use glam::{Vec3, Vec4};
use raddle_trace::profile::Profiler;

use super::cells::{Cells, LeafCells, LeafPlace};
use super::crossings::{Crossings, Hit, Way};
use super::functions::{FOLLOW, SHADE, TEST_CELLS};
use super::options::{IsosurfaceCounts, IsosurfaceOptions, SURFACES_MAX, Surface};
use super::screen::Corners;
use crate::bounds::Bounds;
use crate::ray::Ray;
use crate::render::{Beams, Block, Integrator, Sample, Slabs};
use crate::volume::cell::Cell;
use crate::volume::grid::Grid;
use crate::volume::macrocells::EDGE;
use crate::volume::occupancy::{self, Occupancy};
use crate::volume::packet::{LANES, Leaf, Packet};
use crate::volume::project::VoxelMap;
use crate::volume::rendering::visible_leaves;
use crate::volume::shading::{Shading, splat, unit};
use crate::volume::traversal::{GridRay, Span};

/// The share of light behind surfaces below which a ray ends.
const LIGHT_MIN: f32 = 1.0 / 512.0;
/// The number of points that are lit together.
const FOUR: usize = 4;
/// The ray in an unused place of a packet.
const NO_RAY: Ray = Ray::new(Vec3::ZERO, Vec3::ZERO);
/// The distance of the origin of a shadow ray from its surface, in voxels.
const SHADOW_OFFSET: f64 = 1.0 / 64.0;

/// The data that all rays need.
#[derive(Debug)]
pub(crate) struct Tracer<'a, C> {
    source: C,
    /// The number of cells along x, y and z.
    cells: [usize; 3],
    /// The number of macrocells along x, y and z.
    leaf_size: [usize; 3],
    occupancy: &'a Occupancy,
    beams: Option<&'a Beams>,
    surfaces: &'a [Surface],
    has_shadows: bool,
    is_smooth: bool,
    clip: Option<Bounds>,
    shading: Shading,
    map: VoxelMap,
}

impl<'a, C: Cells> Tracer<'a, C> {
    pub(crate) fn new(
        grid: &Grid,
        source: C,
        occupancy: &'a Occupancy,
        beams: Option<&'a Beams>,
        options: &'a IsosurfaceOptions,
        shading: Shading,
    ) -> Self {
        Self {
            source,
            cells: grid.size().map(|len| len - 1),
            leaf_size: grid.size().map(|len| (len - 1).div_ceil(EDGE)),
            occupancy,
            beams,
            surfaces: &options.surfaces,
            has_shadows: options.has_shadows,
            is_smooth: options.is_smooth,
            clip: options.frame.clip,
            shading,
            map: grid.voxel_map(),
        }
    }

    /// Returns the source of the cells.
    pub(super) fn source(&self) -> &C {
        &self.source
    }

    /// Visits the surfaces along a ray, in their order, until `visit` ends the walk.
    ///
    /// `slabs` are those of the beam that the ray belongs to, if there is one.
    #[inline(always)]
    fn follow<B>(
        &self,
        (ray, span): &(GridRay, Span),
        slabs: Option<(&Beams, Slabs)>,
        counts: &mut IsosurfaceCounts,
        mut visit: impl FnMut(Hit, &mut IsosurfaceCounts) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let leaves = self.occupancy.level(0);
        let enter = |leaf: [usize; 3], part: Span| {
            let inside = self.source.enter(LeafPlace {
                at: leaf,
                word: leaves.index_of(leaf),
                bit: occupancy::bit(leaf),
            });
            let active = inside.active();
            let _call = self.source.profiler().call(&TEST_CELLS);
            let first = leaf.map(|at| EDGE * at);
            let end = [0, 1, 2].map(|axis: usize| self.cells[axis].min(first[axis] + EDGE));
            ray.walk::<0, B>([first, end], part, |at, _| {
                if active >> occupancy::bit(at) & 1 == 0 {
                    return ControlFlow::Continue(());
                }
                match inside.cell(at) {
                    Some(cell) => self.cross(&cell, at, &(*ray, *span), counts, &mut visit),
                    None => ControlFlow::Continue(()),
                }
            })
        };
        visible_leaves(
            ray,
            self.occupancy,
            self.leaf_size,
            *span,
            slabs,
            &mut 0,
            enter,
        )
    }

    /// Visits the cells in which rays of a packet may cross a surface, in their order along each
    /// ray. A ray ends if `visit` returns [`ControlFlow::Break`].
    ///
    /// `visit` gets the number of the ray, the place of the cell, and its voxels.
    #[inline(always)]
    fn cells(
        &self,
        packet: &Packet,
        slabs: Option<(&Beams, Slabs)>,
        mut visit: impl FnMut(usize, [usize; 3], &Cell) -> ControlFlow<()>,
    ) {
        let mut left = packet.rays();
        let mirror = packet.mirror();
        let leaves = self.occupancy.level(0);
        let mut enter = |leaf: Leaf| {
            let (word, bit) = (leaves.index_of(leaf.at), occupancy::bit(leaf.at));
            if leaves.words()[word] >> bit & 1 == 0 {
                return ControlFlow::Continue(());
            }
            let at = leaf.at;
            let inside = self.source.enter(LeafPlace { at, word, bit });
            let _call = self.source.profiler().call(&TEST_CELLS);
            packet.cells(leaf, inside.active(), &mut left, |passage, left| {
                let at = passage.at();
                let Some(cell) = inside.cell(at) else {
                    return;
                };
                let mut passing = self.surfaces.iter().fold(0, |passing, surface| {
                    let value = |index: usize| (cell.0[index ^ mirror] - surface.isovalue) as f32;
                    let corners = Corners::new(std::array::from_fn(value), packet.error());
                    passing | passage.selected(|ends| corners.crossed_by(ends))
                });
                while passing != 0 {
                    let lane = passing.trailing_zeros();
                    passing &= passing - 1;
                    if visit(lane as usize, at, &cell).is_break() {
                        *left &= !(1 << lane);
                    }
                }
            });
            match left {
                0 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        };
        let Some((beams, mut slabs)) = slabs else {
            let _ = packet.leaves(0, [f64::NEG_INFINITY, f64::INFINITY], &mut enter);
            return;
        };
        let mut slice = 0;
        while let Some(run) = beams.next_run(&mut slabs) {
            match packet.leaves(slice, run.map(f64::from), &mut enter) {
                ControlFlow::Continue(next) => slice = next,
                ControlFlow::Break(()) => return,
            }
        }
    }

    /// Returns the beams, and the slabs at a point of the picture.
    #[inline(always)]
    fn slabs(&self, position: [f32; 2]) -> Option<(&'a Beams, Slabs)> {
        self.beams.map(|beams| (beams, beams.slabs(position)))
    }

    /// Returns a ray in the coordinates of voxels, and the part of it in the volume.
    #[inline(always)]
    fn ray(&self, ray: &Ray) -> Option<(GridRay, Span)> {
        let grid_ray = self.map.ray(ray);
        let (t_min, t_max) = (f64::from(ray.t_min), f64::from(ray.t_max));
        let span = grid_ray.clip(self.cells, t_min, t_max)?;
        Some((grid_ray, span))
    }

    /// Visits the surfaces in a cell that contains at least one. `span` is the part of the ray in
    /// the volume.
    #[inline(always)]
    fn cross<B>(
        &self,
        cell: &Cell,
        at: [usize; 3],
        (ray, span): &(GridRay, Span),
        counts: &mut IsosurfaceCounts,
        visit: &mut impl FnMut(Hit, &mut IsosurfaceCounts) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let Some(span) = ray.span_in(at, span) else {
            return ControlFlow::Continue(());
        };
        counts.cells += 1;
        let way = Way::new(ray, at, span);
        if let [surface] = self.surfaces {
            let mut crossings = way.crossings(cell, 0, surface);
            while let Some(share) = crossings.next {
                counts.cubics += 1;
                visit(way.hit(cell, share, 0), counts)?;
                crossings.advance();
            }
            return ControlFlow::Continue(());
        }
        self.cross_several(cell, &way, counts, visit)
    }

    /// Passes the first hits of the rays of a packet on an opaque surface to `visit`, up to four at
    /// a time.
    ///
    /// A ray ends in the first cell in which it crosses the surface. The places in these cells are
    /// searched after all rays have ended, so that the CPU works on several of them at once.
    #[inline(always)]
    fn first_hits(
        &self,
        packet: &Packet,
        rays: &[Option<(GridRay, Span)>; LANES],
        slabs: Option<(&Beams, Slabs)>,
        counts: &mut IsosurfaceCounts,
        mut visit: impl FnMut(&[(usize, Hit)], &mut IsosurfaceCounts),
    ) {
        let mut found = [const { None }; LANES];
        self.cells(packet, slabs, |lane, at, cell| {
            let crossing = rays[lane].as_ref().and_then(|(ray, span)| {
                let way = Way::new(ray, at, ray.span_in(at, span)?);
                counts.cells += 1;
                let crossing = way.first_crossing(cell, &self.surfaces[0])?;
                Some((*cell, way, crossing))
            });
            match crossing {
                Some(_) => {
                    found[lane] = crossing;
                    ControlFlow::Break(())
                }
                None => ControlFlow::Continue(()),
            }
        });
        let mut hits = [(0, Hit::default()); LANES];
        let mut len = 0;
        for (lane, found) in found.iter().enumerate() {
            let Some((cell, way, crossing)) = found else {
                continue;
            };
            counts.cubics += 1;
            hits[len] = (lane, way.hit(cell, crossing.share(), 0));
            len += 1;
        }
        for hits in hits[..len].chunks(FOUR) {
            visit(hits, counts);
        }
    }

    /// Visits the surfaces in a cell, of several ones, in their order along the ray.
    #[cold]
    fn cross_several<B>(
        &self,
        cell: &Cell,
        way: &Way,
        counts: &mut IsosurfaceCounts,
        visit: &mut impl FnMut(Hit, &mut IsosurfaceCounts) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let [low, high] = cell.range();
        let mut all: [Option<Crossings>; SURFACES_MAX] = [None; SURFACES_MAX];
        for ((index, surface), crossings) in self.surfaces.iter().enumerate().zip(&mut all) {
            if low < surface.isovalue && surface.isovalue <= high {
                *crossings = Some(way.crossings(cell, index, surface));
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
            counts.cubics += 1;
            visit(way.hit(cell, share, crossings.surface), counts)?;
            crossings.advance();
        }
    }

    /// Returns the distance to the first surface along a ray through a point of the picture.
    #[cfg(test)]
    pub(super) fn first_hit(&self, ray: &Ray, position: [f32; 2]) -> Option<f64> {
        let slabs = self.slabs(position);
        let mut counts = IsosurfaceCounts::default();
        let outcome = self.follow(&self.ray(ray)?, slabs, &mut counts, |hit, _| {
            ControlFlow::Break(hit.t)
        });
        outcome.break_value()
    }

    /// Adds the light from a point of a surface. Ends the ray if nothing behind it is visible.
    #[inline(always)]
    fn reflect(
        &self,
        ray: &Ray,
        hit: Hit,
        light: &mut Light,
        counts: &mut IsosurfaceCounts,
    ) -> ControlFlow<()> {
        let [colour, ..] = self.shade(std::iter::once((ray, hit)), counts);
        light.add(colour, self.surfaces[hit.surface].opacity);
        match light.is_complete() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// Returns the light that up to four points of surfaces reflect.
    #[inline(always)]
    fn shade<'r>(
        &self,
        points: impl Iterator<Item = (&'r Ray, Hit)> + Clone,
        counts: &mut IsosurfaceCounts,
    ) -> [Vec3; FOUR] {
        let _call = self.source.profiler().call(&SHADE);
        let [mut gradient, mut direction, mut albedo] = [[[0.0; FOUR]; 3]; 3];
        for (lane, (ray, hit)) in points.clone().enumerate().take(FOUR) {
            let of_hit = match self.is_smooth {
                true => self.smooth_gradient(self.map.ray(ray).point(hit.t)),
                false => hit.gradient.into(),
            };
            for axis in 0..3 {
                gradient[axis][lane] = of_hit[axis] as f32;
                direction[axis][lane] = ray.direction[axis];
                albedo[axis][lane] = self.surfaces[hit.surface].colour[axis];
            }
        }
        let [gradient, direction, albedo] =
            [gradient, direction, albedo].map(|vectors| vectors.map(Vec4::from_array));
        let sight = unit(direction);
        let (normal, _) = self.shading.normals(gradient, sight, f32::MIN_POSITIVE);
        let mut is_lit = self.shading.faces_sun(normal);
        if self.has_shadows {
            for (lane, (ray, hit)) in points.enumerate().take(FOUR) {
                let normal = Vec3::from_array(normal.map(|axis| axis[lane]));
                if is_lit.test(lane) && self.is_in_shadow(ray, &hit, normal, counts) {
                    is_lit.set(lane, false);
                }
            }
        }
        let towards = splat(self.shading.towards_sun());
        let half = unit([0, 1, 2].map(|axis: usize| towards[axis] - sight[axis]));
        let light = self.shading.light(albedo, normal, half, is_lit);
        std::array::from_fn(|lane| Vec3::from_array(light.map(|channel| channel[lane])))
    }

    /// Returns the differences of values between the points one voxel behind and one before a
    /// point, along each axis, for one voxel. At the border of the volume, a point is the nearest
    /// one in it.
    pub(super) fn smooth_gradient(&self, point: [f64; 3]) -> [f64; 3] {
        let limits = self.cells.map(|count| count as f64);
        let value = |point: [f64; 3]| {
            let at = [0, 1, 2].map(|axis: usize| (point[axis] as usize).min(self.cells[axis] - 1));
            let inner = [0, 1, 2].map(|axis: usize| point[axis] - at[axis] as f64);
            self.source.cell(at).value(inner)
        };
        let point = [0, 1, 2].map(|axis: usize| point[axis].clamp(0.0, limits[axis]));
        [0, 1, 2].map(|axis: usize| {
            let [mut before, mut behind] = [point; 2];
            before[axis] = (point[axis] - 1.0).max(0.0);
            behind[axis] = (point[axis] + 1.0).min(limits[axis]);
            (value(behind) - value(before)) / (behind[axis] - before[axis])
        })
    }

    /// Returns true if a surface is between a point of a surface and the sun.
    fn is_in_shadow(
        &self,
        ray: &Ray,
        hit: &Hit,
        normal: Vec3,
        counts: &mut IsosurfaceCounts,
    ) -> bool {
        counts.rays_shadow += 1;
        // A voxel in the world, along the normal.
        let normal = normal.as_dvec3();
        let voxel = (self.map.voxel_of_world * normal).length().recip();
        let point = ray.origin.as_dvec3() + hit.t * ray.direction.as_dvec3();
        let origin = point + SHADOW_OFFSET * voxel * normal;
        let ray = Ray::new(origin.as_vec3(), self.shading.towards_sun());
        let ray = self.clip.map_or(ray, |clip| clip.clip(&ray));
        let mut ignored = IsosurfaceCounts::default();
        self.ray(&ray).is_some_and(|ray| {
            self.follow(&ray, None, &mut ignored, |_, _| ControlFlow::Break(()))
                .is_break()
        })
    }
}

impl<C: Cells> Integrator for Tracer<'_, C> {
    type Counts = IsosurfaceCounts;

    #[inline]
    fn colour(&self, sample: &Sample, counts: &mut IsosurfaceCounts) -> Vec3 {
        let _call = self.source.profiler().call(&FOLLOW);
        let mut light = Light::new();
        let slabs = self.slabs(sample.position);
        if slabs.is_none_or(|(_, slabs)| !slabs.is_empty())
            && let Some(ray) = self.ray(&sample.ray)
        {
            counts.rays_inside += 1;
            let _ = self.follow(&ray, slabs, counts, |hit, counts| {
                self.reflect(&sample.ray, hit, &mut light, counts)
            });
        }
        light.in_front_of(sample.behind(), counts)
    }

    #[inline]
    fn add_colours(&self, block: &Block<'_>, colours: &mut [Vec3], counts: &mut IsosurfaceCounts) {
        let slabs = self.slabs(block.position(0));
        if slabs.is_some_and(|(_, slabs)| slabs.is_empty()) {
            for (pixel, colour) in colours.iter_mut().enumerate() {
                *colour += block.behind(pixel);
            }
            return;
        }
        let _call = self.source.profiler().call(&FOLLOW);
        let mut lights = [Light::new(); LANES];
        let mut world = [NO_RAY; LANES];
        let mut rays = [None; LANES];
        for (pixel, (world, ray)) in world
            .iter_mut()
            .zip(&mut rays)
            .enumerate()
            .take(block.len())
        {
            *world = block.sample(pixel).ray;
            *ray = self.ray(world);
            counts.rays_inside += u64::from(ray.is_some());
        }
        let packet = Packet::new(&rays, self.leaf_size);
        if let (Some(packet), [surface]) = (&packet, self.surfaces)
            && surface.opacity >= 1.0
        {
            self.first_hits(packet, &rays, slabs, counts, |hits, counts| {
                let points = hits.iter().map(|&(lane, hit)| (&world[lane], hit));
                let colours = self.shade(points, counts);
                for (&(lane, _), colour) in hits.iter().zip(colours) {
                    lights[lane].add(colour, surface.opacity);
                }
            });
        } else if let Some(packet) = &packet {
            self.cells(packet, slabs, |lane, at, cell| {
                let Some(ray) = &rays[lane] else {
                    return ControlFlow::Break(());
                };
                self.cross(cell, at, ray, counts, &mut |hit, counts| {
                    self.reflect(&world[lane], hit, &mut lights[lane], counts)
                })
            });
        } else {
            for (lane, ray) in rays.iter().enumerate() {
                let Some(ray) = ray else { continue };
                let _ = self.follow(ray, slabs, counts, |hit, counts| {
                    self.reflect(&world[lane], hit, &mut lights[lane], counts)
                });
            }
        }
        for (pixel, (colour, light)) in colours.iter_mut().zip(&lights).enumerate() {
            *colour += light.in_front_of(block.behind(pixel), counts);
        }
    }
}

/// The light that arrives along a ray.
#[derive(Debug, Clone, Copy)]
struct Light {
    colour: Vec3,
    /// The share of light from behind that arrives.
    share: f32,
    is_hit: bool,
}

impl Light {
    fn new() -> Self {
        Self {
            colour: Vec3::ZERO,
            share: 1.0,
            is_hit: false,
        }
    }

    /// Adds the light from a surface in front of what is behind.
    #[inline(always)]
    fn add(&mut self, colour: Vec3, opacity: f32) {
        self.is_hit = true;
        self.colour += self.share * opacity * colour;
        self.share *= 1.0 - opacity;
    }

    /// Returns true if nothing from behind is visible.
    #[inline(always)]
    fn is_complete(&self) -> bool {
        self.share < LIGHT_MIN
    }

    /// Returns the light in front of a background.
    #[inline(always)]
    fn in_front_of(&self, background: Vec3, counts: &mut IsosurfaceCounts) -> Vec3 {
        counts.hits += u64::from(self.is_hit);
        match self.is_complete() {
            true => self.colour,
            false => self.colour + self.share * background,
        }
    }
}
