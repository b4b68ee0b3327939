//! The peer `bvh`: hierarchies of the crate of that name, and nearest hits through them.
//!
//! The crate's traversal yields triangles in the order of the distances of their boxes. The caller
//! tests the triangles and stops at the first box that begins behind the nearest hit. This is by
//! far the fastest of the crate's ways to find a nearest hit. The others visit every box on the
//! line.
//!
//! The triangle test is part of this module. It is two-sided and has no threshold. The crate's own
//! test culls back faces and rejects small triangles as degenerate.
//!
//! # Source
//! T. Möller, B. Trumbore: Fast, minimum storage ray/triangle intersection. Journal of Graphics
//! Tools 2(1), 1997.

use bvh::aabb::{Aabb, Bounded};
use bvh::bounding_hierarchy::BHShape;
use bvh::bvh::{Bvh, BvhNode};
use glam::Vec3;
use nalgebra::{Point3, Vector3};
use raddle_graphics::mesh::Mesh;
use raddle_graphics::ray::Ray;

/// A triangle in the form that the crate requires.
#[derive(Debug)]
struct Shape {
    corners: [Vec3; 3],
    bounds: Aabb<f32, 3>,
    node_index: usize,
}

impl Bounded<f32, 3> for Shape {
    fn aabb(&self) -> Aabb<f32, 3> {
        self.bounds
    }
}

impl BHShape<f32, 3> for Shape {
    fn set_bh_node_index(&mut self, index: usize) {
        self.node_index = index;
    }

    fn bh_node_index(&self) -> usize {
        self.node_index
    }
}

/// The input of a hierarchy: the triangles of a mesh, with their boxes.
#[derive(Debug)]
pub(crate) struct Shapes(Vec<Shape>);

impl Shapes {
    /// Takes the triangles of a mesh.
    pub(crate) fn of(mesh: &Mesh) -> Self {
        let shape = |index| {
            let corners = mesh.triangle(index);
            let low = corners.into_iter().reduce(Vec3::min).unwrap_or_default();
            let high = corners.into_iter().reduce(Vec3::max).unwrap_or_default();
            Shape {
                corners,
                bounds: Aabb::with_bounds(point(low), point(high)),
                node_index: 0,
            }
        };
        Self((0..mesh.triangles.len()).map(shape).collect())
    }
}

/// A hierarchy over a mesh.
#[derive(Debug)]
pub(crate) struct Hierarchy {
    shapes: Vec<Shape>,
    nodes: Bvh<f32, 3>,
}

impl Hierarchy {
    /// Builds the hierarchy with the crate's defaults, on the calling thread.
    pub(crate) fn build(Shapes(mut shapes): Shapes) -> Self {
        let nodes = Bvh::build(&mut shapes);
        Self { shapes, nodes }
    }

    /// Returns the number of triangles in the leaves.
    pub(crate) fn triangle_count(&self) -> usize {
        let is_leaf = |node: &&BvhNode<f32, 3>| matches!(node, BvhNode::Leaf { .. });
        self.nodes.nodes.iter().filter(is_leaf).count()
    }

    /// Returns the distance to the nearest hit.
    pub(crate) fn nearest(&self, ray: &Ray) -> Option<f32> {
        let line = bvh::ray::Ray::new(
            point(ray.origin),
            Vector3::new(ray.direction.x, ray.direction.y, ray.direction.z),
        );
        let mut nearest = f32::INFINITY;
        for shape in self.nodes.nearest_traverse_iterator(&line, &self.shapes) {
            let entry = line
                .intersection_slice_for_aabb(&shape.bounds)
                .map_or(0.0, |(entry, _)| entry);
            if entry > nearest {
                break;
            }
            if let Some(distance) = hit(ray, &shape.corners) {
                nearest = nearest.min(distance);
            }
        }
        nearest.is_finite().then_some(nearest)
    }
}

fn point(vector: Vec3) -> Point3<f32> {
    Point3::new(vector.x, vector.y, vector.z)
}

#[inline]
fn hit(ray: &Ray, &[a, b, c]: &[Vec3; 3]) -> Option<f32> {
    let (first, second) = (b - a, c - a);
    let across = ray.direction.cross(second);
    let determinant = first.dot(across);
    if determinant == 0.0 {
        return None;
    }
    let inverse = 1.0 / determinant;
    let to_origin = ray.origin - a;
    let u = to_origin.dot(across) * inverse;
    if !(0.0..=1.0).contains(&u) {
        return None;
    }
    let along = to_origin.cross(first);
    let v = ray.direction.dot(along) * inverse;
    if v < 0.0 || u + v > 1.0 {
        return None;
    }
    let distance = second.dot(along) * inverse;
    (distance >= 0.0).then_some(distance)
}

#[cfg(test)]
mod tests;
