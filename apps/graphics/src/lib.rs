//! Meshes, kd-trees and ray tracing on Raddle.
#![forbid(unsafe_code)]

// `mesh` reads files, through `file`, and `scene` generates triangles. `kdtree` builds and
// traverses trees; `intersect`, `bounds` and `ray` are the geometry. `camera`, `render` and
// `picture` make images of anything, lit by `light`; `render_mesh` of meshes and `volume` of
// volumes. `dirt` renders volumes with several nodes. `offset` moves distant scenes near the
// origin, and `memory` checks beforehand that there is enough memory.

pub mod bounds;
pub mod camera;
pub mod content;
pub mod dirt;
pub mod file;
pub mod intersect;
pub mod kdtree;
mod light;
mod memory;
pub mod mesh;
mod offset;
pub mod picture;
pub mod ray;
pub mod render;
pub mod render_mesh;
pub mod scene;
pub mod volume;
