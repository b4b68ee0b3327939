//! The commands, one module each.

pub(crate) mod binding;
pub(crate) mod completions;
mod crew;
pub(crate) mod demo;
pub(crate) mod kdtree;
pub(crate) mod kneighbor;
pub(crate) mod launch;
pub(crate) mod lk23;
pub(crate) mod matmul;
mod model;
pub(crate) mod pingpong;
pub(crate) mod place;
pub(crate) mod pools;
pub(crate) mod predict;
mod program;
pub(crate) mod render;
pub(crate) mod simulate;
pub(crate) mod sort;
pub(crate) mod topology;
