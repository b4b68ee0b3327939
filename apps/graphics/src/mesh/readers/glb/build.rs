//! Converts the primitives of a glTF file to one mesh in world space.

use glam::{DMat4, DVec3, Vec3};

use super::accessor::Accessors;
use super::json::{Instancing, MeshOfPrimitives, Node, Number, Primitive};
use super::pose::{self, Placement, Transforms};
use super::scene;
use crate::file::Fault;
use crate::memory;
use crate::mesh::faces::Faces;
use crate::mesh::format::Format;
use crate::mesh::parsed::Parsed;
use crate::mesh::points::Points;

/// The maximum number of primitives that nodes and instances may show. A small file can show many
/// primitives in many places.
const SHOWN_MAX: u64 = 1 << 26;

/// An unfinished mesh.
#[derive(Debug)]
pub(super) struct Builder<'a> {
    accessors: Accessors<'a>,
    /// The world transformations of the nodes of the file.
    worlds: &'a [DMat4],
    faces: Faces,
    points: Points<DVec3>,
    /// One normal for each point, NaN if the primitive has none.
    normals: Vec<Vec3>,
    has_normals: bool,
    /// The number of primitives shown so far.
    shown_count: u64,
}

/// The way in which the indices of a primitive form triangles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Triangles,
    Strip,
    Fan,
}

impl<'a> Builder<'a> {
    pub(super) fn new(accessors: Accessors<'a>, faces: Faces, worlds: &'a [DMat4]) -> Self {
        Self {
            accessors,
            worlds,
            faces,
            points: Points::new(),
            normals: Vec::new(),
            has_normals: false,
            shown_count: 0,
        }
    }

    /// Adds all triangles of the mesh that a node shows. `transform` maps the space of the node to
    /// the world.
    pub(super) fn add_node(&mut self, node: &Node, transform: DMat4) -> Result<(), Fault> {
        let root = self.accessors.root;
        let Some(mesh_index) = node.mesh else {
            return Ok(());
        };
        let Some(mesh) = root.meshes.get(mesh_index.index()) else {
            let expected = format!("one below {}, the number of meshes", root.meshes.len());
            let found = format!("mesh {}", mesh_index.0);
            return Err(self.accessors.fault(found, expected));
        };
        let weights = node.weights.as_ref().unwrap_or(&mesh.weights);
        if let Some(skin_index) = node.skin {
            let Some(skin) = root.skins.get(skin_index.index()) else {
                let expected = format!("one below {}, the number of skins", root.skins.len());
                let found = format!("skin {}", skin_index.0);
                return Err(self.accessors.fault(found, expected));
            };
            let joints = pose::joint_matrices(self.accessors, skin, self.worlds)?;
            let node = transform;
            let joints = &joints;
            return self.add_mesh(mesh, weights, Placement::Joints { joints, node });
        }
        if let Some(instancing) = &node.extensions.instancing {
            for instance in self.instances(instancing)? {
                self.add_mesh(mesh, weights, Placement::Rigid(transform * instance))?;
            }
            return Ok(());
        }
        self.add_mesh(mesh, weights, Placement::Rigid(transform))
    }

    /// Returns the transformations of all instances, in the space of their node.
    fn instances(&self, instancing: &Instancing) -> Result<Vec<DMat4>, Fault> {
        let accessors = self.accessors;
        let find = |name: &str| instancing.attributes.get(name).map(|it| it.index());
        let parts = [find("TRANSLATION"), find("ROTATION"), find("SCALE")];
        let mut count = 0;
        for part in parts.into_iter().flatten() {
            count = accessors.count(part)?.max(count);
        }
        memory::ask(count.saturating_mul(2 * size_of::<DMat4>() as u64))
            .map_err(|none| Fault::no_memory(accessors.json_place(), none))?;
        let (mut translations, mut rotations, mut scales) = (Vec::new(), Vec::new(), Vec::new());
        let [translation, rotation, scale] = parts;
        if let Some(translation) = translation {
            accessors.vectors(translation, "VEC3", |_, values| {
                translations.push(values);
                Ok(())
            })?;
        }
        if let Some(rotation) = rotation {
            accessors.vectors(rotation, "VEC4", |_, values| {
                rotations.push(values);
                Ok(())
            })?;
        }
        if let Some(scale) = scale {
            accessors.vectors(scale, "VEC3", |_, values| {
                scales.push(values);
                Ok(())
            })?;
        }
        let count = translations.len().max(rotations.len()).max(scales.len());
        Ok((0..count)
            .map(|number| {
                scene::placement(
                    translations.get(number).copied(),
                    rotations.get(number).copied(),
                    scales.get(number).copied(),
                )
            })
            .collect())
    }

