//! Meshes, kd-trees and ray tracing on Raddle.
#![forbid(unsafe_code)]

pub mod camera;
pub mod intersect;
pub mod kdtree;
mod memory;
pub mod mesh;
pub mod picture;
pub mod ray;
pub mod render;
pub mod scene;
