//! Tests of surfaces against closed forms and against a tracer that visits every cell.

use glam::{DVec3, Vec3};

use super::tracer::Tracer;
use super::*;
use crate::bounds::Bounds;
use crate::camera::Camera;
use crate::ray::Ray;
use crate::render::{FrameOptions, Integrator, Sample};
use crate::volume::cell::Cell;
use crate::volume::project::beams;
use crate::volume::ranges::occupancy_of;
use crate::volume::shading::Shading;
use crate::volume::traversal::GridRay;
use crate::volume::voxels::Voxel;

/// Returns a volume of floats with a value for each position.
fn volume_of(size: [usize; 3], value: impl Fn(DVec3) -> f64) -> Volume {
    let mut voxels = Vec::new();
    for z in 0..size[2] {
        for y in 0..size[1] {
            for x in 0..size[0] {
                voxels.push(value(DVec3::new(x as f64, y as f64, z as f64)) as f32);
            }
        }
    }
    Volume::new(size, voxels).expect("a sound volume")
}

/// Returns a volume of small integers without any order.
fn noise(size: [usize; 3]) -> Volume {
    let voxel = |index: usize| (index.wrapping_mul(2_654_435_761) >> 8) as u8 % 5;
    let voxels: Vec<u8> = (0..size.iter().product()).map(voxel).collect();
    Volume::new(size, voxels).expect("a sound volume")
}

fn options(isovalue: f64, edge: u32) -> IsosurfaceOptions {
    IsosurfaceOptions {
        frame: FrameOptions {
            size: (edge, edge),
            ..FrameOptions::default()
        },
        ..IsosurfaceOptions::new(isovalue)
    }
}

fn rendered(volume: &Volume, options: &IsosurfaceOptions) -> IsosurfaceRendering {
    render(volume, &Macrocells::of(volume), options, |_| ()).expect("options in range")
}

/// Calls `check` with the distance to the first surface along each ray of a picture, as the
/// renderer finds it with and without beams.
fn for_each_ray(
    volume: &Volume,
    options: &IsosurfaceOptions,
    mut check: impl FnMut(&Ray, Option<f64>),
) {
    let macrocells = Macrocells::of(volume);
    let camera = volume.camera(&options.view).expect("a sound view");
    let occupancy = occupancy_of(&macrocells, &options.isovalues());
    let size = options.frame.size;
    let beams = beams(volume.grid(), &occupancy, &camera, size);
    let isovalues: Vec<f64> = options.surfaces.iter().map(|it| it.isovalue).collect();
    with_voxels!(volume.voxels(), voxels => {
        let cells = ActiveCells::of(volume.size(), voxels, &occupancy, &isovalues);
        let shading = Shading::new(&camera, &volume.grid().voxel_map(), macrocells.range());
        let tracer = |beams| {
            {
                let source = ArrayCells::new(volume.size(), voxels, &cells);
                Tracer::new(volume.grid(), source, &occupancy, beams, options, shading)
            }
        };
        let (with_beams, without) = (tracer(beams.as_ref()), tracer(None));
        for y in 0..size.1 {
            for x in 0..size.0 {
                let position = [x as f32 + 0.5, y as f32 + 0.5];
                let ray = camera.ray(position, size);
                let tracers = [&with_beams, &without];
                let distances = tracers.map(|tracer| tracer.first_hit(&ray, position));
                assert_eq!(distances[0], distances[1], "pixel ({x}, {y})");
                check(&ray, distances[0]);
            }
        }
    });
}

#[test]
fn a_sphere_of_linear_distance_is_hit_within_a_ten_thousandth_of_a_voxel() {
    // The surface is so flat that interpolation between voxels has no visible error.
    const RADIUS: f64 = 50_000.0;
    let centre = DVec3::new(20.0, 15.0, -RADIUS + 18.0);
    let volume = volume_of([40, 33, 37], |at| RADIUS - (at - centre).length());
    let mut count = 0;
    for_each_ray(&volume, &options(0.0, 96), |ray, t| {
        let Some(t) = t else { return };
        let (origin, direction) = (ray.origin.as_dvec3(), ray.direction.as_dvec3().normalize());
        let offset = origin - centre;
        let along = offset.dot(direction);
        let square = offset.length_squared() - RADIUS * RADIUS;
        let root = (along * along - square).sqrt();
        let expected = -along - root;
        let found = t * ray.direction.as_dvec3().length();
        // A ray at a small angle meets the surface with a larger error along it.
        let point = origin + found * direction;
        let error = ((point - centre).length() - RADIUS).abs();
        assert!(error <= 1e-4, "{error} at {point}, expected {expected}");
        count += 1;
    });
    assert!(count > 500, "{count} hits");
}

