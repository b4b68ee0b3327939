//! Tests of the renderer of meshes.

use glam::Vec3;

use super::*;
use crate::kdtree::Parameters;

/// Returns a square of two triangles perpendicular to the line of sight.
fn square(normals: Vec<Vec3>) -> Mesh {
    Mesh {
        positions: vec![
            Vec3::new(-1.0, -1.0, 0.0),
            Vec3::new(1.0, -1.0, 0.0),
            Vec3::new(1.0, 1.0, 0.0),
            Vec3::new(-1.0, 1.0, 0.0),
        ],
        normals,
        triangles: vec![[0, 1, 2], [0, 2, 3]],
    }
}

fn from_front(size: (u32, u32), samples: u32) -> RenderOptions {
    RenderOptions {
        view: View {
            eye: Some(Vec3::new(0.0, 0.0, 5.0)),
            look_at: Some(Vec3::ZERO),
            fov_degrees: Some(40.0),
            ..View::default()
        },
        frame: FrameOptions {
            size,
            samples,
            ..FrameOptions::default()
        },
    }
}

fn rendered(mesh: &Mesh, options: &RenderOptions) -> Rendering {
    let tree = KdTree::build_sequential(mesh, &Parameters::default()).unwrap();
    render(mesh, &tree, options, |_| ()).unwrap()
}

#[test]
fn every_ray_is_counted() {
    let Rendering { report, picture } = rendered(&square(Vec::new()), &from_front((40, 30), 3));
    assert_eq!((picture.width(), picture.height()), (40, 30));
    assert_eq!(report.rays_primary, 40 * 30 * 3);
    assert!(0 < report.rays_hit && report.rays_hit < report.rays_primary);
    // The square faces the light, so there is a shadow ray for each hit.
    assert_eq!(report.rays_shadow, report.rays_hit);
    assert_eq!(report.tile_count, 3 * 2);
    assert!(report.rays_per_second() > 0.0);
}

#[test]
fn every_tile_is_reported_once() {
    let tiles = std::sync::Mutex::new(Vec::new());
    let mesh = square(Vec::new());
    let tree = KdTree::build_sequential(&mesh, &Parameters::default()).unwrap();
    render(&mesh, &tree, &from_front((100, 70), 1), |done| {
        assert_eq!(done.tile_count, 7 * 5);
        tiles.lock().unwrap().push(done.tile);
    })
    .unwrap();
    let mut tiles = tiles.into_inner().unwrap();
    tiles.sort_unstable();
    assert_eq!(tiles, (0..35).collect::<Vec<_>>());
}

#[test]
fn a_back_face_is_as_bright_as_a_front_face() {
    let front = square(Vec::new());
    let mut back = front.clone();
    for triangle in &mut back.triangles {
        triangle.swap(1, 2);
    }
    let options = from_front((33, 33), 1);
    assert_eq!(
        rendered(&front, &options).picture,
        rendered(&back, &options).picture
    );
}

#[test]
fn normals_that_point_away_or_are_zero_do_not_change_the_light() {
    let options = from_front((33, 33), 1);
    let plain = rendered(&square(Vec::new()), &options).picture;
    let middle = plain.row(16)[16];
    for normals in [
        vec![Vec3::Z; 4],
        vec![Vec3::NEG_Z; 4],
        vec![Vec3::ZERO; 4],
        vec![Vec3::Z, Vec3::NEG_Z, Vec3::ZERO, Vec3::Z],
    ] {
        let picture = rendered(&square(normals), &options).picture;
        let other = picture.row(16)[16];
        for channel in 0..3 {
            assert!(
                (other[channel] - middle[channel]).abs() < 1e-4,
                "{other:?} for {middle:?}"
            );
        }
    }
    for normals in [vec![Vec3::X; 4], vec![Vec3::new(0.0, 0.8, 0.6); 4]] {
        let picture = rendered(&square(normals), &options).picture;
        let light = picture.pixels().as_flattened();
        assert!(light.iter().all(|value| value.is_finite() && *value >= 0.0));
    }
}

