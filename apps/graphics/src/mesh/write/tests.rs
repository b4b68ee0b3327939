//! Tests of written meshes, which are read again.

use glam::Vec3;

use super::*;
use crate::mesh::LoadOptions;

#[test]
fn a_written_mesh_is_read_as_it_was() {
    for normals in [Vec::new(), vec![Vec3::Z; 4]] {
        let mesh = Mesh {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(1.0, 1.0, -0.25)],
            normals,
            triangles: vec![[0, 1, 2], [3, 2, 1]],
        };
        let mut bytes = Vec::new();
        mesh.write_ply(&mut bytes).expect("memory takes it");
        let length = Some(bytes.len() as u64);
        let options = LoadOptions::default();
        let loaded = Mesh::read(&bytes[..], length, "a.ply", &options, |_| ()).expect("a mesh");
        assert_eq!(loaded.mesh, mesh);
    }
}
