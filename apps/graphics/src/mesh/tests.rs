//! Tests of the properties of a mesh: bounds, areas, normals.

use glam::Vec3;

use super::*;

fn square() -> Mesh {
    Mesh {
        positions: vec![
            Vec3::ZERO,
            Vec3::X,
            Vec3::X + Vec3::Y,
            Vec3::Y,
            Vec3::splat(9.0),
        ],
        normals: Vec::new(),
        triangles: vec![[0, 1, 2], [0, 2, 3]],
    }
}

#[test]
fn bounds_leave_out_vertices_that_no_triangle_uses() {
    let bounds = square().bounds();
    assert_eq!(bounds.min, Vec3::ZERO);
    assert_eq!(bounds.max, Vec3::new(1.0, 1.0, 0.0));
    assert_eq!(bounds.center(), Vec3::new(0.5, 0.5, 0.0));
    assert_eq!(bounds.extent(), Vec3::new(1.0, 1.0, 0.0));
}

#[test]
fn a_mesh_without_triangles_has_empty_bounds() {
    let bounds = Mesh::default().bounds();
    assert!(bounds.is_empty());
    assert_eq!(bounds.center(), Vec3::ZERO);
    assert_eq!(bounds.extent(), Vec3::ZERO);
}

#[test]
fn normals_of_a_square_point_up_and_those_of_lone_vertices_are_zero() {
    let mesh = square().with_vertex_normals();
    assert_eq!(mesh.normals[..4], [Vec3::Z; 4]);
    assert_eq!(mesh.normals[4], Vec3::ZERO);
}

#[test]
fn normals_of_a_file_are_kept() {
    let mut mesh = square();
    mesh.normals = vec![Vec3::X; 5];
    assert_eq!(mesh.with_vertex_normals().normals, [Vec3::X; 5]);
}

#[test]
fn opposite_triangles_cancel_to_zero_rather_than_to_nan() {
    let mut mesh = square();
    mesh.triangles = vec![[0, 1, 2], [0, 2, 1]];
    assert_eq!(mesh.with_vertex_normals().normals, [Vec3::ZERO; 5]);
}

#[test]
fn a_tiny_triangle_and_a_huge_one_still_have_an_area_and_a_normal() {
    for scale in [1e-30, 1e12] {
        let mesh = Mesh {
            positions: vec![Vec3::ZERO, Vec3::X * scale, Vec3::Y * scale],
            normals: Vec::new(),
            triangles: vec![[0, 1, 2]],
        };
        assert_eq!(mesh.degenerate_count(), 0);
        assert_eq!(mesh.with_vertex_normals().normals, [Vec3::Z; 3]);
    }
}

#[test]
fn triangles_with_coinciding_or_collinear_corners_count_as_degenerate() {
    let mesh = Mesh {
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::X * 2.0, Vec3::Y],
        normals: Vec::new(),
        triangles: vec![[0, 1, 2], [0, 0, 3], [0, 1, 3]],
    };
    assert_eq!(mesh.degenerate_count(), 2);
    assert!(mesh.is_degenerate(0) && mesh.is_degenerate(1) && !mesh.is_degenerate(2));
}

#[test]
fn errors_ask_for_the_formats_of_the_help() {
    assert_eq!(format::EXPECTED, format!("a mesh in {FORMATS}"));
}
