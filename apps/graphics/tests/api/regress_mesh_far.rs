//! A scene far from the origin loads like the same scene at the origin, and rays hit the same
//! triangles.
//!
//! Regression: coordinates used to be narrowed to `f32` while a file was read. A sphere of 1 m at
//! map coordinates became a barrel with steps, and at geocentric coordinates most of its triangles
//! had no area left.

use crate::mesh_support::{glb_file, read};
use glam::{DVec3, Vec3};
use raddle_graphics::camera::View;
use raddle_graphics::kdtree::{KdTree, Parameters};
use raddle_graphics::mesh::Mesh;
use raddle_graphics::scene::{self, Scene};

fn moved(mesh: &Mesh, by: DVec3) -> impl Iterator<Item = DVec3> {
    mesh.positions
        .iter()
        .map(move |point| point.as_dvec3() + by)
}

fn obj(mesh: &Mesh, by: DVec3) -> Vec<u8> {
    let mut text = String::new();
    for DVec3 { x, y, z } in moved(mesh, by) {
        text += &format!("v {x} {y} {z}\n");
    }
    for [a, b, c] in &mesh.triangles {
        text += &format!("f {} {} {}\n", a + 1, b + 1, c + 1);
    }
    text.into_bytes()
}

fn stl(mesh: &Mesh, by: DVec3) -> Vec<u8> {
    let mut text = "solid\n".to_owned();
    for index in 0..mesh.triangles.len() {
        text += "facet normal 0 0 0 outer loop\n";
        for point in mesh.triangle(index) {
            let DVec3 { x, y, z } = point.as_dvec3() + by;
            text += &format!("vertex {x} {y} {z}\n");
        }
        text += "endloop endfacet\n";
    }
    (text + "endsolid\n").into_bytes()
}

fn ply(mesh: &Mesh, by: DVec3, is_text: bool) -> Vec<u8> {
    let format = if is_text {
        "ascii"
    } else {
        "binary_big_endian"
    };
    let mut bytes = format!(
        "ply\nformat {format} 1.0\nelement vertex {}\nproperty double x\nproperty double y\n\
         property double z\nelement face {}\nproperty list uchar uint vertex_indices\nend_header\n",
        mesh.positions.len(),
        mesh.triangles.len()
    )
    .into_bytes();
    for point in moved(mesh, by) {
        if is_text {
            bytes.extend(format!("{} {} {}\n", point.x, point.y, point.z).bytes());
        } else {
            bytes.extend(point.to_array().map(f64::to_be_bytes).concat());
        }
    }
    for [a, b, c] in &mesh.triangles {
        if is_text {
            bytes.extend(format!("3 {a} {b} {c}\n").bytes());
        } else {
            bytes.push(3);
            bytes.extend([a, b, c].map(|corner| corner.to_be_bytes()).concat());
        }
    }
    bytes
}

/// Returns a GLB file with the mesh near the origin, in a node that moves it.
fn glb(mesh: &Mesh, by: DVec3) -> Vec<u8> {
    let mut binary: Vec<u8> = Vec::new();
    binary.extend(
        mesh.positions
            .iter()
            .flat_map(|it| it.to_array())
            .flat_map(f32::to_le_bytes),
    );
    let points = binary.len();
    binary.extend(
        mesh.triangles
            .as_flattened()
            .iter()
            .flat_map(|it| it.to_le_bytes()),
    );
    let json = format!(
        "{{\"asset\":{{\"version\":\"2.0\"}},\"nodes\":[{{\"translation\":[{},{},{}],\
         \"children\":[1]}},{{\"mesh\":0}}],\
         \"meshes\":[{{\"primitives\":[{{\"attributes\":{{\"POSITION\":0}},\"indices\":1}}]}}],\
         \"buffers\":[{{\"byteLength\":{}}}],\
         \"bufferViews\":[{{\"buffer\":0,\"byteLength\":{points}}},\
         {{\"buffer\":0,\"byteOffset\":{points},\"byteLength\":{}}}],\
         \"accessors\":[{{\"bufferView\":0,\"componentType\":5126,\"count\":{},\"type\":\"VEC3\"}},\
         {{\"bufferView\":1,\"componentType\":5125,\"count\":{},\"type\":\"SCALAR\"}}]}}",
        by.x,
        by.y,
        by.z,
        binary.len(),
        binary.len() - points,
        mesh.positions.len(),
        3 * mesh.triangles.len()
    );
    glb_file(&json, &binary)
}

