//! Tests of the rays of a camera, and of the choice of a camera.

use super::*;
use crate::kdtree::Parameters;

fn mesh_of_boxes(boxes: &[([f32; 3], [f32; 3])], inward: bool) -> Mesh {
    let mut mesh = Mesh::default();
    for (low, high) in boxes {
        let first = mesh.positions.len() as u32;
        for corner in 0..8 {
            let pick = |axis: usize| {
                if corner >> axis & 1 == 0 {
                    low[axis]
                } else {
                    high[axis]
                }
            };
            mesh.positions.push(Vec3::new(pick(0), pick(1), pick(2)));
        }
        // Wound anticlockwise as seen from outside.
        let faces = [
            [0, 4, 6, 2],
            [1, 3, 7, 5],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 2, 3, 1],
            [4, 5, 7, 6],
        ];
        for [a, b, c, d] in faces {
            for [a, b, c] in [[a, b, c], [a, c, d]] {
                let triangle = if inward { [a, c, b] } else { [a, b, c] };
                mesh.triangles.push(triangle.map(|corner| first + corner));
            }
        }
    }
    mesh
}

fn tree_of(mesh: &Mesh) -> KdTree {
    KdTree::build_sequential(mesh, &Parameters::default()).unwrap()
}

#[test]
fn the_point_to_look_at_is_in_the_middle_of_the_picture() {
    let eye = Vec3::new(3.0, 4.0, 5.0);
    let camera = Camera::look(eye, Vec3::ZERO, Vec3::Y, 50.0).unwrap();
    let ray = camera.ray([50.0, 25.0], (100, 50));
    assert!(ray.direction.cross(-eye).length() < 1e-5);
    assert!((camera.fov_degrees() - 50.0).abs() < 1e-4);
}

#[test]
fn the_edges_of_the_picture_are_half_the_field_of_view_away() {
    let camera = Camera::look(Vec3::ZERO, Vec3::NEG_Z, Vec3::Y, 90.0).unwrap();
    assert!(
        (camera.ray([50.0, 0.0], (100, 50)).direction - Vec3::new(0.0, 1.0, -1.0)).length() < 1e-6
    );
    assert!(
        (camera.ray([100.0, 25.0], (100, 50)).direction - Vec3::new(2.0, 0.0, -1.0)).length()
            < 1e-6
    );
}

#[test]
fn impossible_cameras_are_rejected() {
    let look = |eye, up, fov| Camera::look(eye, Vec3::ZERO, up, fov).unwrap_err();
    assert_eq!(
        look(Vec3::ZERO, Vec3::Y, 40.0),
        CameraError::NoDirection(DVec3::ZERO)
    );
    assert_eq!(
        look(Vec3::Y, Vec3::Y, 40.0),
        CameraError::NoUpright(Vec3::Y)
    );
    assert_eq!(
        look(Vec3::Z, Vec3::ZERO, 40.0),
        CameraError::NoUpright(Vec3::ZERO)
    );
    for fov in [0.0, -1.0, 180.0, f32::INFINITY] {
        assert_eq!(look(Vec3::Z, Vec3::Y, fov), CameraError::FieldOfView(fov));
    }
    assert!(matches!(
        look(Vec3::Z, Vec3::Y, f32::NAN),
        CameraError::FieldOfView(_)
    ));
    assert!(matches!(
        look(Vec3::splat(f32::NAN), Vec3::Y, 40.0),
        CameraError::NotFinite { name: "eye", .. }
    ));
}

/// Projects a point to the picture, with coordinates from -1 to 1.
fn projected(camera: &Camera, point: Vec3, aspect: f32) -> [f32; 2] {
    let [forward, right, up] = camera.axes();
    let offset = point - camera.eye();
    let tangent = (camera.fov_degrees().to_radians() * 0.5).tan();
    let depth = offset.dot(forward) * tangent;
    assert!(depth > 0.0, "{point} is behind the camera");
    [offset.dot(right) / (depth * aspect), offset.dot(up) / depth]
}

