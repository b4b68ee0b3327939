//! Tests of direct rendering against closed forms.

use glam::{DMat3, DVec3, Vec3};

use super::*;
use crate::volume::{ControlPoint, Histogram};

fn transfer(points: &[(f64, [f32; 3], f32)]) -> TransferFunction {
    let points = points.iter().map(|&(value, colour, opacity)| ControlPoint {
        value,
        colour,
        opacity,
    });
    TransferFunction::new(points.collect()).expect("sound points")
}

fn options(transfer: TransferFunction, edge: u32) -> DirectOptions {
    DirectOptions {
        frame: FrameOptions {
            size: (edge, edge),
            background: Some(Vec3::ZERO),
            ..FrameOptions::default()
        },
        ..DirectOptions::new(transfer)
    }
}

fn rendered(volume: &Volume, options: &DirectOptions) -> DirectRendering {
    render(volume, &Macrocells::of(volume), options, |_| ()).expect("options in range")
}

/// Looks along the z axis with parallel rays.
fn along_z(options: &mut DirectOptions, size: [usize; 3]) {
    let middle = Vec3::from_array(size.map(|len| 0.5 * (len - 1) as f32));
    options.view.eye = Some(middle + 100.0 * Vec3::Z);
    options.view.look_at = Some(middle);
    options.view.up = Some(Vec3::Y);
    options.view.fov_degrees = Some(2.0);
    options.view.is_orthographic = true;
}

#[test]
fn a_fog_of_one_value_follows_the_law_of_absorption() {
    let size = [9, 9, 21];
    let volume = Volume::new(size, vec![7_u8; 9 * 9 * 21]).expect("a sound volume");
    for opacity in [0.01, 0.05, 0.15] {
        for step in [0.1, 0.5, 1.0] {
            let mut options = options(transfer(&[(7.0, [1.0; 3], opacity)]), 5);
            options.is_shaded = false;
            options.step = step;
            along_z(&mut options, size);
            let rendering = rendered(&volume, &options);
            let found = rendering.picture.row(2)[2][0];
            // Samples at both ends: one more than there are steps.
            let layers = 20.0 + step as f32;
            let expected = 1.0 - (1.0 - opacity).powf(layers);
            assert!(
                (found - expected).abs() < 0.01,
                "{found} {expected} {opacity} {step}"
            );
        }
    }
}

#[test]
fn the_maximum_is_that_of_the_values_along_the_ray() {
    let size = [8, 8, 30];
    let mut voxels = vec![10_u8; 8 * 8 * 30];
    for z in [5, 6, 7] {
        voxels[z * 64..(z + 1) * 64].fill(100);
    }
    let volume = Volume::new(size, voxels).expect("a sound volume");
    let mut options = options(transfer(&[(0.0, [0.0; 3], 1.0), (100.0, [1.0; 3], 1.0)]), 6);
    options.blend = Blend::Maximum;
    along_z(&mut options, size);
    let picture = rendered(&volume, &options).picture;
    assert!(picture.row(3)[3][0] > 0.99, "{:?}", picture.row(3));
}

