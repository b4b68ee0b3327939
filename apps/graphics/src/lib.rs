//! Meshes, kd-trees and ray tracing on Raddle.
#![forbid(unsafe_code)]

pub mod intersect;
pub mod kdtree;
pub mod mesh;
pub mod ray;
pub mod scene;
