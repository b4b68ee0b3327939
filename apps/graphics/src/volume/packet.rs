//! A packet: the rays through neighbouring pixels, which visit a volume together.
//!
//! A packet walks through the volume in slices of macrocells across the axis along which its rays
//! are longest. In each slice it visits the macrocells in a rectangle that contains all of its
//! rays, and in a macrocell the cells in such rectangles. Only then it tests which of its rays pass
//! through a cell. So most of the walk is done once for up to [`LANES`] rays.
//!
//! # Exactness
//! A packet computes with single precision and adds margins, so it finds every cell that one of its
//! rays passes through, and some more. The caller computes the exact span of a ray in a cell, and
//! drops the cells without one.
//!
//! **Invariant:** each ray finds its cells in their order along the ray. All rays of a packet have
//! directions with the same signs, so one order suits all of them.
//!
//! # Source
//! I. Wald, T. Ize, A. Kensler, A. Knoll, S. Parker: Ray Tracing Animated Scenes using Coherent
//! Grid Traversal. ACM Transactions on Graphics 25(3), 2006.

use std::ops::ControlFlow;

use glam::Vec4;

use super::macrocells;
use super::traversal::{GridRay, Span};

#[cfg(test)]
mod tests;

/// The maximum number of rays in a packet.
pub(crate) const LANES: usize = 16;
/// The number of vectors for a number of each ray.
const GROUPS: usize = LANES / 4;
/// The number of cells along an edge of a macrocell.
const EDGE: f32 = macrocells::EDGE as f32;
/// The width of the margins for rounding errors, as a share of the longest side of the volume.
const MARGIN: f32 = 1.0 / (1 << 19) as f32;
/// The smallest slope of a ray along an axis, relative to the axis of the slices. Flatter rays are
/// parallel to the planes of the axis.
const SLOPE_MIN: f32 = 1e-18;
/// The smallest share of the longest component of a ray that the component along the axis of the
/// slices may have.
const SHARE_MIN: f64 = 0.25;

/// The cells of a macrocell between two places along an axis: `BETWEEN[axis][first][last]`.
const BETWEEN: [[[u64; 4]; 4]; 3] = between();

/// A number for each ray.
type Numbers = [Vec4; GROUPS];

/// Rays that visit a volume together.
///
/// The coordinates are mirrored so that no ray goes backwards along any axis. The length of each
/// ray is measured along the axis of the slices, so that neither the unit of the world nor that of
/// directions matters.
#[derive(Debug)]
pub(crate) struct Packet {
    /// The rays of the packet, one bit for each.
    rays: u32,
    /// The axes that are mirrored.
    is_mirrored: [bool; 3],
    /// The number of macrocells along each axis.
    leaf_size: [usize; 3],
    /// The axis across the slices.
    axis: usize,
    /// The width of the margins.
    margin: f32,
    /// The distance along the rays at which the origins are.
    t_origin: f64,
    /// The length that a unit of distance has along the axis of the slices.
    rate: Numbers,
    origin: [Numbers; 3],
    slope: [Numbers; 3],
    inverse: [Numbers; 3],
    /// The first and the last place along the axis of the slices.
    reach: [f32; 2],
    bounds: Bounds,
}

/// The smallest and largest coordinates of all rays at a place along the axis of the slices: the
/// smallest ones along both other axes, then the largest ones. They are linear in the place.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    at_zero: Vec4,
    slope: Vec4,
}

/// A macrocell that a packet visits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Leaf {
    /// The index of the macrocell along each axis.
    pub(crate) at: [usize; 3],
    /// Its index in the mirrored coordinates.
    mirrored: [usize; 3],
}

/// The points at which four rays enter and leave a cell: in mirrored coordinates from 0 to 1, for
/// each axis. The part of the ray in the cell is between them, up to [`Packet::error`].
pub(crate) type Ends = [[Vec4; 3]; 2];

/// The rays that may pass through a cell.
#[derive(Debug)]
pub(crate) struct Passage<'a> {
    packet: &'a Packet,
    leaf: Leaf,
    /// The place in the macrocell, in mirrored coordinates.
    cell: [usize; 3],
    rays: u32,
    /// The lengths from the origins at which the rays enter and leave the cell.
    t: [[Vec4; 2]; GROUPS],
}

