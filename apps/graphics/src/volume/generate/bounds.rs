//! Bounds of the values of a formula in a box, without its voxels.
//!
//! A bound may be wider than the values, but never narrower. So the blocks of a volume in which
//! there can be a surface are found without a pass over its voxels.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::f64::consts::PI;

use glam::DVec3;

use super::{AMPLITUDE, Formula, Sphere, WAVES, sphere_value, spheres};

/// The width by which bounds are extended, because of rounding errors.
const MARGIN: f64 = 1e-6;

/// A formula on a grid, prepared for many boxes.
#[derive(Debug, Clone)]
pub(crate) struct Bounded {
    formula: Formula,
    size: [usize; 3],
    spheres: Vec<Sphere>,
}

/// A formula that is restricted to a box: the spheres that matter there.
#[derive(Debug, Clone)]
pub(crate) struct Part<'a> {
    whole: &'a Bounded,
    spheres: Vec<Sphere>,
}

/// A box of voxels: the first ones, and the last ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Voxels {
    pub(crate) first: [usize; 3],
    pub(crate) last: [usize; 3],
}

impl Bounded {
    /// Prepares a formula for a volume of some size, which has at least two voxels along each axis.
    pub(crate) fn new(formula: Formula, size: [usize; 3]) -> Self {
        let spheres = match formula {
            Formula::Spheres => spheres(),
            Formula::MarschnerLobb => Vec::new(),
        };
        Self {
            formula,
            size,
            spheres,
        }
    }

    /// Returns the number of voxels along x, y and z.
    pub(crate) const fn size(&self) -> [usize; 3] {
        self.size
    }

    /// Returns the formula for a box: it is quicker there than the whole one.
    pub(crate) fn part(&self, voxels: Voxels) -> Part<'_> {
        let corners = self.corners(voxels);
        let [low, _] = sphere_bounds(&self.spheres, corners);
        let matters = |sphere: &&Sphere| sphere_bound(sphere, corners)[1] >= low - MARGIN;
        Part {
            whole: self,
            spheres: self.spheres.iter().filter(matters).copied().collect(),
        }
    }

    /// Returns the smallest and the largest voxel of the volume, exactly.
    pub(crate) fn range(&self) -> [f64; 2] {
        [-self.largest(-1.0), self.largest(1.0)]
    }

    /// Returns the largest value of `sign` times a voxel.
    fn largest(&self, sign: f64) -> f64 {
        let whole = Voxels {
            first: [0; 3],
            last: self.size.map(|len| len - 1),
        };
        let all = self.part(whole);
        let limit = |voxels: Voxels| {
            let [low, high] = all.bounds(voxels);
            if sign > 0.0 { high } else { -low }
        };
        // The box with the highest limit comes first. A box of one voxel has its value as limit.
        let mut open = BinaryHeap::from([Open(limit(whole), whole)]);
        while let Some(Open(value, voxels)) = open.pop() {
            if voxels.first == voxels.last {
                return value;
            }
            for half in voxels.halves() {
                let value = match half.first == half.last {
                    true => sign * all.voxel(half.first),
                    false => limit(half),
                };
                open.push(Open(value, half));
            }
        }
        unreachable!("a volume has voxels")
    }

    /// Returns the corners of a box, with coordinates from 0 to 1.
    fn corners(&self, voxels: Voxels) -> [DVec3; 2] {
        [voxels.first, voxels.last].map(|at| self.place(at))
    }

    fn place(&self, at: [usize; 3]) -> DVec3 {
        let [x, y, z] = [0, 1, 2].map(|axis: usize| at[axis] as f64 / (self.size[axis] - 1) as f64);
        DVec3::new(x, y, z)
    }
}

