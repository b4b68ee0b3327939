//! Follows a ray through the tree, from front to back.
//!
//! # Rounding
//! The computed distance to a plane, `(position - origin) / direction`, is off by at most two units
//! in the last place. So the stretch of the ray for which a cell is visited is extended by
//! [`SLACK`] at either end. Each triangle that the ray hits is therefore tested in some cell, even
//! if it lies in a split plane, in a flat cell, or on an edge between cells. Among hits at the same
//! distance the triangle with the lowest index wins, as in a loop over all triangles.
//!
//! For a ray within a plane the distance is 0 times infinity, which is NaN. Every comparison with
//! it is false. The conditions are written so that both children are then visited with the stretch
//! of their parent.
//!
//! # Source
//! V. Havran: Heuristic Ray Shooting Algorithms. Dissertation, Czech Technical University, 2000,
//! appendix C (traversal by recursion unrolled with a stack).

use std::ops::AddAssign;

use crate::intersect::{Corners, Shear, main_axis};
use crate::kdtree::cells::extent::Extent;
use crate::kdtree::layout::large::{self, Hierarchy, STACK_LEN};
use crate::kdtree::layout::tree::KdTree;
use crate::ray::{Hit, Ray};

/// The relative extension of each end of a stretch: eight units in the last place.
const SLACK: f32 = 1.0 / (1 << 21) as f32;

/// The number of stack entries for nearly every tree. The stack is cleared for every ray, and a
/// short stack is cleared faster.
const STACK_LEN_SHORT: usize = 40;

/// A subtree that is still to be visited, and the stretch of the ray within it.
#[derive(Debug, Clone, Copy, Default)]
struct Pending {
    node: u32,
    t_min: f32,
    t_max: f32,
}

/// The origin and the inverse direction of a ray, for tests against axis-aligned planes. There are
/// four entries so that an index of two bits needs no bounds check.
#[derive(Debug)]
struct Slabs {
    origin: [f32; 4],
    inverse: [f32; 4],
    /// For each axis, 1 if the ray runs down the axis and meets the child above the plane first.
    first_child: [u32; 4],
}

impl Slabs {
    #[inline]
    fn new(ray: &Ray) -> Self {
        let origin = ray.origin.extend(0.0).to_array();
        let direction = ray.direction.extend(1.0).to_array();
        Self {
            origin,
            inverse: direction.map(|component| 1.0 / component),
            first_child: direction.map(|component| u32::from(component.is_sign_negative())),
        }
    }

    /// Clips a stretch of the ray to a box, and extends it by the slack.
    #[inline(always)]
    fn stretch(&self, extent: &Extent, mut t_min: f32, mut t_max: f32) -> Option<(f32, f32)> {
        for axis in 0..3 {
            let (front, back) = if self.first_child[axis] == 0 {
                (extent.low[axis], extent.high[axis])
            } else {
                (extent.high[axis], extent.low[axis])
            };
            let enter = lower((front - self.origin[axis]) * self.inverse[axis]);
            let leave = upper((back - self.origin[axis]) * self.inverse[axis]);
            t_min = if enter > t_min { enter } else { t_min };
            t_max = if leave < t_max { leave } else { t_max };
        }
        (t_min <= t_max).then_some((t_min, t_max))
    }
}

