//! Writes meshes as PLY.

use std::io::{self, Write};

use super::Mesh;

#[cfg(test)]
mod tests;

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
    /// use raddle_graphics::mesh::Mesh;
    ///
    /// let mesh = Mesh {
    ///     positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
    ///     normals: Vec::new(),
    ///     triangles: vec![[0, 1, 2]],
    /// };
    /// let mut bytes = Vec::new();
    /// mesh.write_ply(&mut bytes)?;
    /// assert!(bytes.starts_with(b"ply\nformat binary_little_endian 1.0\n"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn write_ply(&self, writer: &mut impl Write) -> io::Result<()> {
        let has_normals = self.normals.len() == self.positions.len() && !self.normals.is_empty();
        writeln!(writer, "ply\nformat binary_little_endian 1.0")?;
        writeln!(writer, "element vertex {}", self.positions.len())?;
        let names: &[&str] = match has_normals {
            true => &["x", "y", "z", "nx", "ny", "nz"],
            false => &["x", "y", "z"],
        };
        for name in names {
            writeln!(writer, "property float {name}")?;
        }
        writeln!(writer, "element face {}", self.triangles.len())?;
        writeln!(
            writer,
            "property list uchar uint vertex_indices\nend_header"
        )?;
        for (index, position) in self.positions.iter().enumerate() {
            writer.write_all(&position.to_array().map(f32::to_le_bytes).concat())?;
            if has_normals {
                let normal = self.normals[index].to_array();
                writer.write_all(&normal.map(f32::to_le_bytes).concat())?;
            }
        }
        for corners in &self.triangles {
            writer.write_all(&[3])?;
            writer.write_all(&corners.map(u32::to_le_bytes).concat())?;
        }
        Ok(())
    }
}