#[test]
fn every_ray_hits_what_a_tracer_without_any_structure_hits() {
    for (volume, isovalue) in [
        (noise([9, 11, 10]), 2.0),
        (noise([9, 11, 10]), 2.5),
        (noise([6, 5, 22]), 3.0),
        (
            volume_of([14, 13, 12], |at| {
                (at * 0.9).x.sin() + (at * 0.7).y.cos() + (at * 1.1).z.sin()
            }),
            0.3,
        ),
    ] {
        let [width, height, depth] = volume.size();
        let mut hits = 0;
        for_each_ray(&volume, &options(isovalue, 48), |ray, t| {
            let grid_ray = volume.grid().voxel_map().ray(ray);
            let mut first = f64::INFINITY;
            for z in 0..depth - 1 {
                for y in 0..height - 1 {
                    for x in 0..width - 1 {
                        first = first.min(in_cell(&volume, &grid_ray, [x, y, z], isovalue));
                    }
                }
            }
            match t {
                Some(t) => assert!((t - first).abs() < 1e-7, "{t} {first}"),
                None => assert_eq!(first, f64::INFINITY),
            }
            hits += u32::from(t.is_some());
        });
        assert!(hits > 50, "{hits} hits");
    }
}

/// Returns the first distance at which a ray meets the surface in a cell, by small steps.
fn in_cell(volume: &Volume, ray: &GridRay, at: [usize; 3], isovalue: f64) -> f64 {
    let cell = Cell(std::array::from_fn(|corner| {
        volume.value([
            at[0] + (corner & 1),
            at[1] + (corner >> 1 & 1),
            at[2] + (corner >> 2),
        ])
    }));
    let (mut t_in, mut t_out) = (0.0, f64::INFINITY);
    for (axis, &cell) in at.iter().enumerate() {
        let ends =
            [0.0, 1.0].map(|side| (cell as f64 + side - ray.origin[axis]) / ray.direction[axis]);
        t_in = f64::max(t_in, ends[0].min(ends[1]));
        t_out = f64::min(t_out, ends[0].max(ends[1]));
    }
    if t_in >= t_out {
        return f64::INFINITY;
    }
    let value = |t: f64| {
        cell.value([0, 1, 2].map(|axis| (ray.at(axis, t) - at[axis] as f64).clamp(0.0, 1.0)))
    };
    let place = |step: i32| t_in + (t_out - t_in) * f64::from(step) / 64.0;
    let is_inside = value(t_in) >= isovalue;
    for step in 1..=64 {
        if (value(place(step)) >= isovalue) == is_inside {
            continue;
        }
        let (mut low, mut high) = (place(step - 1), place(step));
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if (value(middle) >= isovalue) == is_inside {
                low = middle;
            } else {
                high = middle;
            }
        }
        return high;
    }
    f64::INFINITY
}

#[test]
fn a_solid_of_integers_equal_to_the_isovalue_has_no_holes() {
    // A block of exactly the isovalue in zeros: every ray through its inside must hit it.
    let size = [24, 20, 22];
    let mut voxels = vec![0_u8; size.iter().product()];
    for z in 5..17 {
        for y in 5..15 {
            voxels[(z * size[1] + y) * size[0] + 5..][..14].fill(60);
        }
    }
    let volume = Volume::new(size, voxels).expect("a sound volume");
    for isovalue in [60.0, 59.5, 1.0] {
        for_each_ray(&volume, &options(isovalue, 128), |ray, t| {
            let grid_ray = volume.grid().voxel_map().ray(ray);
            let is_through = |low: [f64; 3], high: [f64; 3]| {
                let (mut t_in, mut t_out) = (0.0_f64, f64::INFINITY);
                for axis in 0..3 {
                    let ends = [low[axis], high[axis]]
                        .map(|plane| (plane - grid_ray.origin[axis]) / grid_ray.direction[axis]);
                    t_in = t_in.max(ends[0].min(ends[1]));
                    t_out = t_out.min(ends[0].max(ends[1]));
                }
                t_in < t_out
            };
            if is_through([5.01, 5.01, 5.01], [17.99, 13.99, 15.99]) {
                assert!(t.is_some(), "a hole at {ray:?}");
            }
            if !is_through([3.99, 3.99, 3.99], [19.01, 15.01, 17.01]) {
                assert!(t.is_none(), "a hit outside at {ray:?}");
            }
        });
    }
}