#[test]
fn an_object_fills_the_frame() {
    let shapes = [
        ([0.0, 0.0, 0.0], [1.0, 1.0, 1.0]),
        ([-5.0, 2.0, 1.0], [9.0, 3.0, 1.5]),
        ([100.0, 100.0, 100.0], [100.5, 130.0, 100.5]),
        ([0.0, 0.0, 0.0], [4.0, 0.0, 4.0]),
    ];
    for shape in shapes {
        for size in [(800, 600), (300, 900), (1600, 200)] {
            let mesh = mesh_of_boxes(&[shape], false);
            let (camera, setting) = View::default()
                .camera(&mesh, &tree_of(&mesh), size)
                .unwrap();
            assert_eq!(setting, Setting::Object);
            let aspect = size.0 as f32 / size.1 as f32;
            let points = mesh
                .positions
                .iter()
                .map(|&point| projected(&camera, point, aspect));
            let widest = points.flatten().map(f32::abs).fold(0.0, f32::max);
            assert!(
                (0.85..0.9).contains(&widest),
                "{shape:?} in {size:?} fills {widest}"
            );
        }
    }
}

#[test]
fn a_wide_floor_does_not_shrink_the_object_on_it() {
    let mut boxes = vec![([-50.0, -0.1, -50.0], [50.0, 0.0, 50.0])];
    boxes.extend((0..100).map(|level| {
        let y = level as f32 * 0.01;
        ([0.0, y, 0.0], [1.0, y + 0.01, 1.0])
    }));
    let mesh = mesh_of_boxes(&boxes, false);
    let (camera, _) = View::default()
        .camera(&mesh, &tree_of(&mesh), (500, 500))
        .unwrap();
    assert!(camera.eye().distance(Vec3::splat(0.5)) < 10.0);
}

#[test]
fn a_box_is_a_room_only_if_its_faces_point_inward() {
    let walls = [([0.0, 0.0, 0.0], [10.0, 3.0, 6.0])];
    let room = mesh_of_boxes(&walls, true);
    let (camera, setting) = View::default()
        .camera(&room, &tree_of(&room), (500, 500))
        .unwrap();
    assert_eq!(setting, Setting::Room);
    let (eye, high) = (camera.eye(), Vec3::new(10.0, 3.0, 6.0));
    assert!(
        eye.cmpgt(Vec3::ZERO).all() && eye.cmplt(high).all(),
        "{eye}"
    );

    let object = mesh_of_boxes(&walls, false);
    let (_, setting) = View::default()
        .camera(&object, &tree_of(&object), (500, 500))
        .unwrap();
    assert_eq!(setting, Setting::Object);
}

#[test]
fn the_wishes_of_a_view_are_honoured() {
    let mesh = mesh_of_boxes(&[([0.0; 3], [1.0; 3])], false);
    let tree = tree_of(&mesh);
    let view = View {
        eye: Some(Vec3::new(9.0, 0.5, 0.5)),
        look_at: Some(Vec3::new(0.0, 0.5, 0.5)),
        up: Some(Vec3::Z),
        fov_degrees: Some(12.0),
        up_default: Some(Vec3::X),
        setting: None,
        is_orthographic: false,
    };
    let (camera, _) = view.camera(&mesh, &tree, (10, 10)).unwrap();
    assert_eq!(camera.eye(), view.eye.unwrap());
    assert_eq!(camera.axes(), [Vec3::NEG_X, Vec3::Y, Vec3::Z]);

    let aside = View {
        look_at: Some(Vec3::splat(7.0)),
        ..View::default()
    };
    let (camera, _) = aside.camera(&mesh, &tree, (10, 10)).unwrap();
    let to_target = Vec3::splat(7.0) - camera.eye();
    assert!(camera.axes()[0].cross(to_target).length() < 1e-4 * to_target.length());

    let above = View {
        eye: Some(Vec3::new(0.5, 20.0, 0.5)),
        ..View::default()
    };
    assert!(above.camera(&mesh, &tree, (10, 10)).is_ok());
    let z_up = View {
        up_default: Some(Vec3::Z),
        ..above
    };
    let (camera, _) = z_up.camera(&mesh, &tree, (10, 10)).unwrap();
    assert!(camera.axes()[2].dot(Vec3::Z) > 0.9);
    let along_z = View {
        eye: Some(Vec3::new(0.5, 0.5, 20.0)),
        ..z_up
    };
    assert!(along_z.camera(&mesh, &tree, (10, 10)).is_ok());
    let no_way_up = View {
        up: Some(Vec3::ZERO),
        ..View::default()
    };
    assert_eq!(
        no_way_up.camera(&mesh, &tree, (10, 10)).unwrap_err(),
        CameraError::NoUpright(Vec3::ZERO)
    );
}

#[test]
fn a_mesh_without_triangles_has_a_camera() {
    let mesh = Mesh::default();
    let (camera, setting) = View::default()
        .camera(&mesh, &tree_of(&mesh), (10, 10))
        .unwrap();
    assert_eq!(setting, Setting::Object);
    assert!(camera.eye().is_finite());
}

