//! Writes meshes as PLY.

use std::io::{self, Write};

use glam::DVec3;

use super::{Mesh, Presentation};

#[cfg(test)]
mod tests;

/// Facts for a PLY file that a mesh does not have.
///
/// # Examples
/// ```
/// use raddle_graphics::mesh::PlyOptions;
///
/// let options = PlyOptions { comments: vec!["by hand".to_owned()], ..PlyOptions::default() };
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlyOptions {
    /// The point of the file that is the origin of the mesh. If it is not zero, coordinates are
    /// written in double precision.
    pub offset: DVec3,
    /// Facts on how the mesh is meant to be shown.
    pub presentation: Presentation,
    /// Comments. Line ends in them become spaces.
    pub comments: Vec<String>,
}

impl Mesh {
    /// Writes the mesh as binary PLY (little endian), with normals if it has them. The writer
    /// should have a buffer.
    ///
    /// # Errors
    /// Those of the writer.
    ///
    /// # Source
    /// G. Turk: The PLY Polygon File Format. Stanford University, 1994.
    ///
    /// # Examples
    /// ```
    /// use glam::Vec3;
    /// use raddle_graphics::mesh::{Mesh, PlyOptions};
    ///
    /// let mesh = Mesh {
    ///     positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
    ///     normals: Vec::new(),
    ///     triangles: vec![[0, 1, 2]],
    /// };
    /// let mut bytes = Vec::new();
    /// mesh.write_ply(&mut bytes, &PlyOptions::default())?;
    /// assert!(bytes.starts_with(b"ply\nformat binary_little_endian 1.0\n"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn write_ply(&self, writer: &mut impl Write, options: &PlyOptions) -> io::Result<()> {
        let has_normals = self.normals.len() == self.positions.len() && !self.normals.is_empty();
        writeln!(writer, "ply\nformat binary_little_endian 1.0")?;
        write!(writer, "{}", options.presentation)?;
        for comment in &options.comments {
            writeln!(writer, "comment {}", comment.replace(['\n', '\r'], " "))?;
        }
        writeln!(writer, "element vertex {}", self.positions.len())?;
        let is_far = options.offset != DVec3::ZERO;
        for name in ["x", "y", "z"] {
            writeln!(
                writer,
                "property {} {name}",
                if is_far { "double" } else { "float" }
            )?;
        }
        if has_normals {
            for name in ["nx", "ny", "nz"] {
                writeln!(writer, "property float {name}")?;
            }
        }
        writeln!(writer, "element face {}", self.triangles.len())?;
        writeln!(
            writer,
            "property list uchar uint vertex_indices\nend_header"
        )?;
        for (index, position) in self.positions.iter().enumerate() {
            if is_far {
                let position = position.as_dvec3() + options.offset;
                writer.write_all(position.to_array().map(f64::to_le_bytes).as_flattened())?;
            } else {
                writer.write_all(position.to_array().map(f32::to_le_bytes).as_flattened())?;
            }
            if has_normals {
                let normal = self.normals[index].to_array();
                writer.write_all(normal.map(f32::to_le_bytes).as_flattened())?;
            }
        }
        for corners in &self.triangles {
            writer.write_all(&[3])?;
            writer.write_all(corners.map(u32::to_le_bytes).as_flattened())?;
        }
        Ok(())
    }
}