#[test]
fn macrocells_tiles_and_workers_do_not_change_the_picture() {
    let size = [41, 30, 35];
    let voxel = |index: usize| {
        let at = [index % 41, index / 41 % 30, index / (41 * 30)].map(|at| at as f32);
        (128.0 + 60.0 * (0.3 * at[0]).sin() + 60.0 * (0.25 * at[1] + 0.2 * at[2]).cos()) as u8
    };
    let voxels: Vec<u8> = (0..41 * 30 * 35).map(voxel).collect();
    let volume = Volume::new(size, voxels).expect("a sound volume");
    let macrocells = Macrocells::of(&volume);
    let histogram = Histogram::of(&volume, macrocells.range(), 64);
    let options = options(TransferFunction::of_histogram(&histogram), 60);
    let with = |tile_edge: u32, worker_count: usize| {
        let mut options = options.clone();
        options.frame.tile_edge = tile_edge;
        let runtime = raddle::Runtime::builder()
            .workers(worker_count)
            .build()
            .expect("a runtime starts");
        runtime.install(|| rendered(&volume, &options))
    };
    let first = with(16, 1);
    assert!(first.counts.samples_visible > 1000);
    for (tile_edge, worker_count) in [(16, 2), (7, 5)] {
        let other = with(tile_edge, worker_count);
        assert_eq!(other.picture, first.picture);
        assert_eq!(other.counts, first.counts);
    }
    // A point of the smallest opacity makes every macrocell visible, and nothing else.
    let mut points = options.transfer.points().to_vec();
    points
        .iter_mut()
        .for_each(|point| point.opacity = point.opacity.max(1e-7));
    let mut all = options.clone();
    all.transfer = TransferFunction::new(points).expect("sound points");
    let every = rendered(&volume, &all);
    assert!(every.leaf_count > first.leaf_count);
    for (a, b) in every.picture.pixels().iter().zip(first.picture.pixels()) {
        assert!((a[0] - b[0]).abs() < 1e-3, "{a:?} {b:?}");
    }
}

#[test]
fn options_out_of_range_are_rejected() {
    let volume = Volume::new([2; 3], vec![0_u8; 8]).expect("a sound volume");
    let mut options = options(transfer(&[(0.0, [1.0; 3], 1.0)]), 4);
    for step in [0.0, -1.0, f64::NAN, 1e9] {
        options.step = step;
        let error = render(&volume, &Macrocells::of(&volume), &options, |_| ());
        let message = error.expect_err("an error").to_string();
        assert_eq!(
            message,
            format!("a step of {step}; expected 0.001 to 1000 voxels")
        );
    }
}

#[test]
fn long_and_thin_voxels_need_a_larger_step() {
    let volume = Volume::new([3, 3, 3], vec![9_u8; 27]).expect("a sound volume");
    let volume = volume
        .with_geometry(DVec3::new(1e-9, 1.0, 1.0), DVec3::ZERO, DMat3::IDENTITY)
        .expect("a sound spacing");
    let options = options(transfer(&[(0.0, [1.0; 3], 1.0)]), 4);
    let error = render(&volume, &Macrocells::of(&volume), &options, |_| ()).expect_err("an error");
    assert!(
        error
            .to_string()
            .ends_with("expected at most 16777216, or a larger step")
    );
}

#[test]
fn a_picture_may_be_rendered_inside_the_callback_of_another() {
    let volume = Volume::new([9, 9, 9], (0..729).map(|it| it as u8).collect::<Vec<_>>());
    let volume = volume.expect("a sound volume");
    let options = options(
        transfer(&[(0.0, [1.0; 3], 0.1), (255.0, [1.0; 3], 0.9)]),
        20,
    );
    let macrocells = Macrocells::of(&volume);
    let expected = rendered(&volume, &options);
    let outer = render(&volume, &macrocells, &options, |done| {
        if done.tile == 0 {
            assert_eq!(rendered(&volume, &options).picture, expected.picture);
        }
    });
    assert_eq!(outer.expect("a picture").picture, expected.picture);
}

#[test]
fn the_unit_of_the_values_does_not_change_the_picture() {
    let size = [12, 12, 12];
    let picture = |unit: f64| {
        let voxel = |index: usize| {
            let at = DVec3::new(
                (index % 12) as f64,
                (index / 12 % 12) as f64,
                (index / 144) as f64,
            );
            ((6.0 - (at - 5.5).length()) * unit) as f32
        };
        let voxels: Vec<f32> = (0..1728).map(voxel).collect();
        let volume = Volume::new(size, voxels).expect("a sound volume");
        let points = [(0.0, [1.0; 3], 0.0), (3.0 * unit, [1.0; 3], 0.9)];
        rendered(&volume, &options(transfer(&points), 24)).picture
    };
    let expected = picture(1.0);
    for unit in [1e-20, 1e-6, 1e20, 1e30] {
        let found = picture(unit);
        let pixels = expected.pixels().iter().zip(found.pixels());
        let pairs = pixels.flat_map(|(a, b)| a.iter().zip(b));
        let error = pairs.fold(0.0_f32, |error, (a, b)| error.max((a - b).abs()));
        assert!(error < 0.01, "{unit}: {error}");
    }
}