#[test]
fn an_orthographic_camera_shows_the_plane_of_its_point_as_the_perspective_one_does() {
    let view = View {
        eye: Some(Vec3::new(1.0, 2.0, 9.0)),
        look_at: Some(Vec3::new(1.0, 2.0, 0.0)),
        up: Some(Vec3::Y),
        ..View::default()
    };
    let bounds = Bounds {
        min: Vec3::ZERO,
        max: Vec3::ONE,
    };
    let perspective = view.camera_for_box(bounds, 1.0).unwrap();
    let parallel = View {
        is_orthographic: true,
        ..view
    };
    let orthographic = parallel.camera_for_box(bounds, 1.0).unwrap();
    assert_eq!(orthographic.fov_degrees(), 0.0);
    for position in [[0.0, 0.0], [13.0, 37.0], [60.0, 40.0]] {
        let [a, b] = [perspective, orthographic].map(|camera| camera.ray(position, (60, 40)));
        assert!((a.at(9.0) - b.at(9.0)).length() < 1e-5, "{a:?} {b:?}");
        assert_eq!(b.direction, Vec3::NEG_Z);
    }
    let same = Camera::orthographic(
        Vec3::new(1.0, 2.0, 9.0),
        Vec3::new(1.0, 2.0, 0.0),
        Vec3::Y,
        18.0 * (22.5_f32).to_radians().tan(),
    );
    let ray = same.unwrap().ray([13.0, 37.0], (60, 40));
    assert!((ray.origin - orthographic.ray([13.0, 37.0], (60, 40)).origin).length() < 1e-5);
}

#[test]
fn a_matrix_maps_pixels_to_rays() {
    let matrix = DMat4::from_cols(
        DVec3::new(0.5, 0.0, 0.0).extend(0.0),
        DVec3::new(0.0, -0.25, 0.0).extend(0.0),
        DVec3::new(0.0, 0.0, 2.0).extend(0.0),
        DVec3::new(10.0, 20.0, 30.0).extend(1.0),
    );
    let camera = Camera::from_matrix(matrix).unwrap();
    let ray = camera.ray([4.0, 8.0], (1, 1));
    assert_eq!(ray.origin, Vec3::new(12.0, 18.0, 30.0));
    assert_eq!(ray.direction, Vec3::new(0.0, 0.0, 2.0));
    assert_eq!(camera.axes(), [Vec3::Z, Vec3::X, Vec3::Y]);
    assert_eq!(camera.parallel_at(Vec3::ZERO), camera);
    let flat = DMat4::from_scale(DVec3::new(1.0, 1.0, 0.0));
    let projective = DMat4::perspective_rh(1.0, 1.0, 0.1, 10.0);
    for bad in [flat, projective, DMat4::NAN] {
        assert_eq!(Camera::from_matrix(bad), Err(CameraError::Matrix));
    }
}

#[test]
fn a_box_is_seen_along_z_even_if_z_is_up() {
    let view = View {
        eye: Some(Vec3::new(0.5, 0.5, 9.0)),
        ..View::default()
    };
    let bounds = Bounds {
        min: Vec3::ZERO,
        max: Vec3::ONE,
    };
    let camera = view.camera_for_box(bounds, 1.0).unwrap();
    assert_eq!(camera.axes(), [Vec3::NEG_Z, Vec3::X, Vec3::Y]);
    let eye = View::default().camera_for_box(bounds, 1.0).unwrap().eye();
    let distance = (eye - bounds.center()).length();
    assert!((distance - 1.9).abs() < 1e-5, "{distance}");
    assert_eq!(
        Camera::orthographic(Vec3::ZERO, Vec3::X, Vec3::Y, 0.0),
        Err(CameraError::Height(0.0))
    );
}

#[test]
fn a_requested_setting_decides_whether_the_mesh_is_seen_from_inside() {
    let mesh = crate::scene::generate(crate::scene::Scene::Knot, 2_000);
    let tree = tree_of(&mesh);
    for setting in [Setting::Object, Setting::Room] {
        let view = View {
            setting: Some(setting),
            ..View::default()
        };
        let (camera, found) = view.camera(&mesh, &tree, (64, 64)).unwrap();
        assert_eq!(found, setting);
        let bounds = tree.bounds();
        let is_inside =
            camera.eye().cmpge(bounds.min).all() && camera.eye().cmple(bounds.max).all();
        assert_eq!(is_inside, setting == Setting::Room);
    }
}
