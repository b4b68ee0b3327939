//! Cuts a mesh at the planes of a box.
//!
//! A triangle that crosses a plane keeps the part on its inner side. The new vertices are on the
//! edges of the triangle, and neighbouring triangles share them, so that a cut leaves no cracks.
//!
//! # Source
//! I. Sutherland, G. Hodgman: Reentrant Polygon Clipping. Communications of the ACM 17(1), 1974.

use std::collections::HashMap;

use glam::Vec3;

use super::Mesh;
use crate::bounds::Bounds;

#[cfg(test)]
mod tests;

impl Mesh {
    /// Returns the part of the mesh in a box. Normals of new vertices are interpolated.
    ///
    /// Takes one pass over the mesh for each of the six planes. The result may be empty.
    ///
    /// # Panics
    /// Panics if there would be more vertices than an index can number.
    #[must_use]
    pub fn clipped(self, bounds: Bounds) -> Self {
        (0..3).fold(self, |mesh, axis| {
            let mesh = mesh.cut(axis, bounds.min[axis], 1.0);
            mesh.cut(axis, bounds.max[axis], -1.0)
        })
    }

    /// Keeps the part on one side of a plane across an axis: above it for a `sign` of 1, and below
    /// it for -1.
    fn cut(mut self, axis: usize, plane: f32, sign: f32) -> Self {
        let height = |position: &Vec3| sign * (position[axis] - plane);
        let heights: Vec<f32> = self.positions.iter().map(height).collect();
        if heights.iter().all(|height| *height >= 0.0) {
            return self;
        }
        let triangles = std::mem::take(&mut self.triangles);
        let mut crossings = HashMap::new();
        for corners in triangles {
            let mut kept = [0; 4];
            let mut count = 0;
            let mut keep = |vertex: u32| {
                kept[count] = vertex;
                count += 1;
            };
            for (index, &from) in corners.iter().enumerate() {
                let to = corners[(index + 1) % 3];
                let ends = [from, to].map(|vertex| heights[vertex as usize]);
                if ends[0] >= 0.0 {
                    keep(from);
                }
                // A vertex in the plane is kept as it is.
                if ends[0].min(ends[1]) < 0.0 && ends[0].max(ends[1]) > 0.0 {
                    // From the lower to the higher number, so that both triangles of an edge agree.
                    let edge = [from.min(to), from.max(to)];
                    let vertex = crossings.entry(edge).or_insert_with(|| {
                        let [from, to] = edge.map(|vertex| heights[vertex as usize]);
                        let vertex = self.add_between(edge, from / (from - to));
                        self.positions[vertex as usize][axis] = plane;
                        vertex
                    });
                    keep(*vertex);
                }
            }
            if count >= 3 {
                self.triangles.push([kept[0], kept[1], kept[2]]);
            }
            if count == 4 {
                self.triangles.push([kept[0], kept[2], kept[3]]);
            }
        }
        self.without_unused()
    }

    /// Adds a vertex on an edge, and returns its index.
    fn add_between(&mut self, edge: [u32; 2], share: f32) -> u32 {
        let [from, to] = edge.map(|vertex| vertex as usize);
        let index = u32::try_from(self.positions.len()).expect("too many vertices for a mesh");
        self.positions
            .push(self.positions[from].lerp(self.positions[to], share));
        if let (Some(a), Some(b)) = (self.normals.get(from), self.normals.get(to)) {
            let normal = a.lerp(*b, share).normalize_or_zero();
            self.normals.push(normal);
        }
        index
    }

    /// Removes the vertices that no triangle uses. The others keep their order.
    fn without_unused(mut self) -> Self {
        const UNUSED: u32 = u32::MAX;
        let mut places = vec![UNUSED; self.positions.len()];
        for &vertex in self.triangles.iter().flatten() {
            places[vertex as usize] = 0;
        }
        let used = places.iter_mut().filter(|place| **place != UNUSED);
        for (place, index) in used.zip(0..) {
            *place = index;
        }
        let is_used = |index: usize| places[index] != UNUSED;
        retain_by_index(&mut self.positions, is_used);
        retain_by_index(&mut self.normals, is_used);
        for vertex in self.triangles.iter_mut().flatten() {
            *vertex = places[*vertex as usize];
        }
        self
    }
}

/// Keeps the elements with an index for which `is_kept` is true.
fn retain_by_index<T>(list: &mut Vec<T>, is_kept: impl Fn(usize) -> bool) {
    let mut index = 0;
    list.retain(|_| {
        index += 1;
        is_kept(index - 1)
    });
}
