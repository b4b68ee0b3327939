//! Tests of extracted surfaces: closed, oriented, and where the closed form says.

use std::collections::HashMap;

use super::*;

fn volume_of(size: [usize; 3], value: impl Fn(DVec3) -> f64) -> Volume {
    let voxel = |index: usize| {
        let at = [
            index % size[0],
            index / size[0] % size[1],
            index / (size[0] * size[1]),
        ];
        value(DVec3::from_array(at.map(|it| it as f64))) as f32
    };
    let voxels: Vec<f32> = (0..size.iter().product()).map(voxel).collect();
    Volume::new(size, voxels).expect("a sound volume")
}

fn extracted(volume: &Volume, isovalue: f64) -> Mesh {
    extract(volume, &Macrocells::of(volume), isovalue).expect("a mesh")
}

/// Checks that each edge of a triangle is the reverse of one other edge, unless it is at the border
/// of the volume.
fn check_closed(mesh: &Mesh, size: [usize; 3]) {
    let mut edges: HashMap<(u32, u32), i32> = HashMap::new();
    for corners in &mesh.triangles {
        for side in 0..3 {
            *edges
                .entry((corners[side], corners[(side + 1) % 3]))
                .or_default() += 1;
        }
    }
    let is_at_border = |vertex: u32| {
        let at = mesh.positions[vertex as usize].to_array();
        (0..3).any(|axis| at[axis] == 0.0 || at[axis] == (size[axis] - 1) as f32)
    };
    for (&(from, to), &count) in &edges {
        let back = edges.get(&(to, from)).copied().unwrap_or_default();
        let is_border = is_at_border(from) && is_at_border(to);
        assert!(count == back || is_border, "{from} {to}: {count}, {back}");
    }
}

#[test]
fn a_sphere_is_closed_and_has_its_area_and_volume() {
    let size = [41, 38, 43];
    let centre = DVec3::new(20.3, 18.6, 21.1);
    let volume = volume_of(size, |at| 15.0 - (at - centre).length());
    let mesh = extracted(&volume, 0.0);
    check_closed(&mesh, size);
    let (mut area, mut content) = (0.0, 0.0);
    for index in 0..mesh.triangles.len() {
        let [a, b, c] = mesh
            .triangle(index)
            .map(|corner| corner.as_dvec3() - centre);
        area += 0.5 * (b - a).cross(c - a).length();
        content += a.dot(b.cross(c)) / 6.0;
    }
    // Outward: the content is positive.
    assert!(
        (area / (4.0 * std::f64::consts::PI * 225.0) - 1.0).abs() < 0.005,
        "{area}"
    );
    assert!(
        (content / (4.0 / 3.0 * std::f64::consts::PI * 3375.0) - 1.0).abs() < 0.005,
        "{content}"
    );
    for (position, normal) in mesh.positions.iter().zip(&mesh.normals) {
        let outward = (position.as_dvec3() - centre).normalize();
        assert!(normal.as_dvec3().dot(outward) > 0.999);
    }
    // Euler's formula: vertices - edges + triangles = 2.
    assert_eq!(2 * mesh.positions.len(), mesh.triangles.len() + 4);
}

#[test]
fn noise_with_isovalues_between_and_on_voxels_is_closed() {
    let size = [17, 14, 19];
    let voxel = |index: usize| (index.wrapping_mul(2_654_435_761) >> 8) as u8 % 5;
    let voxels: Vec<u8> = (0..size.iter().product()).map(voxel).collect();
    let volume = Volume::new(size, voxels).expect("a sound volume");
    for isovalue in [0.5, 1.0, 2.0, 2.5, 3.9, 4.0] {
        let mesh = extracted(&volume, isovalue);
        assert!(mesh.triangles.len() > 500);
        check_closed(&mesh, size);
        let is_flat = |corners: &[u32; 3]| corners[0] == corners[1] || corners[1] == corners[2];
        assert!(!mesh.triangles.iter().any(is_flat));
    }
    assert!(extracted(&volume, 9.0).triangles.is_empty());
    assert!(extract(&volume, &Macrocells::of(&volume), f64::NAN).is_err());
}

// Regression: a line in a face could belong to both of its cells, and then four triangles met in
// it.
#[test]
fn at_most_two_triangles_of_noise_meet_in_a_line() {
    let mut state = 1_u32;
    let noise = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32
    };
    let voxels: Vec<f32> = (0..24 * 24 * 24).map(noise).collect();
    // Between voxels, and on many of them.
    check_pairs(&voxels, 8e6);
    let few: Vec<f32> = voxels.iter().map(|it| (it / 4e6).floor()).collect();
    check_pairs(&few, 2.0);
}

fn check_pairs(voxels: &[f32], isovalue: f64) {
    let volume = Volume::new([24; 3], voxels.to_vec()).expect("a sound volume");
    let mesh = extracted(&volume, isovalue);
    let mut edges: HashMap<(u32, u32), i32> = HashMap::new();
    for corners in &mesh.triangles {
        for side in 0..3 {
            let (from, to) = (corners[side], corners[(side + 1) % 3]);
            *edges.entry((from.min(to), from.max(to))).or_default() += 1;
        }
    }
    assert!(edges.values().all(|&count| count <= 2));
    check_closed(&mesh, [24; 3]);
}

#[test]
fn the_saddle_decides_which_corners_are_joined() {
    // Inside corners 1 and 2 of a face; the saddle is 0.25 above or below the isovalue.
    for (inside, expected) in [(3.0, 1), (1.5, 2)] {
        let mut voxels = vec![-2.0_f32; 8];
        (voxels[1], voxels[2]) = (inside, inside);
        for voxel in &mut voxels[4..] {
            *voxel = -9.0;
        }
        let volume = Volume::new([2, 2, 2], voxels).expect("a sound volume");
        let mesh = extracted(&volume, 0.0);
        // One tube with two more triangles, or two corners.
        assert_eq!(mesh.triangles.len(), if expected == 1 { 4 } else { 2 });
    }
}

#[test]
fn workers_do_not_change_the_mesh() {
    let volume = volume_of([30, 31, 32], |at| {
        (0.5 * at.x).sin() + (0.4 * at.y).cos() + (0.3 * at.z).sin()
    });
    let with = |count: usize| {
        let runtime = raddle::Runtime::builder()
            .workers(count)
            .build()
            .expect("a runtime");
        runtime.install(|| extracted(&volume, 0.3))
    };
    let (one, five) = (with(1), with(5));
    assert_eq!(
        (&one.positions, &one.triangles),
        (&five.positions, &five.triangles)
    );
}

#[test]
fn the_surface_of_a_mirrored_volume_faces_outwards() {
    let volume = volume_of([21; 3], |at| 6.0 - (at - DVec3::splat(10.0)).length());
    let mirrored = glam::DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0));
    let volume = volume.with_geometry(DVec3::ONE, DVec3::ZERO, mirrored);
    let mesh = extracted(&volume.expect("a sound geometry"), 0.0);
    assert!(mesh.triangles.len() > 500);
    for (index, corners) in mesh.triangles.iter().enumerate() {
        let [a, b, c] = mesh.triangle(index);
        let normal = mesh.normals[corners[0] as usize];
        let across = (b - a).cross(c - a);
        assert!(across.dot(normal) >= 0.0, "triangle {index}");
    }
}