#[test]
fn tiles_and_workers_do_not_change_the_picture() {
    let volume = noise([40, 30, 35]);
    let with = |tile_edge: u32, worker_count: usize| {
        let mut options = options(2.0, 70);
        options.frame.tile_edge = tile_edge;
        options.has_shadows = true;
        let runtime = raddle::Runtime::builder()
            .workers(worker_count)
            .build()
            .expect("a runtime starts");
        runtime.install(|| rendered(&volume, &options))
    };
    let first = with(16, 1);
    for (tile_edge, worker_count) in [(16, 2), (16, 5), (5, 2), (70, 1)] {
        let other = with(tile_edge, worker_count);
        assert_eq!(other.picture, first.picture);
        assert_eq!(other.counts, first.counts);
    }
    assert!(first.counts.rays_shadow > 0 && first.counts.hits > 1000);
}

// Regression: a packet took rays for parallel to an axis if voxels were large in the world.
#[test]
fn the_unit_of_the_world_does_not_change_the_hits() {
    let volume = volume_of([33, 30, 37], |at| {
        (0.4 * at.x).sin() + (0.5 * at.y).cos() + (0.3 * at.z).sin()
    });
    let hits = |unit: f64| {
        let mut options = options(0.25, 64);
        // Nearly along an axis.
        let eye = DVec3::new(100.0, 16.0, 19.0);
        options.view.eye = Some((unit * eye).as_vec3());
        let scaled =
            volume
                .clone()
                .with_geometry(DVec3::splat(unit), DVec3::ZERO, glam::DMat3::IDENTITY);
        rendered(&scaled.expect("a sound volume"), &options)
            .counts
            .hits
    };
    let expected = hits(1.0);
    assert!(expected > 500);
    for unit in [1e-15, 1e-6, 1e6, 1e12, 1e17] {
        let hits = hits(unit);
        assert!(hits.abs_diff(expected) <= 2, "{unit}: {hits}, {expected}");
    }
}

/// Follows each ray alone.
struct Alone<'a, T>(Tracer<'a, ArrayCells<'a, T>>);

impl<T: Voxel> Integrator for Alone<'_, T> {
    type Counts = IsosurfaceCounts;

    fn colour(&self, sample: &Sample, counts: &mut IsosurfaceCounts) -> Vec3 {
        self.0.colour(sample, counts)
    }
}

/// Renders a picture with packets and without them, and returns the number of hits.
fn with_and_without_packets(volume: &Volume, options: &IsosurfaceOptions, camera: &Camera) -> u64 {
    let macrocells = Macrocells::of(volume);
    let occupancy = occupancy_of(&macrocells, &options.isovalues());
    let isovalues: Vec<f64> = options.surfaces.iter().map(|it| it.isovalue).collect();
    with_voxels!(volume.voxels(), voxels => {
        let cells = ActiveCells::of(volume.size(), voxels, &occupancy, &isovalues);
        let beams = beams(volume.grid(), &occupancy, camera, options.frame.size);
        let shading = Shading::new(camera, &volume.grid().voxel_map(), macrocells.range());
        let tracer = || {
            let beams = beams.as_ref();
            {
                let source = ArrayCells::new(volume.size(), voxels, &cells);
                Tracer::new(volume.grid(), source, &occupancy, beams, options, shading)
            }
        };
        let together = render::render(&tracer(), camera, &options.frame, |_| ()).unwrap();
        let alone = render::render(&Alone(tracer()), camera, &options.frame, |_| ()).unwrap();
        // Single rays have no test in single precision before the exact one.
        let cells = alone.counts.cells;
        assert!((together.counts.hits..=cells).contains(&together.counts.cells));
        let counts = IsosurfaceCounts { cells, ..together.counts };
        assert_eq!(counts, alone.counts, "{options:?} {camera:?}");
        assert!(together.picture == alone.picture, "{options:?} {camera:?}");
        together.counts.hits
    })
}

