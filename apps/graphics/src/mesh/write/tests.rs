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
        mesh.write_ply(&mut bytes, &PlyOptions::default())
            .expect("memory takes it");
        let length = Some(bytes.len() as u64);
        let options = LoadOptions::default();
        let loaded = Mesh::read(&bytes[..], length, "a.ply", &options, |_| ()).expect("a mesh");
        assert_eq!(loaded.mesh, mesh);
    }
}

#[test]
fn presentation_offset_and_comments_are_in_the_file() {
    let mesh = Mesh {
        positions: vec![Vec3::ZERO, Vec3::X, 0.5 * Vec3::Y],
        normals: Vec::new(),
        triangles: vec![[0, 1, 2]],
    };
    let options = PlyOptions {
        offset: DVec3::new(5_400_000.0, 0.0, -3e6),
        presentation: Presentation {
            up: Some(Vec3::Z),
            is_object: true,
        },
        comments: vec!["two\nelement vertex 7".to_owned()],
    };
    let mut bytes = Vec::new();
    mesh.write_ply(&mut bytes, &options)
        .expect("memory takes it");
    let read = LoadOptions::default();
    let loaded = Mesh::read(&bytes[..], None, "a.ply", &read, |_| ()).expect("a mesh");
    assert_eq!(loaded.report.offset, options.offset);
    assert_eq!(loaded.report.presentation, options.presentation);
    assert_eq!(loaded.report.up(), Vec3::Z);
    assert_eq!(loaded.mesh, mesh);
}
