//! Why a mesh can have no tree.

use thiserror::Error;

/// What is wrong with a mesh or with the parameters.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// More triangles than a tree can number.
    #[error("{found} triangles, expected at most {limit}")]
    TooManyTriangles {
        /// Triangles of the mesh.
        found: usize,
        /// The most there may be.
        limit: usize,
    },
    /// There is no memory to build in.
    #[error("no memory for {bytes} bytes to build the tree in, expected a smaller mesh")]
    OutOfMemory {
        /// What was asked of the system.
        bytes: u64,
    },
    /// A triangle refers to a vertex that is not there.
    #[error("triangle {triangle} has vertex {vertex}, expected a vertex below {vertex_count}")]
    VertexMissing {
        /// The triangle's index.
        triangle: usize,
        /// The vertex it names.
        vertex: u32,
        /// Vertices of the mesh.
        vertex_count: usize,
    },
    /// A coordinate of a triangle is infinite, no number, or too large.
    #[error(
        "triangle {triangle} has coordinate {value}, expected a magnitude of at most {limit:e}"
    )]
    CoordinateOutOfRange {
        /// The triangle's index.
        triangle: usize,
        /// The coordinate.
        value: f32,
        /// The largest magnitude there may be.
        limit: f32,
    },
    /// A parameter is out of its range.
    #[error("{name} is {value}, expected {expected}")]
    ParameterOutOfRange {
        /// Which parameter.
        name: &'static str,
        /// What it is.
        value: f64,
        /// What it may be.
        expected: &'static str,
    },
}