#[test]
fn packets_do_not_change_the_picture() {
    let volumes = [
        noise([9, 11, 10]),
        noise([6, 5, 22]),
        volume_of([33, 30, 37], |at| {
            (0.4 * at.x).sin() + (0.5 * at.y).cos() + (0.3 * at.z).sin()
        }),
    ];
    for (volume, isovalue) in volumes.iter().zip([2.0, 3.0, 0.25]) {
        let middle = volume.bounds().center();
        let mut several = options(isovalue, 45);
        several.surfaces = (0..3)
            .map(|place| Surface {
                opacity: 0.4,
                ..Surface::new(isovalue + 0.2 * place as f64, place)
            })
            .collect();
        let mut shadows = options(isovalue, 45);
        shadows.has_shadows = true;
        let mut samples = options(isovalue, 30);
        samples.frame.samples = 3;
        let mut clipped = options(isovalue, 45);
        clipped.frame.clip = Some(Bounds {
            min: Vec3::ZERO,
            max: middle,
        });
        for options in [options(isovalue, 61), several, shadows, samples, clipped] {
            let eyes = [
                Vec3::new(60.0, 45.0, 66.0),
                Vec3::new(-50.0, 3.0, 40.0),
                // Along the axes: rays of one packet go to either side.
                Vec3::new(70.0, 0.0, 0.0),
                Vec3::new(0.0, 0.0, -70.0),
            ];
            let mut hits = 0;
            for eye in eyes {
                let up = Vec3::new(0.1, 0.9, 0.2);
                let at = middle + eye;
                let looks = [
                    Camera::look(at, middle, up, 30.0),
                    Camera::orthographic(at, middle, up, 30.0),
                    // From inside of the volume.
                    Camera::look(middle, at, up, 70.0),
                ];
                for camera in looks {
                    hits += with_and_without_packets(volume, &options, &camera.unwrap());
                }
            }
            assert!(hits > 100, "{hits} hits");
        }
    }
}

#[test]
fn the_place_in_the_world_does_not_change_the_hits() {
    let plain = volume_of([20, 24, 17], |at| {
        (at - DVec3::new(9.0, 12.0, 8.0)).length()
    });
    let spacing = DVec3::new(0.5, 0.25, 2.0);
    let direction = glam::DMat3::from_rotation_z(0.5) * glam::DMat3::from_rotation_x(1.0);
    let moved = plain
        .clone()
        .with_geometry(spacing, DVec3::new(100.0, -40.0, 7.0), direction)
        .expect("a sound geometry");
    // The same eye, as seen from the volume.
    let eye = DVec3::new(60.0, 50.0, 40.0);
    let map = moved.world_of_voxel();
    let options = |volume: &Volume, map: glam::DMat3| {
        let mut options = options(6.0, 64);
        options.view.eye = Some((volume.origin() + map * eye).as_vec3());
        options.view.look_at = Some((volume.origin() + map * DVec3::new(9.0, 12.0, 8.0)).as_vec3());
        options.view.fov_degrees = Some(30.0);
        options
    };
    let hits = rendered(&moved, &options(&moved, map)).counts.hits;
    assert!(hits > 60, "{hits}");
    for_each_ray(&moved, &options(&moved, map), |ray, t| {
        let Some(t) = t else { return };
        let point = ray.origin.as_dvec3() + t * ray.direction.as_dvec3();
        let voxel = map.inverse() * (point - moved.origin());
        let distance = (voxel - DVec3::new(9.0, 12.0, 8.0)).length();
        assert!((distance - 6.0).abs() < 0.05, "{voxel}");
    });
}

#[test]
fn surfaces_are_seen_through_each_other_in_their_order() {
    let volume = volume_of([32; 3], |at| 20.0 - (at - DVec3::splat(15.5)).length());
    let surface = |isovalue: f64, colour: Vec3, opacity: f32| Surface {
        isovalue,
        colour,
        opacity,
    };
    let picture = |surfaces: Vec<Surface>| {
        let mut options = options(0.0, 33);
        options.surfaces = surfaces;
        rendered(&volume, &options).picture.row(16)[16]
    };
    let (red, blue) = (Vec3::X, Vec3::Z);
    let outer = picture(vec![surface(8.0, red, 1.0), surface(14.0, blue, 1.0)]);
    assert!(outer[0] > 4.0 * outer[2], "{outer:?}");
    // The order of the list does not matter.
    assert_eq!(
        outer,
        picture(vec![surface(14.0, blue, 1.0), surface(8.0, red, 1.0)])
    );
    let through = picture(vec![surface(8.0, red, 0.2), surface(14.0, blue, 1.0)]);
    assert!(through[2] > 0.3 && through[0] > 0.05, "{through:?}");
    // Front and back of a transparent surface both count.
    let glass = picture(vec![surface(8.0, red, 0.5)]);
    let once = picture(vec![surface(8.0, red, 1.0)]);
    assert!(glass[0] > 0.5 * once[0], "{glass:?} {once:?}");
}