    fn add_mesh(
        &mut self,
        mesh: &MeshOfPrimitives,
        weights: &[f64],
        placement: Placement<'_>,
    ) -> Result<(), Fault> {
        self.shown_count += mesh.primitives.len() as u64;
        if self.shown_count > SHOWN_MAX {
            return Err(Fault::too_large(
                self.accessors.json_place(),
                format!(
                    "{} primitives, each counted where it is shown",
                    self.shown_count
                ),
                format!("at most {SHOWN_MAX}"),
            ));
        }
        for primitive in &mesh.primitives {
            self.add_primitive(primitive, weights, placement)?;
        }
        Ok(())
    }

    fn add_primitive(
        &mut self,
        primitive: &Primitive,
        weights: &[f64],
        placement: Placement<'_>,
    ) -> Result<(), Fault> {
        let attribute = |name| primitive.attributes.get(name).map(|it| it.index());
        let Some(positions) = attribute("POSITION") else {
            return Ok(());
        };
        let mode = match primitive.mode.map_or(4, |mode| mode.0) {
            0 => {
                self.faces.ignored.points += 1;
                return Ok(());
            }
            1..=3 => {
                self.faces.ignored.lines += 1;
                return Ok(());
            }
            4 => Mode::Triangles,
            5 => Mode::Strip,
            6 => Mode::Fan,
            _ => {
                let found = "a primitive of an unknown mode";
                return Err(self.accessors.fault(found, "a mode from 0 to 6"));
            }
        };
        let first = self.points.len();
        let count = self.accessors.count(positions)?;
        if count > (self.faces.vertex_count_max() - first) as u64 {
            let most = self.faces.vertex_count_max();
            return Err(Fault::too_large(
                self.accessors.json_place(),
                format!("{count} more vertices after {first}"),
                format!("at most {most} in all"),
            ));
        }
        let transforms = Transforms::of(self.accessors, primitive, placement)?;
        self.add_positions(primitive, positions, weights, &transforms)?;
        self.add_normals(primitive, attribute("NORMAL"), weights, first, &transforms)?;
        let vertex_count = self.points.len() - first;
        let mut corners = match primitive.indices.map(Number::index) {
            Some(indices) => self.accessors.indices(indices, vertex_count)?,
            None => (0..vertex_count as u32).collect(),
        };
        for corner in &mut corners {
            *corner += first as u32;
        }
        self.add_triangles(mode, &corners, transforms.is_mirror())
    }

    fn add_positions(
        &mut self,
        primitive: &Primitive,
        accessor: usize,
        weights: &[f64],
        transforms: &Transforms,
    ) -> Result<(), Fault> {
        let moved = pose::displacements(self.accessors, primitive, weights, "POSITION")?;
        let (points, mut vertex) = (&mut self.points, 0);
        self.accessors.vectors(accessor, "VEC3", |place, values| {
            let more = moved.get(vertex).copied().unwrap_or_default();
            let point = DVec3::from_array(values) + more;
            let placed = transforms.at(vertex).transform_point3(point);
            points.push(place, placed.to_array());
            vertex += 1;
            Ok(())
        })
    }

    /// Adds a normal for every vertex from `first` on, NaN for those without a normal in the file.
    fn add_normals(
        &mut self,
        primitive: &Primitive,
        accessor: Option<usize>,
        weights: &[f64],
        first: usize,
        transforms: &Transforms,
    ) -> Result<(), Fault> {
        let end = self.points.len();
        if let Some(accessor) = accessor {
            let moved = pose::displacements(self.accessors, primitive, weights, "NORMAL")?;
            let (normals, broken_count) = (&mut self.normals, &mut self.faces.ignored.normals);
            self.accessors.vectors(accessor, "VEC3", |_, values| {
                let vertex = normals.len() - first;
                if normals.len() < end {
                    let more = moved.get(vertex).copied().unwrap_or_default();
                    let normal = DVec3::from_array(values) + more;
                    let turned = pose::normal_transform(transforms.at(vertex)) * normal;
                    if turned.is_finite() {
                        normals.push(turned.normalize_or_zero().as_vec3());
                    } else {
                        normals.push(Vec3::NAN);
                        *broken_count += 1;
                    }
                }
                Ok(())
            })?;
            self.has_normals = true;
        }
        self.normals.resize(end, Vec3::NAN);
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
            Mode::Strip => self.faces.push_strip(place, corners)?,
            Mode::Fan => {
                for edge in corners.get(1..).unwrap_or_default().windows(2) {
                    self.faces
                        .push_triangle(place, [corners[0], edge[0], edge[1]])?;
                }
            }
            Mode::Triangles => {
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

    /// Returns the mesh. If some primitives have normals, the others get computed ones.
    pub(super) fn finish(self) -> Result<Parsed, Fault> {
        let normals = if self.has_normals {
            self.normals
        } else {
            Vec::new()
        };
        Parsed::new(Format::Glb, self.points, normals, self.faces)
    }
}