impl Packet {
    /// Forms a packet. `leaf_size` is the number of macrocells along each axis, and the spans are
    /// the parts of the rays in the volume, or `None` for rays that take no part.
    ///
    /// Returns `None` if there is no ray, or if the directions are too different: then each ray has
    /// to walk alone.
    #[inline(always)]
    pub(crate) fn new(rays: &[Option<(GridRay, Span)>], leaf_size: [usize; 3]) -> Option<Self> {
        let first = rays.iter().flatten().next()?;
        let mut mask = 0;
        let (mut t_origin, mut is_forward, mut is_mirrored) =
            (f64::INFINITY, [false; 3], [false; 3]);
        for (lane, ray) in rays.iter().enumerate() {
            let Some((ray, span)) = ray else { continue };
            mask |= 1 << lane;
            t_origin = t_origin.min(span.t_in);
            for axis in 0..3 {
                is_forward[axis] |= ray.direction[axis] > 0.0;
                is_mirrored[axis] |= ray.direction[axis] < 0.0;
            }
        }
        if (0..3).any(|axis| is_forward[axis] && is_mirrored[axis]) {
            return None;
        }
        let longest = first.0.direction.map(f64::abs);
        let axis = (0..3).fold(0, |best, axis| match longest[axis] > longest[best] {
            true => axis,
            false => best,
        });
        let len = leaf_size.map(|len| f64::from(EDGE) * len as f64);
        let mirror = |axis: usize, at: f64| match is_mirrored[axis] {
            true => len[axis] - at,
            false => at,
        };
        let (mut origin, mut slope) = ([[0.0_f32; LANES]; 3], [[0.0_f32; LANES]; 3]);
        let mut rate = [0.0_f32; LANES];
        let mut reach = [f64::INFINITY, f64::NEG_INFINITY];
        for lane in 0..LANES {
            // Places without a ray hold a copy of the first one.
            let (ray, span) = rays.get(lane).and_then(Option::as_ref).unwrap_or(first);
            let along = ray.direction[axis].abs();
            for other in 0..3 {
                let component = ray.direction[other].abs();
                if along < SHARE_MIN * component {
                    return None;
                }
                origin[other][lane] = mirror(other, ray.at(other, t_origin)) as f32;
                slope[other][lane] = (component / along) as f32;
            }
            rate[lane] = along as f32;
            let ends = [span.t_in, span.t_out].map(|t| mirror(axis, ray.at(axis, t)));
            reach = [reach[0].min(ends[0]), reach[1].max(ends[1])];
        }
        let origin = origin.map(|numbers| numbers_of(&numbers));
        let slope = slope.map(|numbers| numbers_of(&numbers));
        let inverse = slope.map(|numbers| numbers.map(|it| it.max(Vec4::splat(SLOPE_MIN)).recip()));
        let reach = reach.map(|at| at as f32);
        let margin = MARGIN * len.iter().fold(0.0, |max: f64, &len| max.max(len)) as f32;
        let bounds = Bounds::of(&origin, &slope, axis, reach, margin);
        Some(Self {
            rays: mask,
            is_mirrored,
            leaf_size,
            axis,
            margin,
            t_origin,
            rate: numbers_of(&rate),
            origin,
            slope,
            inverse,
            reach,
            bounds,
        })
    }

    /// Returns the rays of the packet, one bit for each.
    pub(crate) fn rays(&self) -> u32 {
        self.rays
    }

    /// Returns the maximum error of the [`Ends`] of a way through a cell.
    pub(crate) fn error(&self) -> f32 {
        2.0 * self.margin
    }

    /// Returns the number by which the index of a voxel in its cell differs in mirrored
    /// coordinates: bit 0 is x, bit 1 is y, bit 2 is z.
    pub(crate) fn mirror(&self) -> usize {
        let [x, y, z] = self.is_mirrored.map(usize::from);
        x | y << 1 | z << 2
    }

