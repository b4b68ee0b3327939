//! Meshes, kd-trees and ray tracing on Raddle.
#![forbid(unsafe_code)]

pub mod mesh;