impl Part<'_> {
    /// Returns bounds of the voxels of a box, which belongs to that of this part.
    pub(crate) fn bounds(&self, voxels: Voxels) -> [f64; 2] {
        let corners = self.whole.corners(voxels);
        match self.whole.formula {
            Formula::Spheres => {
                let [low, high] = sphere_bounds(&self.spheres, corners);
                let voxel = |value: f64| f64::from(value.round() as i16);
                [voxel(low - MARGIN), voxel(high + MARGIN)]
            }
            Formula::MarschnerLobb => {
                let [low, high] = signal_bounds(corners);
                [low - MARGIN, high + MARGIN]
            }
        }
    }

    /// Returns the value of a voxel of the box, as the volume has it.
    pub(crate) fn voxel(&self, at: [usize; 3]) -> f64 {
        let place = self.whole.place(at);
        match self.whole.formula {
            Formula::Spheres => f64::from(super::sphere_voxel(&self.spheres, place)),
            Formula::MarschnerLobb => f64::from(super::signal_voxel(place)),
        }
    }
}

impl Voxels {
    /// Divides a box of several voxels across its longest side.
    fn halves(self) -> [Self; 2] {
        let len = |axis: usize| self.last[axis] - self.first[axis];
        let axis = (0..3).max_by_key(|&axis| len(axis)).unwrap_or_default();
        let (mut lower, mut upper) = (self, self);
        let middle = self.first[axis] + len(axis) / 2;
        lower.last[axis] = middle;
        upper.first[axis] = middle + 1;
        [lower, upper]
    }
}

/// A box with values that are at most a limit.
#[derive(Debug, PartialEq)]
struct Open(f64, Voxels);

impl Eq for Open {}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_voxels = || self.1.cmp(&other.1);
        self.0.total_cmp(&other.0).then_with(by_voxels)
    }
}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Returns bounds of the values of spheres in a box.
fn sphere_bounds(spheres: &[Sphere], corners: [DVec3; 2]) -> [f64; 2] {
    let lowest = f64::from(i16::MIN);
    let all = spheres.iter().map(|sphere| sphere_bound(sphere, corners));
    all.fold([lowest; 2], |[low, high], [a, b]| [low.max(a), high.max(b)])
}

/// Returns the values of a sphere at the farthest and at the nearest point of a box.
fn sphere_bound(sphere: &Sphere, [min, max]: [DVec3; 2]) -> [f64; 2] {
    let nearest = sphere.centre.clamp(min, max);
    let middle = (min + max) / 2.0;
    let farthest = DVec3::select(sphere.centre.cmplt(middle), max, min);
    [farthest, nearest].map(|at| sphere_value(sphere, at))
}

/// Returns bounds of the test signal in a box.
fn signal_bounds(corners: [DVec3; 2]) -> [f64; 2] {
    let [min, max] = corners.map(|at| 2.0 * at - 1.0);
    // The distance from the axis, and the phase of the wave, which decreases with the distance.
    let zero = DVec3::ZERO.clamp(min, max);
    let far = min.abs().max(max.abs());
    let radii = [zero.truncate().length(), far.truncate().length()];
    let [high, low] = radii.map(|radius| 2.0 * PI * WAVES * (0.5 * PI * radius).cos());
    let [wave_low, wave_high] = cosine_bounds(low, high);
    // The sine increases with z.
    let level = |z: f64| 1.0 - (0.5 * PI * z).sin();
    let value =
        |z: f64, wave: f64| (level(z) + AMPLITUDE * (1.0 + wave)) / (2.0 * (1.0 + AMPLITUDE));
    [value(max.z, wave_low), value(min.z, wave_high)]
}

/// Returns the smallest and the largest cosine of the angles between two.
fn cosine_bounds(low: f64, high: f64) -> [f64; 2] {
    let ends = [low.cos(), high.cos()];
    // A multiple of the period lies between them, or half a period more than one.
    let has = |offset: f64| {
        ((high - offset) / (2.0 * PI)).floor() > ((low - offset) / (2.0 * PI)).floor()
    };
    [
        if has(PI) { -1.0 } else { ends[0].min(ends[1]) },
        if has(0.0) { 1.0 } else { ends[0].max(ends[1]) },
    ]
}