    /// Visits macrocells in the slices that the rays pass through from distance `t_in` to `t_out`,
    /// and in the order of the rays. Slices before `first_slice` are left out.
    ///
    /// Returns the number of the slice after the last one.
    #[inline(always)]
    pub(crate) fn leaves<B>(
        &self,
        first_slice: usize,
        [t_in, t_out]: [f64; 2],
        mut visit: impl FnMut(Leaf) -> ControlFlow<B>,
    ) -> ControlFlow<B, usize> {
        match self.axis {
            0 => self.leaves_across::<0, B>(first_slice, [t_in, t_out], &mut visit),
            1 => self.leaves_across::<1, B>(first_slice, [t_in, t_out], &mut visit),
            _ => self.leaves_across::<2, B>(first_slice, [t_in, t_out], &mut visit),
        }
    }

    #[inline(always)]
    fn leaves_across<const AXIS: usize, B>(
        &self,
        first_slice: usize,
        [t_in, t_out]: [f64; 2],
        visit: &mut impl FnMut(Leaf) -> ControlFlow<B>,
    ) -> ControlFlow<B, usize> {
        let at = |t: f64| -> Numbers {
            let t = Vec4::splat((t - self.t_origin) as f32);
            std::array::from_fn(|group| self.origin[AXIS][group] + t * self.rate[group])
        };
        let begin = smallest(at(t_in)).max(self.reach[0]) - self.margin;
        let end = largest(at(t_out)).min(self.reach[1]) + self.margin;
        let [u, v] = others(AXIS);
        let size = self.leaf_size;
        let first_slice = first_slice.max((begin * (1.0 / EDGE)).max(0.0) as usize);
        let end_slice = size[AXIS].min((end * (1.0 / EDGE) + 1.0).max(0.0) as usize);
        let mut near = self.bounds.at(EDGE * first_slice as f32);
        for slice in first_slice..end_slice {
            let far = self.bounds.at(EDGE * (slice + 1) as f32);
            let [first_u, first_v, ..] = (near * (1.0 / EDGE)).to_array();
            let [.., last_u, last_v] = (far * (1.0 / EDGE)).to_array();
            near = far;
            if last_u < 0.0 || last_v < 0.0 {
                continue;
            }
            let last_u = (last_u as usize).min(size[u] - 1);
            let last_v = (last_v as usize).min(size[v] - 1);
            for at_v in first_v.max(0.0) as usize..=last_v {
                for at_u in first_u.max(0.0) as usize..=last_u {
                    let mut mirrored = [0; 3];
                    (mirrored[AXIS], mirrored[u], mirrored[v]) = (slice, at_u, at_v);
                    let at = [0, 1, 2].map(|axis: usize| match self.is_mirrored[axis] {
                        true => size[axis] - 1 - mirrored[axis],
                        false => mirrored[axis],
                    });
                    visit(Leaf { at, mirrored })?;
                }
            }
        }
        ControlFlow::Continue(first_slice.max(end_slice))
    }