impl KdTree {
    /// Finds the first triangle that a ray hits.
    ///
    /// Among several hits at the same `t` the one with the lowest triangle index wins. The result
    /// is that of [`Shear::test`] over all triangles. Takes O(log N) time for most scenes and rays.
    ///
    /// # Examples
    /// ```
    /// use glam::Vec3;
    /// use raddle_graphics::{kdtree::{KdTree, Parameters}, mesh::Mesh, ray::Ray};
    ///
    /// let mesh = Mesh {
    ///     positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
    ///     normals: Vec::new(),
    ///     triangles: vec![[0, 1, 2]],
    /// };
    /// let tree = KdTree::build(&mesh, &Parameters::default())?;
    /// let hit = tree.nearest(&Ray::new(Vec3::new(0.25, 0.25, 3.0), Vec3::NEG_Z)).unwrap();
    /// assert_eq!((hit.t, hit.triangle), (3.0, 0));
    /// # Ok::<(), raddle_graphics::kdtree::BuildError>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn nearest(&self, ray: &Ray) -> Option<Hit> {
        self.first_hit::<false, ()>(ray, &mut ())
    }

    /// Returns true if a ray hits any triangle. Takes the same time as [`nearest`](Self::nearest),
    /// mostly less.
    #[inline]
    #[must_use]
    pub fn is_hit(&self, ray: &Ray) -> bool {
        self.first_hit::<true, ()>(ray, &mut ()).is_some()
    }

    /// Returns the result of [`nearest`](Self::nearest) and its cost.
    #[must_use]
    pub fn nearest_with_cost(&self, ray: &Ray) -> (Option<Hit>, RayCost) {
        let mut cost = RayCost::default();
        let hit = self.first_hit::<false, RayCost>(ray, &mut cost);
        (hit, cost)
    }

    /// Selects the code for the main direction of the ray and the depth of the tree.
    #[inline]
    fn first_hit<const ANY: bool, W: CostCounter>(
        &self,
        ray: &Ray,
        counter: &mut W,
    ) -> Option<Hit> {
        let is_short = self.depth as usize <= STACK_LEN_SHORT;
        match (main_axis(ray), is_short) {
            (0, true) => self.follow::<0, ANY, STACK_LEN_SHORT, W>(ray, counter),
            (1, true) => self.follow::<1, ANY, STACK_LEN_SHORT, W>(ray, counter),
            (_, true) => self.follow::<2, ANY, STACK_LEN_SHORT, W>(ray, counter),
            (0, false) => self.follow::<0, ANY, STACK_LEN, W>(ray, counter),
            (1, false) => self.follow::<1, ANY, STACK_LEN, W>(ray, counter),
            (_, false) => self.follow::<2, ANY, STACK_LEN, W>(ray, counter),
        }
    }

    #[inline(never)]
    fn follow<const Z: usize, const ANY: bool, const LEN: usize, W: CostCounter>(
        &self,
        ray: &Ray,
        counter: &mut W,
    ) -> Option<Hit> {
        let slabs = Slabs::new(ray);
        let bounds = Extent {
            low: self.bounds.min.to_array(),
            high: self.bounds.max.to_array(),
        };
        let (mut t_min, mut t_max) = slabs.stretch(&bounds, lower(ray.t_min), upper(ray.t_max))?;
        let shear = Shear::<Z>::new(ray);
        let mut nearest = Nearest {
            t: ray.t_max,
            entry: u32::MAX,
            weights: [0.0; 3],
        };
        let mut stack = [Pending::default(); LEN];
        let mut height = 0;
        let mut node = *self.nodes.first()?;
        loop {
            // Descend to a leaf. Wherever the stretch reaches into both children, continue with the
            // nearer one and push the other.
            while !node.is_leaf() {
                counter.step();
                let axis = node.axis();
                let t = (node.position() - slabs.origin[axis]) * slabs.inverse[axis];
                let near = node.children() | slabs.first_child[axis] as usize;
                let far = near ^ 1;
                if t < t_min {
                    node = self.nodes[far];
                } else if t > t_max {
                    node = self.nodes[near];
                } else {
                    let (low, high) = (lower(t), upper(t));
                    stack[height] = Pending {
                        node: far as u32,
                        t_min: if low > t_min { low } else { t_min },
                        t_max,
                    };
                    height += 1;
                    t_max = if high < t_max { high } else { t_max };
                    node = self.nodes[near];
                }
            }
            if node.count() > 0 {
                let hierarchy = large::is_large(node).then(|| self.hierarchies.of_leaf(node));
                if let Some(Some(hierarchy)) = hierarchy {
                    self.test_large::<Z, ANY, W>(
                        hierarchy,
                        &slabs,
                        &shear,
                        ray.t_min,
                        &mut nearest,
                        counter,
                    );
                } else {
                    let entries = &self.entries[node.first()..][..node.count()];
                    let list = entries
                        .iter()
                        .map(|&entry| (&self.corners[entry as usize], entry));
                    self.test_list(list, &shear, ray.t_min, &mut nearest, counter);
                }
                if ANY && nearest.entry != u32::MAX {
                    return self.hit(&nearest);
                }
            }
            // The pending subtrees are not sorted by distance: for a ray within a plane, both
            // halves begin where their parent does. So every pending subtree has to be checked.
            loop {
                if height == 0 {
                    return self.hit(&nearest);
                }
                height -= 1;
                let pending = stack[height];
                if pending.t_min <= nearest.t {
                    node = self.nodes[pending.node as usize];
                    (t_min, t_max) = (pending.t_min, pending.t_max);
                    break;
                }
            }
        }
    }

    fn hit(&self, nearest: &Nearest) -> Option<Hit> {
        (nearest.entry != u32::MAX).then(|| Hit {
            t: nearest.t,
            triangle: self.triangle_ids[nearest.entry as usize],
            weights: nearest.weights,
        })
    }

    /// Tests the triangles of a large leaf, from front to back.
    #[cold]
    #[inline(never)]
    fn test_large<const Z: usize, const ANY: bool, W: CostCounter>(
        &self,
        hierarchy: &Hierarchy,
        slabs: &Slabs,
        shear: &Shear<Z>,
        t_min: f32,
        nearest: &mut Nearest,
        counter: &mut W,
    ) {
        let nodes = hierarchy.nodes.as_slice();
        let enter = |index: u32, nearest: &Nearest| {
            let extent = &nodes[index as usize].extent;
            let stretch = slabs.stretch(extent, lower(t_min), upper(nearest.t));
            stretch.map(|(enter, _)| (index, enter))
        };
        let mut stack = [(0, 0.0_f32); STACK_LEN];
        let mut height = 0;
        let mut next = enter(0, nearest);
        loop {
            let Some((index, _)) = next.take() else {
                // A box that begins at the distance of the nearest hit must be visited too, because
                // the lowest index wins.
                while height > 0 && next.is_none() {
                    height -= 1;
                    next = Some(stack[height]).filter(|(_, enter)| *enter <= nearest.t);
                }
                if next.is_none() {
                    return;
                }
                continue;
            };
            counter.step();
            let node = &nodes[index as usize];
            if node.count > 0 {
                let range = node.first as usize..(node.first + node.count) as usize;
                let corners = hierarchy.corners[range.clone()].iter();
                let list = corners.zip(hierarchy.entries[range].iter().copied());
                self.test_list(list, shear, t_min, nearest, counter);
                if ANY && nearest.entry != u32::MAX {
                    return;
                }
                continue;
            }
            next = match (enter(node.first, nearest), enter(node.first + 1, nearest)) {
                (Some(first), Some(second)) => {
                    let (near, far) = if second.1 < first.1 {
                        (second, first)
                    } else {
                        (first, second)
                    };
                    stack[height] = far;
                    height += 1;
                    Some(near)
                }
                (first, second) => first.or(second),
            };
        }
    }

    #[inline(always)]
    fn test_list<'a, const Z: usize, W: CostCounter>(
        &self,
        list: impl ExactSizeIterator<Item = (&'a Corners, u32)>,
        shear: &Shear<Z>,
        t_min: f32,
        nearest: &mut Nearest,
        counter: &mut W,
    ) {
        counter.tests(list.len());
        for (corners, entry) in list {
            let Some(hit) = shear.test(corners, t_min, nearest.t) else {
                continue;
            };
            let is_nearer = hit.t < nearest.t
                || nearest.entry == u32::MAX
                || self.triangle_ids[entry as usize] < self.triangle_ids[nearest.entry as usize];
            if is_nearer {
                *nearest = Nearest {
                    t: hit.t,
                    entry,
                    weights: hit.weights,
                };
            }
        }
    }
}