#[test]
fn options_out_of_range_are_rejected() {
    let volume = noise([4; 3]);
    let error = |change: &dyn Fn(&mut IsosurfaceOptions)| {
        let mut options = options(1.0, 8);
        change(&mut options);
        render(&volume, &Macrocells::of(&volume), &options, |_| ())
            .expect_err("an error")
            .to_string()
    };
    assert_eq!(
        error(&|it| it.surfaces.clear()),
        "0 isovalues; expected 1 to 16"
    );
    assert_eq!(
        error(&|it| it.surfaces[0].isovalue = f64::NAN),
        "isovalue NaN; expected a finite number"
    );
    assert_eq!(
        error(&|it| it.surfaces[0].opacity = 0.0),
        "opacity 0; expected more than 0 and at most 1"
    );
    assert!(error(&|it| it.frame.size = (0, 1)).starts_with("a picture of 0 × 1"));
    assert!(error(&|it| it.view.fov_degrees = Some(180.0)).starts_with("the field of view"));
}

#[test]
fn a_value_outside_of_the_range_is_an_empty_picture() {
    let volume = noise([8; 3]);
    for isovalue in [-1.0, 0.0, 4.5, 1e300] {
        let rendering = rendered(&volume, &options(isovalue, 20));
        assert_eq!(rendering.counts, IsosurfaceCounts::default(), "{isovalue}");
        assert_eq!(rendering.leaf_count, 0);
    }
}

#[test]
fn macrocells_of_another_volume_are_an_error() {
    use crate::volume::direct::{self, DirectError, DirectOptions};
    let volume = noise([9, 9, 9]);
    let transfer = crate::volume::TransferFunction::relative(None, [0.0, 4.0], 2.0);
    for size in [[14, 9, 9], [9, 9, 5]] {
        let other = Macrocells::of(&noise(size));
        let outcome = render(&volume, &other, &options(2.0, 8), |_| ());
        assert_eq!(
            outcome.expect_err("another size"),
            IsosurfaceError::OtherVolume
        );
        let outcome = extract(&volume, &other, 2.0);
        assert_eq!(
            outcome.expect_err("another size"),
            IsosurfaceError::OtherVolume
        );
        let outcome = direct::render(
            &volume,
            &other,
            &DirectOptions::new(transfer.clone()),
            |_| (),
        );
        assert_eq!(outcome.expect_err("another size"), DirectError::OtherVolume);
    }
}

#[test]
fn smooth_gradients_have_no_folds_between_cells() {
    let volume = volume_of([9, 8, 7], |at| at.x * at.x + 3.0 * at.y - at.z);
    let options = options(20.0, 16);
    let macrocells = Macrocells::of(&volume);
    let camera = volume.camera(&options.view).expect("a sound view");
    let occupancy = occupancy_of(&macrocells, &options.isovalues());
    with_voxels!(volume.voxels(), voxels => {
        let cells = ActiveCells::of(volume.size(), voxels, &occupancy, &[20.0]);
        let shading = Shading::new(&camera, &volume.grid().voxel_map(), macrocells.range());
        let source = ArrayCells::new(volume.size(), voxels, &cells);
        let tracer = Tracer::new(volume.grid(), source, &occupancy, None, &options, shading);
        for (point, expected) in [
            ([4.0, 3.0, 2.0], [8.0, 3.0, -1.0]),
            ([3.999, 3.5, 2.25], [7.998, 3.0, -1.0]),
            ([4.001, 3.5, 2.25], [8.002, 3.0, -1.0]),
            // At the border, and beyond it by a rounding error.
            ([0.0, 0.0, 6.0], [1.0, 3.0, -1.0]),
            ([8.0 + 1e-9, 7.0, -1e-9], [15.0, 3.0, -1.0]),
        ] {
            let found = tracer.smooth_gradient(point);
            let errors = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
            assert!(errors.fold(0.0, f64::max) < 1e-3, "{point:?}: {found:?}");
        }
    });
}

#[test]
fn a_smooth_surface_has_the_hits_of_the_exact_one() {
    let volume = noise([17, 14, 19]);
    let exact = options(2.5, 48);
    let smooth = IsosurfaceOptions {
        is_smooth: true,
        has_shadows: true,
        ..exact.clone()
    };
    let (exact, smooth) = (rendered(&volume, &exact), rendered(&volume, &smooth));
    assert_eq!(smooth.counts.hits, exact.counts.hits);
    assert!(smooth.picture != exact.picture);
}