    /// Visits some cells of a macrocell through which rays may pass, in the order of the rays.
    ///
    /// `cells` has a bit for each cell to visit. A ray takes part if it is in `rays`, which `visit`
    /// may reduce.
    #[inline(always)]
    pub(crate) fn cells(
        &self,
        leaf: Leaf,
        cells: u64,
        rays: &mut u32,
        mut visit: impl FnMut(&Passage<'_>, &mut u32),
    ) {
        let passing = self.rays_through(leaf) & *rays;
        if passing == 0 {
            return;
        }
        let mut left = mirrored(cells, self.is_mirrored) & self.cells_in_reach(leaf);
        if left == 0 {
            return;
        }
        let mut planes = [[[Vec4::ZERO; 8]; 3]; GROUPS];
        let mut groups = [0; GROUPS];
        let mut group_count = 0;
        for group in 0..GROUPS {
            if passing >> (4 * group) & 0xF != 0 {
                planes[group_count] = self.planes(leaf, group);
                groups[group_count] = group;
                group_count += 1;
            }
        }
        while left != 0 && *rays != 0 {
            let bit = left.trailing_zeros() as usize;
            left &= left - 1;
            let cell = [bit & 3, bit >> 2 & 3, bit >> 4 & 3];
            let mut passage = Passage {
                packet: self,
                leaf,
                cell,
                rays: 0,
                t: [[Vec4::ZERO; 2]; GROUPS],
            };
            for (planes, &group) in planes[..group_count].iter().zip(&groups) {
                let [x, y, z] = planes;
                let t_in = x[cell[0]].max(y[cell[1]]).max(z[cell[2]]);
                let t_out = x[4 + cell[0]].min(y[4 + cell[1]]).min(z[4 + cell[2]]);
                passage.rays |= t_in.cmple(t_out).bitmask() << (4 * group);
                passage.t[group] = [t_in, t_out];
            }
            passage.rays &= *rays;
            if passage.rays != 0 {
                visit(&passage, rays);
            }
        }
    }

    /// Returns the rays that may pass through a macrocell.
    #[inline(always)]
    fn rays_through(&self, leaf: Leaf) -> u32 {
        let mut passing = 0;
        for group in 0..GROUPS {
            let (mut t_in, mut t_out) = (Vec4::NEG_INFINITY, Vec4::INFINITY);
            for axis in 0..3 {
                let first = Vec4::splat(EDGE * leaf.mirrored[axis] as f32 - self.margin);
                let inverse = self.inverse[axis][group];
                let near = (first - self.origin[axis][group]) * inverse;
                t_in = near.max(t_in);
                t_out = (near + (EDGE + 2.0 * self.margin) * inverse).min(t_out);
            }
            passing |= t_in.cmple(t_out).bitmask() << (4 * group);
        }
        passing
    }

    /// Returns the cells of a macrocell in the rectangle around all rays, in mirrored order.
    #[inline(always)]
    fn cells_in_reach(&self, leaf: Leaf) -> u64 {
        match self.axis {
            0 => self.cells_in_reach_across::<0>(leaf),
            1 => self.cells_in_reach_across::<1>(leaf),
            _ => self.cells_in_reach_across::<2>(leaf),
        }
    }

    #[inline(always)]
    fn cells_in_reach_across<const AXIS: usize>(&self, leaf: Leaf) -> u64 {
        let [u, v] = others(AXIS);
        let first = leaf.mirrored.map(|at| EDGE * at as f32);
        let near = self.bounds.at(first[AXIS]);
        let far = near + EDGE * self.bounds.slope;
        let place = |at: f32| at.clamp(0.0, 3.0) as usize & 3;
        BETWEEN[u][place(near.x - first[u])][place(far.z - first[u])]
            & BETWEEN[v][place(near.y - first[v])][place(far.w - first[v])]
    }

    /// Returns the lengths at which the rays of a group enter and leave the cells at the four
    /// places along each axis.
    #[inline(always)]
    fn planes(&self, leaf: Leaf, group: usize) -> [[Vec4; 8]; 3] {
        std::array::from_fn(|axis| {
            let first = Vec4::splat(EDGE * leaf.mirrored[axis] as f32 - self.margin);
            let inverse = self.inverse[axis][group];
            let thickness = (1.0 + 2.0 * self.margin) * inverse;
            let zero = (first - self.origin[axis][group]) * inverse;
            let (one, two, three) = (zero + inverse, zero + 2.0 * inverse, zero + 3.0 * inverse);
            [
                zero,
                one,
                two,
                three,
                zero + thickness,
                one + thickness,
                two + thickness,
                three + thickness,
            ]
        })
    }
}

impl Passage<'_> {
    /// Returns the place of the cell.
    #[inline(always)]
    pub(crate) fn at(&self) -> [usize; 3] {
        [0, 1, 2].map(|axis: usize| {
            let inner = match self.packet.is_mirrored[axis] {
                true => 3 - self.cell[axis],
                false => self.cell[axis],
            };
            4 * self.leaf.at[axis] + inner
        })
    }

    /// Passes the ends of the ways of each four rays through the cell to `select`, and returns the
    /// selected rays.
    #[inline(always)]
    pub(crate) fn selected(&self, mut select: impl FnMut(&Ends) -> u32) -> u32 {
        let mut selected = 0;
        for group in 0..GROUPS {
            if self.rays >> (4 * group) & 0xF == 0 {
                continue;
            }
            let ends = self.t[group].map(|t| {
                std::array::from_fn(|axis| {
                    let at = EDGE * self.leaf.mirrored[axis] as f32 + self.cell[axis] as f32;
                    let origin = self.packet.origin[axis][group] - Vec4::splat(at);
                    let place = origin + t * self.packet.slope[axis][group];
                    place.max(Vec4::ZERO).min(Vec4::ONE)
                })
            });
            selected |= select(&ends) << (4 * group);
        }
        selected & self.rays
    }
}