fn every_format(mesh: &Mesh, by: DVec3) -> [(&'static str, Vec<u8>); 5] {
    [
        ("it.obj", obj(mesh, by)),
        ("it.stl", stl(mesh, by)),
        ("it.text.ply", ply(mesh, by, true)),
        ("it.double.ply", ply(mesh, by, false)),
        ("it.glb", glb(mesh, by)),
    ]
}

/// Returns the triangle that each pixel of a picture shows.
fn hits(mesh: &Mesh) -> Vec<Option<u32>> {
    const SIZE: (u32, u32) = (96, 72);
    let tree = KdTree::build_sequential(mesh, &Parameters::default()).expect("a small mesh");
    let (camera, _) = View::default().camera(mesh, &tree, SIZE).expect("a camera");
    let pixels = (0..SIZE.0 * SIZE.1).map(|pixel| {
        let position = [(pixel % SIZE.0) as f32 + 0.5, (pixel / SIZE.0) as f32 + 0.5];
        let hit = tree.nearest(&camera.ray(position, SIZE))?;
        Some(hit.triangle)
    });
    pixels.collect()
}

#[test]
fn moved_scenes_have_the_hits_that_they_have_at_the_origin() {
    let moves = [
        DVec3::splat(5e5),
        DVec3::splat(5e6),
        DVec3::new(-5e6, 5e5, 0.0),
    ];
    for scene in [Scene::Knot, Scene::Flake, Scene::Terrain] {
        let mesh = scene::generate(scene, 1_500);
        for (name, near) in every_format(&mesh, DVec3::ZERO) {
            let near = read(name, near);
            assert_eq!(near.report.offset, DVec3::ZERO, "{scene} {name}");
            let expected = hits(&near.mesh);
            assert!(expected.iter().flatten().count() > 1_000, "{scene}");
            for by in moves {
                let far = every_format(&mesh, by)
                    .into_iter()
                    .find(|(it, _)| *it == name);
                let far = read(name, far.expect("the same format").1);
                assert_eq!(far.report.offset, by, "{scene} {name}");
                assert_eq!(far.report.degenerate_count, near.report.degenerate_count);
                assert_eq!(far.mesh.triangles, near.mesh.triangles, "{scene} {name}");
                assert_eq!(hits(&far.mesh), expected, "{scene} {name} by {by}");
            }
        }
    }
}

/// Formats without doubles can be exact far from the origin too, but rays through them would not
/// be.
#[test]
fn distant_integers_in_f32_are_moved_near_the_origin() {
    let mut mesh = Mesh {
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z],
        normals: Vec::new(),
        triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
    };
    let near = mesh.clone();
    for position in &mut mesh.positions {
        *position += 5e6;
    }
    for (name, bytes) in crate::mesh_support::every_format(&mesh) {
        let loaded = read(name, bytes);
        assert_eq!(loaded.report.offset, DVec3::splat(5e6), "{name}");
        assert_eq!(hits(&loaded.mesh), hits(&near), "{name}");
    }
}

// The location of Würzburg in metres, in map coordinates and from the centre of the earth.
#[test]
fn spheres_at_map_and_geocentric_coordinates_keep_all_triangles() {
    for place in [
        DVec3::new(567_123.456, 5_515_789.012, 177.0),
        DVec3::new(4_060_123.456, 711_234.567, 4_851_345.678),
    ] {
        let (rows, columns) = (20, 32);
        let mut text = String::new();
        for row in 0..=rows {
            for column in 0..columns {
                let down = f64::from(row) / f64::from(rows) * std::f64::consts::PI;
                let around = f64::from(column) / f64::from(columns) * std::f64::consts::TAU;
                let level = down.sin();
                let point = DVec3::new(level * around.cos(), level * around.sin(), down.cos());
                let DVec3 { x, y, z } = place + 0.5 * point;
                text += &format!("v {x:.6} {y:.6} {z:.6}\n");
            }
        }
        for row in 0..rows {
            for column in 0..columns {
                let next = (column + 1) % columns;
                let [a, b] = [column, next].map(|it| row * columns + it + 1);
                text += &format!("f {a} {} {} {b}\n", a + columns, b + columns);
            }
        }
        let loaded = read("it.obj", text);
        // Each triangle at one of the two poles has two equal corners.
        let flat = 2 * columns as usize;
        assert_eq!(loaded.report.triangle_count, 2 * (rows * columns) as usize);
        assert_eq!(loaded.report.degenerate_count, flat);
        let radii = loaded
            .mesh
            .positions
            .iter()
            .map(|point| (point.as_dvec3() + loaded.report.offset - place).length());
        for radius in radii {
            assert!((radius - 0.5).abs() < 2e-6, "{radius}");
        }
    }
}