/// Counts the cost of a ray. The implementation for `()` counts nothing and costs nothing.
trait CostCounter {
    /// Counts a visit of an inner node or of a box of a large leaf.
    fn step(&mut self);

    /// Counts `count` tests of triangles.
    fn tests(&mut self, count: usize);
}

impl CostCounter for () {
    #[inline(always)]
    fn step(&mut self) {}

    #[inline(always)]
    fn tests(&mut self, _count: usize) {}
}

impl CostCounter for RayCost {
    fn step(&mut self) {
        self.steps += 1;
    }

    fn tests(&mut self, count: usize) {
        self.tests += count as u64;
    }
}

/// The cost of rays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RayCost {
    /// The number of visited inner nodes and boxes of large leaves.
    pub steps: u64,
    /// The number of triangle tests. A triangle in several leaves counts several times.
    pub tests: u64,
}

impl AddAssign for RayCost {
    fn add_assign(&mut self, other: Self) {
        self.steps += other.steps;
        self.tests += other.tests;
    }
}

/// The nearest hit so far. `entry` is `u32::MAX` if there is none.
#[derive(Debug, Clone, Copy)]
struct Nearest {
    t: f32,
    entry: u32,
    weights: [f32; 3],
}

/// Returns a distance a little before `t`, which must not be negative.
#[inline(always)]
fn lower(t: f32) -> f32 {
    t * (1.0 - SLACK)
}

/// Returns a distance a little after `t`, which must not be negative.
#[inline(always)]
fn upper(t: f32) -> f32 {
    t * (1.0 + SLACK)
}