impl Bounds {
    /// Computes the bounds of rays. `ends` are the first and the last place along the axis.
    #[inline(always)]
    fn of(
        origin: &[Numbers; 3],
        slope: &[Numbers; 3],
        axis: usize,
        [first, last]: [f32; 2],
        margin: f32,
    ) -> Self {
        let [u, v] = others(axis);
        let ends = [first, last.max(first + 1.0)];
        let at_ends = ends.map(|end| {
            let along = |other: usize| -> Numbers {
                std::array::from_fn(|group| {
                    let length = Vec4::splat(end) - origin[axis][group];
                    origin[other][group] + length * slope[other][group]
                })
            };
            let (u, v) = (along(u), along(v));
            let lowest = [smallest(u) - margin, smallest(v) - margin];
            Vec4::new(
                lowest[0],
                lowest[1],
                largest(u) + margin,
                largest(v) + margin,
            )
        });
        let slope = (at_ends[1] - at_ends[0]) / (ends[1] - ends[0]);
        Self {
            at_zero: at_ends[0] - ends[0] * slope,
            slope,
        }
    }

    /// Returns the bounds at a place.
    #[inline(always)]
    fn at(&self, place: f32) -> Vec4 {
        self.at_zero + place * self.slope
    }
}

/// Returns the axes other than one.
#[inline(always)]
const fn others(axis: usize) -> [usize; 2] {
    [(axis + 1) % 3, (axis + 2) % 3]
}

#[inline(always)]
fn numbers_of(numbers: &[f32; LANES]) -> Numbers {
    std::array::from_fn(|group| Vec4::from_slice(&numbers[4 * group..4 * group + 4]))
}

#[inline(always)]
fn smallest([a, b, c, d]: Numbers) -> f32 {
    a.min(b).min(c.min(d)).min_element()
}

#[inline(always)]
fn largest([a, b, c, d]: Numbers) -> f32 {
    a.max(b).max(c.max(d)).max_element()
}

/// Mirrors the cells of a macrocell along axes.
#[inline(always)]
fn mirrored(mut cells: u64, [x, y, z]: [bool; 3]) -> u64 {
    if x {
        cells = (cells & 0x5555_5555_5555_5555) << 1 | cells >> 1 & 0x5555_5555_5555_5555;
        cells = (cells & 0x3333_3333_3333_3333) << 2 | cells >> 2 & 0x3333_3333_3333_3333;
    }
    if y {
        cells = (cells & 0x0F0F_0F0F_0F0F_0F0F) << 4 | cells >> 4 & 0x0F0F_0F0F_0F0F_0F0F;
        cells = (cells & 0x00FF_00FF_00FF_00FF) << 8 | cells >> 8 & 0x00FF_00FF_00FF_00FF;
    }
    if z {
        cells = (cells & 0x0000_FFFF_0000_FFFF) << 16 | cells >> 16 & 0x0000_FFFF_0000_FFFF;
        cells = cells.rotate_right(32);
    }
    cells
}

/// Computes [`BETWEEN`].
const fn between() -> [[[u64; 4]; 4]; 3] {
    // All cells with a place of 0 along the axis, and the distance to the next place.
    let sheets = [
        (0x1111_1111_1111_1111, 1),
        (0x000F_000F_000F_000F, 4),
        (0x0000_0000_0000_FFFF, 16),
    ];
    let mut table = [[[0; 4]; 4]; 3];
    let mut axis = 0;
    while axis < 3 {
        let (sheet, distance) = sheets[axis];
        let mut first = 0;
        while first < 4 {
            let mut cells: u64 = 0;
            let mut last = first;
            while last < 4 {
                cells |= sheet << (distance * last);
                table[axis][first][last] = cells;
                last += 1;
            }
            first += 1;
        }
        axis += 1;
    }
    table
}
