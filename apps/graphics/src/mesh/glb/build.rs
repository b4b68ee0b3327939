//! From the primitives of a glTF file to one mesh in world space.

use std::ops::Range;

use glam::{DMat3, DMat4, Vec3};
use gltf::json::mesh::{Mode, Primitive, Semantic};
use gltf::json::validation::Checked;

use super::accessor::Accessors;
use crate::mesh::error::Fault;
use crate::mesh::faces::Faces;
use crate::mesh::{Mesh, is_coordinate};

/// A mesh in the making.
#[derive(Debug)]
pub(super) struct Builder<'a> {
    accessors: Accessors<'a>,
    faces: Faces,
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    /// Vertices whose primitives have normals; the others stand in `normals` as zero.
    with_normals: Vec<Range<usize>>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(accessors: Accessors<'a>, faces: Faces) -> Self {
        Self {
            accessors,
            faces,
            positions: Vec::new(),
            normals: Vec::new(),
            with_normals: Vec::new(),
        }
    }

    /// Adds all triangles of a mesh of the file, placed by `transform`.
    pub(super) fn add_mesh(&mut self, mesh_index: usize, transform: DMat4) -> Result<(), Fault> {
        let meshes = &self.accessors.root.meshes;
        let Some(mesh) = meshes.get(mesh_index) else {
            let expected = format!("one below {}, the number of meshes", meshes.len());
            return Err(self.accessors.fault(format!("mesh {mesh_index}"), expected));
        };
        for primitive in &mesh.primitives {
            self.add_primitive(primitive, transform)?;
        }
        Ok(())
    }

    fn add_primitive(&mut self, primitive: &Primitive, transform: DMat4) -> Result<(), Fault> {
        let mode = match primitive.mode {
            Checked::Valid(mode) => mode,
            Checked::Invalid => {
                let found = "a primitive of an unknown mode";
                return Err(self.accessors.fault(found, "a mode from 0 to 6"));
            }
        };
        let attribute = |semantic| primitive.attributes.get(&Checked::Valid(semantic));
        let Some(positions) = attribute(Semantic::Positions) else {
            return Ok(());
        };
        if !matches!(
            mode,
            Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan
        ) {
            self.faces.dropped_count += 1;
            return Ok(());
        }
        let first = self.positions.len();
        let count = self.accessors.count(positions.value())?;
        if count > (self.faces.vertex_count_max() - first) as u64 {
            let most = self.faces.vertex_count_max();
            return Err(Fault::too_large(
                self.accessors.json_place(),
                format!("{count} more vertices after {first}"),
                format!("at most {most} in all"),
            ));
        }
        self.add_positions(positions.value(), transform)?;
        self.add_normals(
            attribute(Semantic::Normals).map(|it| it.value()),
            first,
            transform,
        )?;
        let vertex_count = self.positions.len() - first;
        let mut corners = match primitive.indices {
            Some(indices) => self.accessors.indices(indices.value(), vertex_count)?,
            None => (0..vertex_count as u32).collect(),
        };
        for corner in &mut corners {
            *corner += first as u32;
        }
        self.add_triangles(mode, &corners, transform.determinant() < 0.0)
    }

    fn add_positions(&mut self, accessor: usize, transform: DMat4) -> Result<(), Fault> {
        let positions = &mut self.positions;
        self.accessors.vectors(accessor, |place, point| {
            let point = transform.transform_point3(point).as_vec3();
            if let Some(bad) = point.to_array().iter().find(|it| !is_coordinate(**it)) {
                return Err(Fault::coordinate(place, bad));
            }
            positions.push(point);
            Ok(())
        })
    }

    /// Adds a normal for every vertex from `first` on, zero for those that the file has none for.
    fn add_normals(
        &mut self,
        accessor: Option<usize>,
        first: usize,
        transform: DMat4,
    ) -> Result<(), Fault> {
        let end = self.positions.len();
        if let Some(accessor) = accessor {
            // Normals are turned by the cofactors: the inverse transpose, but for any matrix.
            let [x, y, z] = [0, 1, 2].map(|axis| transform.col(axis).truncate());
            let mirrored = if transform.determinant() < 0.0 {
                -1.0
            } else {
                1.0
            };
            let turn = DMat3::from_cols(y.cross(z), z.cross(x), x.cross(y)) * mirrored;
            let normals = &mut self.normals;
            self.accessors.vectors(accessor, |_, normal| {
                if normals.len() < end {
                    normals.push((turn * normal).normalize_or_zero().as_vec3());
                }
                Ok(())
            })?;
            if self.normals.len() == end {
                self.with_normals.push(first..end);
            }
        }
        self.normals.resize(end, Vec3::ZERO);
        Ok(())
    }

    fn add_triangles(
        &mut self,
        mode: Mode,
        corners: &[u32],
        is_mirrored: bool,
    ) -> Result<(), Fault> {
        let place = self.accessors.json_place();
        let first = self.faces.triangles.len();
        match mode {
            Mode::TriangleStrip => self.faces.push_strip(place, corners)?,
            Mode::TriangleFan => {
                for edge in corners.get(1..).unwrap_or_default().windows(2) {
                    self.faces
                        .push_triangle(place, [corners[0], edge[0], edge[1]])?;
                }
            }
            _ => {
                let triangles = corners.chunks_exact(3);
                self.faces.claim(place, triangles.len())?;
                let triangles = triangles.map(|it| [it[0], it[1], it[2]]);
                self.faces.triangles.extend(triangles);
            }
        }
        if is_mirrored {
            for triangle in &mut self.faces.triangles[first..] {
                triangle.swap(1, 2);
            }
        }
        Ok(())
    }

    /// Returns the mesh. If some primitives have normals, the others get theirs computed.
    pub(super) fn finish(mut self) -> (Mesh, Faces) {
        let mut mesh = Mesh {
            positions: self.positions,
            normals: Vec::new(),
            triangles: std::mem::take(&mut self.faces.triangles),
        };
        let with_normals: usize = self.with_normals.iter().map(Range::len).sum();
        if with_normals == mesh.positions.len() {
            mesh.normals = self.normals;
        } else if with_normals > 0 {
            mesh.compute_normals();
            for range in self.with_normals {
                mesh.normals[range.clone()].copy_from_slice(&self.normals[range]);
            }
        }
        (mesh, self.faces)
    }
}