#[test]
fn a_maximum_counts_as_one_visible_sample() {
    let size = [9, 9, 21];
    let volume = Volume::new(size, vec![7_u8; 9 * 9 * 21]).expect("a sound volume");
    for (opacity, visible) in [(0.5, 25), (0.0, 0)] {
        let mut options = options(transfer(&[(7.0, [1.0; 3], opacity)]), 5);
        options.blend = Blend::Maximum;
        along_z(&mut options, size);
        let counts = rendered(&volume, &options).counts;
        assert_eq!((counts.hits, counts.samples_visible), (visible, visible));
        // All macrocells behind the first one have the same value.
        assert!(counts.samples <= 9 * visible, "{counts:?}");
    }
}

#[test]
fn the_maximum_of_noise_is_found_without_taking_all_samples() {
    let size = [9, 9, 60];
    let mut state = 1_u32;
    // Values grow towards the camera.
    let noise = |index: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as i16 / 64 + 50 * (index / 81) as i16 - 1000
    };
    let volume = Volume::new(size, (0..9 * 9 * 60).map(noise).collect::<Vec<i16>>());
    let volume = volume.expect("a sound volume");
    let (low, high) = (-4096.0, 4096.0);
    let mut options = options(transfer(&[(low, [0.0; 3], 1.0), (high, [1.0; 3], 1.0)]), 8);
    options.blend = Blend::Maximum;
    options.step = 1.0;
    along_z(&mut options, size);
    let rendering = rendered(&volume, &options);
    let camera = volume.camera(&options.view).expect("a sound view");
    for y in 0..8_usize {
        for x in 0..8_usize {
            let at = camera.ray([x as f32 + 0.5, y as f32 + 0.5], (8, 8)).origin;
            let (u, v) = (f64::from(at.x), f64::from(at.y));
            // Samples are in the slices of voxels.
            let of_slice = |z: usize| {
                let value = |x: usize, y: usize| volume.value([x, y, z]);
                let (x, y) = (u as usize, v as usize);
                let row = |y: usize| value(x, y) + (value(x + 1, y) - value(x, y)) * u.fract();
                row(y) + (row(y + 1) - row(y)) * v.fract()
            };
            let expected = (0..60).map(of_slice).fold(low, f64::max);
            let linear = options.transfer.at(expected).x;
            let found = rendering.picture.row(y as u32)[x][0];
            assert!(
                (found - linear).abs() < 1e-3,
                "({x}, {y}): {found} {linear}"
            );
        }
    }
    let counts = rendering.counts;
    assert!(counts.samples < 64 * 60 / 2, "{counts:?}");
}

#[test]
fn macrocells_with_the_smallest_value_only_are_passed_over() {
    let size = [64; 3];
    let mut voxels = vec![0_u8; 64 * 64 * 64];
    voxels[(32 * 64 + 32) * 64 + 32] = 200;
    let volume = Volume::new(size, voxels).expect("a sound volume");
    for name in ["grey", "x-ray", "fire"] {
        let preset = crate::volume::PRESETS.iter().find(|it| it.name == name);
        let transfer = TransferFunction::relative(preset, [0.0, 200.0], 20.0);
        for blend in [Blend::Composite, Blend::Maximum] {
            let mut options = options(transfer.clone(), 8);
            options.blend = blend;
            assert_eq!(
                rendered(&volume, &options).leaf_count,
                8,
                "{name} {blend:?}"
            );
        }
    }
}