#[test]
fn a_square_casts_a_shadow_on_the_one_behind_it() {
    // A small square between the middle of a large one and the light, which is over the right
    // shoulder.
    let mut mesh = square(Vec::new());
    let middle_lit = rendered(&mesh, &from_front((33, 33), 1)).picture.row(16)[16];
    let towards = Vec3::new(0.7, 0.95, 0.85);
    let first = mesh.positions.len() as u32;
    for corner in [[-0.2, -0.2], [0.2, -0.2], [0.2, 0.2], [-0.2, 0.2]] {
        mesh.positions
            .push(towards + Vec3::new(corner[0], corner[1], 0.0));
    }
    mesh.triangles
        .extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
    let middle_dark = rendered(&mesh, &from_front((33, 33), 1)).picture.row(16)[16];
    assert!(
        middle_dark[0] < 0.6 * middle_lit[0],
        "{middle_dark:?} {middle_lit:?}"
    );
    assert!(middle_dark[0] > 0.0);
}

#[test]
fn a_flat_surface_casts_no_shadow_on_itself() {
    for scale in [1e-6, 1.0, 1e6] {
        let mut mesh = square(Vec::new());
        for position in &mut mesh.positions {
            *position = (*position + Vec3::new(300.0, 200.0, 100.0)) * scale;
        }
        let tree = KdTree::build_sequential(&mesh, &Parameters::default()).unwrap();
        let frame = FrameOptions {
            size: (64, 64),
            ..FrameOptions::default()
        };
        let options = RenderOptions {
            frame,
            ..RenderOptions::default()
        };
        let Rendering { picture, report } = render(&mesh, &tree, &options, |_| ()).unwrap();
        assert_eq!(report.rays_shadow, report.rays_hit);
        // The surface is evenly lit, except for the highlight.
        let (mut count, mut low, mut high) = (0, f32::MAX, f32::MIN);
        for (index, pixel) in picture.pixels().iter().enumerate() {
            let middle = [(index % 64) as f32 + 0.5, (index / 64) as f32 + 0.5];
            if tree.is_hit(&report.camera.ray(middle, frame.size)) {
                count += 1;
                low = low.min(pixel[0]);
                high = high.max(pixel[0]);
            }
        }
        assert!(
            count > 300 && high - low < 0.12,
            "{count} lit from {low} to {high}, scale {scale}"
        );
    }
}

#[test]
fn a_sphere_is_smooth_and_a_box_has_edges() {
    let mesh = Mesh {
        positions: vec![
            Vec3::ZERO,
            Vec3::X,
            Vec3::Y,
            Vec3::Z,
            Vec3::new(1.0, 1.0, 0.05),
        ],
        normals: Vec::new(),
        // Two triangles nearly in one plane, and one at right angles.
        triangles: vec![[0, 1, 2], [1, 4, 2], [0, 3, 1]],
    };
    let normals = CornerNormals::of(&mesh, mesh.bounds());
    let [first, second, third] = [0, 1, 2].map(|index| normals.triangle(&mesh, index));
    assert_eq!(first[1], second[0]);
    assert!(first[1] != first[0] && first[1].dot(Vec3::Z) > 0.99);
    assert_eq!(first[0], Vec3::Z);
    assert_eq!(third, [Vec3::Y; 3]);
}

#[test]
fn options_out_of_range_are_rejected() {
    let mesh = square(Vec::new());
    let tree = KdTree::build_sequential(&mesh, &Parameters::default()).unwrap();
    let message = |options: &RenderOptions| {
        render(&mesh, &tree, options, |_| ())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        message(&from_front((0, 10), 1)),
        "a picture of 0 × 10 pixels; expected 1 to 65536 each way"
    );
    assert_eq!(
        message(&from_front((10, 10), 0)),
        "0 samples per pixel; expected 1 to 65536"
    );
    let other = Mesh {
        triangles: vec![[0, 1, 2]],
        ..mesh.clone()
    };
    let error = render(&other, &tree, &from_front((8, 8), 1), |_| ()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a tree over triangle 1 of a mesh with 1; expected the tree of the mesh"
    );
}
