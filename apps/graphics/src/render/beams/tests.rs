//! Tests of the invariant: a visible box is in slabs of its beams from end to end.

use proptest::prelude::*;

use super::*;

const SIZE: (u32, u32) = (90, 61);

fn cameras() -> impl Strategy<Value = Camera> {
    let place = prop::array::uniform3(-1.0..1.0_f32);
    (place, 20.0..90.0_f32, any::<bool>()).prop_map(|(direction, fov, is_parallel)| {
        let direction = Vec3::from(direction).normalize_or(Vec3::X);
        let eye = Vec3::splat(50.0) + 250.0 * direction;
        let up = direction.any_orthonormal_vector();
        let camera = Camera::look(eye, Vec3::splat(50.0), up, fov).expect("a sound camera");
        if is_parallel {
            camera.parallel_at(Vec3::splat(50.0))
        } else {
            camera
        }
    })
}

/// Returns the part of a ray in a box.
fn part_in(origin: Vec3, direction: Vec3, low: Vec3, high: Vec3) -> Option<[f32; 2]> {
    let (a, b) = ((low - origin) / direction, (high - origin) / direction);
    let (t_in, t_out) = (a.min(b).max_element(), a.max(b).min_element());
    (t_in < t_out).then_some([t_in, t_out])
}

proptest! {
    #[test]
    fn slabs_cover_boxes_from_end_to_end(
        camera in cameras(),
        boxes in prop::collection::vec(prop::array::uniform3(2.0..98.0_f32), 1..12),
    ) {
        let half = Vec3::new(2.0, 1.0, 1.5);
        let bounds = Bounds { min: Vec3::ZERO, max: Vec3::splat(100.0) };
        let axes = [Vec3::X * half.x, Vec3::Y * half.y, Vec3::Z * half.z];
        let beams = Beams::of(&camera, SIZE, bounds, axes, |visit| {
            boxes.iter().for_each(|&centre| visit(centre.into()));
        });
        let beams = beams.expect("the box is in front of the camera");
        for y in 0..SIZE.1 {
            for x in 0..SIZE.0 {
                let position = [x as f32 + 0.5, y as f32 + 0.5];
                let ray = camera.ray(position, SIZE);
                for &centre in &boxes {
                    let (low, high) = (Vec3::from(centre) - half, Vec3::from(centre) + half);
                    let Some([t_in, t_out]) = part_in(ray.origin, ray.direction, low, high) else {
                        continue;
                    };
                    let mut slabs = beams.slabs(position);
                    let mut is_covered = false;
                    while let Some([first, end]) = beams.next_run(&mut slabs) {
                        is_covered |= first <= t_in && t_out <= end;
                    }
                    prop_assert!(is_covered, "{position:?} {t_in} {t_out}");
                }
            }
        }
    }
}

#[test]
fn most_beams_beside_a_small_box_are_empty() {
    let camera = Camera::look(Vec3::new(0.0, 0.0, 300.0), Vec3::ZERO, Vec3::Y, 40.0).unwrap();
    let bounds = Bounds {
        min: Vec3::splat(-50.0),
        max: Vec3::splat(50.0),
    };
    let axes = [Vec3::X, Vec3::Y, Vec3::Z];
    let beams = Beams::of(&camera, SIZE, bounds, axes, |visit| visit(Vec3::ZERO)).unwrap();
    let occupied = beams.slabs.iter().filter(|slabs| **slabs != 0).count();
    assert!((1..=9).contains(&occupied), "{occupied}");
    assert!(beams.slabs([0.5, 0.5]).is_empty());
}

#[test]
fn a_camera_inside_and_a_matrix_have_no_beams() {
    let bounds = Bounds {
        min: Vec3::ZERO,
        max: Vec3::splat(10.0),
    };
    let inside = Camera::look(Vec3::splat(5.0), Vec3::ZERO, Vec3::Y, 40.0).unwrap();
    let matrix = Camera::from_matrix(glam::DMat4::from_translation(glam::DVec3::NEG_Z * 99.0));
    for camera in [inside, matrix.unwrap()] {
        let beams = Beams::of(
            &camera,
            SIZE,
            bounds,
            [Vec3::X, Vec3::Y, Vec3::Z],
            |visit| {
                visit(Vec3::splat(3.0));
            },
        );
        assert!(beams.is_none());
    }
}

#[test]
fn runs_end_at_gaps() {
    let beams = Beams {
        width: 1,
        slabs: vec![0b1110_0110 | 1 << 63],
        near: 10.0,
        slab_depth: 0.5,
    };
    let mut slabs = beams.slabs([0.0, 0.0]);
    let mut runs = Vec::new();
    while let Some(run) = beams.next_run(&mut slabs) {
        runs.push(run);
    }
    assert_eq!(runs, [[10.5, 11.5], [12.5, 14.0], [41.5, 42.0]]);
}
