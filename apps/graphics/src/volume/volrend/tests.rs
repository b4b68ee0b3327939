//! Tests of the renderer of SPLASH-2 on a small density map. The pictures of the original are
//! compared in `tests/volume_data.rs`.

use super::*;

/// Returns a map with a ball of bone.
fn ball(size: [usize; 3]) -> Volume {
    let middle = size.map(|len| 0.5 * (len - 1) as f32);
    let voxel = |index: usize| {
        let at = [
            index % size[0],
            index / size[0] % size[1],
            index / (size[0] * size[1]),
        ];
        let square: f32 = (0..3)
            .map(|axis| (at[axis] as f32 - middle[axis]).powi(2))
            .sum();
        (255.0 - 14.0 * square.sqrt()).clamp(0.0, 255.0) as u8
    };
    let voxels: Vec<u8> = (0..size.iter().product()).map(voxel).collect();
    Volume::new(size, voxels).expect("a sound volume")
}

#[test]
fn the_size_of_the_picture_is_the_diagonal_of_the_map() {
    let map = Volrend::new(&ball([30, 32, 34])).expect("a density map");
    let picture = map.render(FrameView::of_frame(4, 0), Sampling::Full, |_| ());
    // 27² + 29² + 31² = 2531.
    assert_eq!(picture.edge, 51);
    assert_eq!(picture.pixels.len(), 51 * 51);
    assert_eq!(picture.tile_count, 13 * 13);
    assert_eq!(picture.counts.rays, 51 * 51);
    assert!(picture.counts.samples > 1000);
    // The ball is in the middle, and the corners are empty.
    assert!(picture.pixels[25 * 51 + 25] > 20);
    assert_eq!(picture.pixels[0], 0);
}

#[test]
fn workers_do_not_change_the_picture() {
    let map = Volrend::new(&ball([40, 36, 30])).expect("a density map");
    for sampling in [Sampling::Full, Sampling::Adaptive] {
        let with = |worker_count: usize| {
            let runtime = raddle::Runtime::builder()
                .workers(worker_count)
                .build()
                .expect("a runtime starts");
            runtime.install(|| map.render(FrameView::of_frame(4, 5), sampling, |_| ()))
        };
        let first = with(1);
        for worker_count in [2, 5] {
            let other = with(worker_count);
            assert_eq!(other.pixels, first.pixels);
            assert_eq!(other.counts, first.counts);
        }
    }
}

#[test]
fn pools_do_not_change_the_picture() {
    let map = Volrend::new(&ball([30, 32, 34])).expect("a density map");
    let view = FrameView::of_frame(4, 5);
    for sampling in [Sampling::Full, Sampling::Adaptive] {
        let expected = map.render(view, sampling, |_| ());
        for kind in raddle::PoolKind::ALL {
            let runtime = raddle::Runtime::builder()
                .workers(2)
                .pool(kind)
                .build()
                .expect("a runtime starts");
            let pixels = runtime.install(|| {
                let frame = map.frame(view, sampling);
                let in_tasks = |work: &(dyn Fn(usize) + Sync)| {
                    raddle::scope(|scope| {
                        for tile in 0..frame.tile_count() {
                            scope.spawn(move || work(tile));
                        }
                    });
                };
                in_tasks(&|tile| {
                    frame.trace(tile);
                });
                in_tasks(&|tile| frame.interpolate(tile));
                frame.pixels()
            });
            assert_eq!(pixels, expected.pixels, "{kind}");
        }
    }
}

#[test]
fn tiles_in_any_order_and_twice_give_the_same_pixels() {
    let map = Volrend::new(&ball([30, 32, 34])).expect("a density map");
    for sampling in [Sampling::Full, Sampling::Adaptive] {
        let view = FrameView::of_frame(4, 2);
        let expected = map.render(view, sampling, |_| ());
        let frame = map.frame(view, sampling);
        let count = frame.tile_count();
        let mut rays = 0;
        for tile in (0..count).rev() {
            rays += frame.trace(tile).rays;
            if sampling == Sampling::Adaptive {
                assert_eq!(
                    frame.trace(tile).rays,
                    0,
                    "known pixels are not traced again"
                );
            }
        }
        for tile in (0..count).chain(0..count) {
            frame.interpolate(tile);
        }
        assert_eq!(frame.pixels(), expected.pixels);
        assert_eq!(rays, expected.counts.rays);
    }
}

#[test]
fn pixels_before_the_first_tile_are_black_and_interpolation_traces_what_it_needs() {
    let map = Volrend::new(&ball([30, 32, 34])).expect("a density map");
    let frame = map.frame(FrameView::of_frame(4, 2), Sampling::Adaptive);
    assert!(frame.pixels().iter().all(|&pixel| pixel == 0));
    let middle = frame.tile_count() / 2;
    frame.interpolate(middle);
    assert!(frame.pixels().iter().any(|&pixel| pixel > 0));
}

#[test]
#[should_panic(expected = "tile 169 of 169")]
fn a_tile_outside_of_the_frame_is_refused() {
    let map = Volrend::new(&ball([30, 32, 34])).expect("a density map");
    let frame = map.frame(FrameView::of_frame(4, 0), Sampling::Full);
    frame.trace(frame.tile_count());
}

#[test]
fn adaptive_sampling_traces_fewer_rays_for_nearly_the_same_picture() {
    let map = Volrend::new(&ball([48, 48, 48])).expect("a density map");
    let view = FrameView::of_frame(4, 0);
    let full = map.render(view, Sampling::Full, |_| ());
    let adaptive = map.render(view, Sampling::Adaptive, |_| ());
    assert!(2 * adaptive.counts.rays < full.counts.rays);
    let differences = full.pixels.iter().zip(&adaptive.pixels);
    let sum: u64 = differences
        .map(|(a, b)| u64::from(a.abs_diff(*b)).pow(2))
        .sum();
    let mean = sum as f64 / full.pixels.len() as f64;
    assert!(mean < 10.0, "mean square {mean}");
}

#[test]
fn the_frames_about_z_are_equal() {
    assert_eq!(FrameView::of_frame(4, 8), FrameView::of_frame(4, 11));
    assert_eq!(FrameView::of_frame(8, 16), FrameView::of_frame(8, 23));
    assert_eq!(FrameView::of_frame(4, 12), FrameView::of_frame(4, 0));
}

#[test]
fn other_volumes_are_refused() {
    let shorts = Volume::new([4; 3], vec![0_i16; 64]).expect("a sound volume");
    assert_eq!(
        Volrend::new(&shorts).expect_err("not a density map"),
        VolrendError::Type("i16")
    );
    let thin = Volume::new([4, 4, 3], vec![0_u8; 48]).expect("a sound volume");
    assert_eq!(
        Volrend::new(&thin).expect_err("too thin"),
        VolrendError::Size([4, 4, 3])
    );
}
