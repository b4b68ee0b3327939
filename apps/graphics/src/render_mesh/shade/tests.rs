//! Tests of the border between light and shade on surfaces that are smooth only in their shading.

use super::*;
use crate::camera::{Setting, View};
use crate::kdtree::Parameters;
use crate::render_mesh::light::choose;

/// Creates a sphere of few faces, with the normals of the true sphere or none.
fn sphere(columns: u32, rows: u32, has_normals: bool) -> Mesh {
    let mut mesh = Mesh::default();
    for row in 0..=rows {
        let down = std::f32::consts::PI * row as f32 / rows as f32;
        for column in 0..columns {
            let around = std::f32::consts::TAU * column as f32 / columns as f32;
            let level = down.sin();
            mesh.positions.push(Vec3::new(
                level * around.cos(),
                down.cos(),
                level * around.sin(),
            ));
        }
    }
    for row in 0..rows {
        for column in 0..columns {
            let next = (column + 1) % columns;
            let [a, b] = [row * columns + column, row * columns + next];
            let [c, d] = [a + columns, b + columns];
            mesh.triangles.extend([[a, b, d], [a, d, c]]);
        }
    }
    if has_normals {
        mesh.normals = mesh.positions.iter().map(|it| it.normalize()).collect();
    }
    mesh
}

/// Counts the rays with a hit that the light reaches on the true sphere, and those of them that
/// have no shadow ray or a blocked one.
fn lit_and_dark(mesh: &Mesh, up: Vec3) -> (usize, usize) {
    let size = (160, 160);
    let tree = KdTree::build_sequential(mesh, &Parameters::default()).unwrap();
    let view = View {
        up: Some(up),
        ..View::default()
    };
    let (camera, setting) = view.camera(mesh, &tree, size).unwrap();
    assert_eq!(setting, Setting::Object);
    let shader = Shader {
        mesh,
        tree: &tree,
        normals: &CornerNormals::of(mesh, tree.bounds()),
        lights: choose(&tree, &camera, setting, up),
        clip: None,
    };
    let (mut lit, mut dark) = (0, 0);
    for pixel in 0..size.0 * size.1 {
        let position = [(pixel % size.0) as f32 + 0.5, (pixel / size.0) as f32 + 0.5];
        let ray = camera.ray(position, size);
        let Some(hit) = tree.nearest(&ray) else {
            continue;
        };
        let surface = shader.surface(&ray, &hit);
        let towards = shader.lights.key(surface.point).towards;
        // Close to the terminator there is hardly any light, so an error is invisible.
        if surface.point.normalize().dot(towards) > 0.02 {
            lit += 1;
            dark += usize::from(shader.key(&surface, &mut RayCounts::default()).is_none());
        }
    }
    (lit, dark)
}

// Regression: faces beyond the terminator of their own planes used to be dark as a whole, so the
// terminator had teeth. All corners of such a face may be lit by their normals, but the face was
// treated as unlit.
#[test]
fn the_terminator_of_a_coarse_sphere_has_no_teeth() {
    for (columns, rows) in [(12, 8), (16, 12), (24, 16), (48, 24)] {
        for has_normals in [true, false] {
            for up in [Vec3::Y, Vec3::Z, Vec3::new(0.5, 0.6, 0.3)] {
                let mesh = sphere(columns, rows, has_normals);
                let (lit, dark) = lit_and_dark(&mesh, up);
                assert!(lit > 5_000, "{lit} of {columns} columns");
                // Computed normals represent a surface that is nearly a sphere.
                let allowed = if has_normals { 0 } else { lit / 100 };
                assert!(
                    dark <= allowed,
                    "{dark} of {lit}, {columns} columns, normals {has_normals}, up {up}"
                );
            }
        }
    }
}

/// Faces beyond the terminator may be lit, but this light must not pass through closed walls.
#[test]
fn faces_that_are_flat_in_their_shading_have_their_own_terminator() {
    let mut cube = Mesh::default();
    for corner in 0..8_u8 {
        let side = |bit: u8| if corner & bit == 0 { -1.0 } else { 1.0 };
        cube.positions.push(Vec3::new(side(1), side(2), side(4)));
    }
    let faces = [
        [0, 4, 6, 2],
        [1, 3, 7, 5],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 2, 3, 1],
        [4, 5, 7, 6],
    ];
    for [a, b, c, d] in faces {
        cube.triangles.extend([[a, b, c], [a, c, d]]);
    }
    let tree = KdTree::build_sequential(&cube, &Parameters::default()).unwrap();
    let size = (96, 96);
    let (camera, setting) = View::default().camera(&cube, &tree, size).unwrap();
    let shader = Shader {
        mesh: &cube,
        tree: &tree,
        normals: &CornerNormals::of(&cube, tree.bounds()),
        lights: choose(&tree, &camera, setting, Vec3::Y),
        clip: None,
    };
    for pixel in 0..size.0 * size.1 {
        let position = [(pixel % size.0) as f32 + 0.5, (pixel / size.0) as f32 + 0.5];
        let ray = camera.ray(position, size);
        if let Some(hit) = tree.nearest(&ray) {
            let surface = shader.surface(&ray, &hit);
            let is_lit = shader.key(&surface, &mut RayCounts::default()).is_some();
            let towards = shader.lights.key(surface.point).towards;
            let [a, b, c] = cube.triangle(hit.triangle as usize);
            let outward = (b - a).cross(c - a);
            assert_eq!(is_lit, outward.dot(towards) > 0.0, "{position:?}");
        }
    }
}
