//! Tests of the renderer, for any integrator.

use super::*;

/// Paints every pixel in the colour of its position, and counts the samples.
struct Position;

#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct Samples(u64);

impl AddAssign for Samples {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Integrator for Position {
    type Counts = Samples;

    fn colour(&self, sample: &Sample, counts: &mut Samples) -> Vec3 {
        counts.0 += 1;
        let [x, y] = sample.position;
        Vec3::new(x, y, sample.ray.direction.x)
    }
}

fn camera() -> Camera {
    Camera::look(Vec3::ZERO, Vec3::NEG_Z, Vec3::Y, 40.0).unwrap()
}

#[test]
fn the_size_of_the_tiles_does_not_change_the_picture() {
    let with_edge = |tile_edge, samples| {
        let options = FrameOptions {
            size: (37, 29),
            samples,
            tile_edge,
            ..FrameOptions::default()
        };
        render(&Position, &camera(), &options, |_| ()).unwrap()
    };
    for samples in [1, 3] {
        let first = with_edge(1, samples);
        assert_eq!(first.tile_count, 37 * 29);
        assert_eq!(first.counts, Samples(first.rays));
        for (tile_edge, tile_count) in [(4, 10 * 8), (16, 3 * 2), (64, 1), (u32::MAX, 1)] {
            let other = with_edge(tile_edge, samples);
            assert_eq!(other.picture, first.picture, "edge {tile_edge}");
            assert_eq!(other.counts, first.counts);
            assert_eq!(other.tile_count, tile_count);
        }
    }
}

#[test]
fn options_out_of_range_are_rejected() {
    let good = FrameOptions::default();
    let bad = [
        (
            FrameOptions {
                size: (0, 5),
                ..good
            },
            FrameError::Size(0, 5),
        ),
        (
            FrameOptions {
                size: (5, SIZE_MAX + 1),
                ..good
            },
            FrameError::Size(5, SIZE_MAX + 1),
        ),
        (FrameOptions { samples: 0, ..good }, FrameError::Samples(0)),
        (
            FrameOptions {
                tile_edge: 0,
                ..good
            },
            FrameError::NoTile,
        ),
    ];
    for (options, error) in bad {
        let outcome = render(&Position, &camera(), &options, |_| ());
        assert_eq!(outcome.unwrap_err(), error);
    }
}

#[test]
fn a_callback_stops_the_work_and_the_next_picture_is_whole() {
    let options = FrameOptions {
        size: (64, 64),
        tile_edge: 4,
        ..FrameOptions::default()
    };
    let stopped = render(&Position, &camera(), &options, |_| ControlFlow::Break(()));
    assert_eq!(stopped.unwrap_err(), FrameError::Stopped);
    let whole = render(
        &Position,
        &camera(),
        &options,
        |_| ControlFlow::Continue(()),
    );
    assert_eq!(whole.unwrap().counts, Samples(64 * 64));
}

/// Paints whole blocks, and marks each sample by its position.
struct InBlocks;

impl Integrator for InBlocks {
    type Counts = Samples;

    fn colour(&self, _: &Sample, _: &mut Samples) -> Vec3 {
        unreachable!("blocks are painted as a whole")
    }

    fn add_colours(&self, block: &Block<'_>, colours: &mut [Vec3], counts: &mut Samples) {
        assert_eq!(colours.len(), block.len());
        for (pixel, colour) in colours.iter_mut().enumerate() {
            assert_eq!(block.position(pixel), block.sample(pixel).position);
            *colour += Position.colour(&block.sample(pixel), counts);
        }
    }
}

#[test]
fn blocks_have_each_pixel_once() {
    for (tile_edge, samples) in [(1, 1), (3, 2), (4, 1), (7, 3), (16, 1), (64, 2)] {
        let options = FrameOptions {
            size: (37, 29),
            samples,
            tile_edge,
            ..FrameOptions::default()
        };
        let alone = render(&Position, &camera(), &options, |_| ()).unwrap();
        let in_blocks = render(&InBlocks, &camera(), &options, |_| ()).unwrap();
        assert_eq!(in_blocks.picture, alone.picture, "edge {tile_edge}");
        assert_eq!(in_blocks.counts, alone.counts);
    }
}

/// Panics at a pixel, or asks for one that its block does not have.
struct Careless {
    is_outside: bool,
}

impl Integrator for Careless {
    type Counts = Samples;

    fn colour(&self, sample: &Sample, _: &mut Samples) -> Vec3 {
        assert!(sample.position[0] < 30.0, "too far to the right");
        Vec3::ONE
    }

    fn add_colours(&self, block: &Block<'_>, colours: &mut [Vec3], counts: &mut Samples) {
        let first = if self.is_outside { block.len() } else { 0 };
        for (pixel, colour) in colours.iter_mut().enumerate() {
            *colour += self.colour(&block.sample(first + pixel), counts);
        }
    }
}

#[test]
fn a_careless_integrator_panics_in_the_caller_and_the_next_picture_is_whole() {
    let options = FrameOptions {
        size: (37, 29),
        ..FrameOptions::default()
    };
    for is_outside in [false, true] {
        let careless = Careless { is_outside };
        let outcome = std::panic::catch_unwind(|| render(&careless, &camera(), &options, |_| ()));
        assert!(outcome.is_err());
        let whole = render(&Position, &camera(), &options, |_| ()).unwrap();
        assert_eq!(whole.counts, Samples(37 * 29));
    }
}
