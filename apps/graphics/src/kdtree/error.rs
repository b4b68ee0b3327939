//! The errors of a build.

use thiserror::Error;

/// An error in the mesh or in the parameters.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The mesh has more triangles than a tree can number.
    #[error("{found} triangles; expected at most {limit}")]
    TooManyTriangles {
        /// The number of triangles of the mesh.
        found: usize,
        /// The maximum number of triangles.
        limit: usize,
    },
    /// There is not enough memory for the build.
    #[error("no memory for {bytes} bytes to build the tree in; expected a smaller mesh")]
    OutOfMemory {
        /// The number of bytes that were requested from the system.
        bytes: u64,
    },
    /// A triangle refers to a vertex that does not exist.
    #[error("triangle {triangle} has vertex {vertex}; expected a vertex below {vertex_count}")]
    VertexMissing {
        /// The index of the triangle.
        triangle: usize,
        /// The index of the vertex.
        vertex: u32,
        /// The number of vertices of the mesh.
        vertex_count: usize,
    },
    /// A coordinate of a triangle is infinite, NaN, or too large.
    #[error(
        "triangle {triangle} has coordinate {value}; expected a magnitude of at most {limit:e}"
    )]
    CoordinateOutOfRange {
        /// The index of the triangle.
        triangle: usize,
        /// The coordinate.
        value: f32,
        /// The largest permitted magnitude.
        limit: f32,
    },
    /// A parameter is out of range.
    #[error("{name} is {value}; expected {expected}")]
    ParameterOutOfRange {
        /// The name of the parameter.
        name: &'static str,
        /// The value of the parameter.
        value: f64,
        /// The permitted range.
        expected: &'static str,
    },
}
