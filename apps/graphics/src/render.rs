//! Renders pictures of anything: rays through every pixel, and one task per tile.
//!
//! An [`Integrator`] is a function from a ray to a colour. Everything else is common to all of
//! them: the camera, the positions of the samples in a pixel, the tiles, the picture, and the sum
//! of the counters. Tiles are independent tasks, and the samples of a pixel depend only on its
//! position. So the picture does not depend on the number of workers or the size of the tiles, to
//! the last bit.

use std::ops::{AddAssign, ControlFlow};
use std::time::{Duration, Instant};

use glam::Vec3;
use raddle_sync::prim::{AtomicBool, Relaxed};

use self::tile::{Tile, join_tiles, tiles_of};
use crate::bounds::Bounds;
use crate::camera::Camera;
use crate::picture::Picture;
use crate::ray::Ray;

mod beams;
mod block;
#[cfg(test)]
mod tests;
mod tile;

pub use self::block::Block;

pub(crate) use self::beams::{Beams, Slabs};
pub(crate) use self::block::BLOCK_LEN;

/// The maximum width and height of a picture.
pub const SIZE_MAX: u32 = 1 << 16;
/// The maximum number of samples per pixel.
pub const SAMPLES_MAX: u32 = 1 << 16;

/// The number of pixels along an edge of a tile: enough work for a task, and enough tasks for many
/// workers.
const TILE_EDGE: u32 = 16;

/// The colours of the backdrop, in the middle of the picture and in its corners.
const BACKDROP_MIDDLE: Vec3 = Vec3::new(0.56, 0.58, 0.61);
const BACKDROP_CORNER: Vec3 = Vec3::new(0.17, 0.18, 0.20);

/// A function from a ray to a colour.
pub trait Integrator {
    /// Counters, which [`render`] adds up.
    type Counts: Default + Send + AddAssign;

    /// Returns the light that arrives along a ray: red, green and blue, linear.
    fn colour(&self, sample: &Sample, counts: &mut Self::Counts) -> Vec3;

    /// Adds the light that arrives along the rays of a block to `colours`, one for each sample.
    ///
    /// An integrator may follow these rays together. The result must be that of
    /// [`colour`](Self::colour) for each of them.
    #[inline]
    fn add_colours(&self, block: &Block<'_>, colours: &mut [Vec3], counts: &mut Self::Counts) {
        for (pixel, colour) in colours.iter_mut().enumerate() {
            *colour += self.colour(&block.sample(pixel), counts);
        }
    }
}

/// A ray through a point of a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// The ray.
    pub ray: Ray,
    /// The point, in pixels from the upper left corner.
    pub position: [f32; 2],
    /// The size of the picture in pixels.
    pub size: (u32, u32),
    /// The colour behind the scene; a backdrop if there is none.
    pub background: Option<Vec3>,
}

impl Sample {
    /// Returns the colour behind the scene. A backdrop is bright in the middle and darker towards
    /// the corners.
    #[inline]
    #[must_use]
    pub fn behind(&self) -> Vec3 {
        self.background
            .unwrap_or_else(|| backdrop(self.position, self.size))
    }
}

/// Returns the colour of the backdrop at a point of a picture.
#[inline]
fn backdrop([x, y]: [f32; 2], (width, height): (u32, u32)) -> Vec3 {
    let (width, height) = (width as f32, height as f32);
    let from_middle = [x / width - 0.5, (y / height - 0.5) * 0.9 - 0.04];
    let radius = 2.0 * (from_middle[0] * from_middle[0] + from_middle[1] * from_middle[1]);
    mix(BACKDROP_MIDDLE, BACKDROP_CORNER, radius.min(1.0))
}

/// The options of a picture that do not depend on its content.
///
/// # Examples
/// ```
/// use raddle_graphics::render::FrameOptions;
///
/// let options = FrameOptions { size: (320, 200), ..FrameOptions::default() };
/// assert_eq!(options.samples, 1);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FrameOptions {
    /// Width and height in pixels, each from 1 to [`SIZE_MAX`].
    pub size: (u32, u32),
    /// The number of rays per pixel, from 1 to [`SAMPLES_MAX`].
    pub samples: u32,
    /// The number of pixels along an edge of a tile, at least 1.
    pub tile_edge: u32,
    /// The part of the scene that is shown; everything if there is none.
    pub clip: Option<Bounds>,
    /// The colour behind the scene, linear; a backdrop if there is none.
    pub background: Option<Vec3>,
}

impl Default for FrameOptions {
    fn default() -> Self {
        Self {
            size: (1024, 1024),
            samples: 1,
            tile_edge: TILE_EDGE,
            clip: None,
            background: None,
        }
    }
}

impl FrameOptions {
    /// Checks that the options are in range.
    ///
    /// # Errors
    /// Returns a [`FrameError`] for the first one that is not.
    pub fn check(&self) -> Result<(), FrameError> {
        let (width, height) = self.size;
        if !(1..=SIZE_MAX).contains(&width) || !(1..=SIZE_MAX).contains(&height) {
            return Err(FrameError::Size(width, height));
        }
        if !(1..=SAMPLES_MAX).contains(&self.samples) {
            return Err(FrameError::Samples(self.samples));
        }
        if self.tile_edge == 0 {
            return Err(FrameError::NoTile);
        }
        Ok(())
    }
}

/// The reasons why a picture cannot be rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The picture has no pixels, or is too large.
    #[error("a picture of {0} × {1} pixels; expected 1 to {SIZE_MAX} each way")]
    Size(u32, u32),
    /// The number of samples is zero or too large.
    #[error("{0} samples per pixel; expected 1 to {SAMPLES_MAX}")]
    Samples(u32),
    /// The callback for tiles has stopped the work.
    #[error("a picture that its caller has stopped; expected all of its tiles")]
    Stopped,
    /// The tiles have no pixels.
    #[error("tiles of 0 pixels; expected at least 1 along an edge")]
    NoTile,
    /// There is not enough memory for the picture.
    #[error("no memory for {bytes} bytes of pixels; expected a smaller picture")]
    OutOfMemory {
        /// The number of bytes that were requested from the system.
        bytes: u64,
    },
}

/// A picture, and the work that it took.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Frame<Counts> {
    /// The picture.
    pub picture: Picture,
    /// The sum of the counters of all rays.
    pub counts: Counts,
    /// The number of rays from the camera.
    pub rays: u64,
    /// The number of tiles, each of which is a task.
    pub tile_count: usize,
    /// The time spent on following the rays.
    pub time: Duration,
}

/// A finished tile, as reported to the progress callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TileDone {
    /// The number of the tile, from 0.
    pub tile: usize,
    /// The number of tiles.
    pub tile_count: usize,
}

impl TileDone {
    /// Creates the report of a finished tile.
    pub(crate) fn new(tile: usize, tile_count: usize) -> Self {
        Self { tile, tile_count }
    }
}

/// The answer of a callback: whether the work goes on. `()` means that it does.
pub trait Proceed {
    /// Returns true if the work goes on.
    fn proceeds(self) -> bool;
}

impl Proceed for () {
    fn proceeds(self) -> bool {
        true
    }
}

impl Proceed for ControlFlow<()> {
    fn proceeds(self) -> bool {
        self.is_continue()
    }
}

/// Renders a picture with all workers of the runtime.
///
/// `on_tile` is called for every finished tile, in any order and on any worker. If it returns
/// [`ControlFlow::Break`], no further tile is begun. The picture depends only on integrator,
/// camera, size, number of samples and clipping.
///
/// # Errors
/// Returns a [`FrameError`] if an option is out of range, if there is not enough memory for the
/// picture, or if `on_tile` has stopped the work.
///
/// # Examples
/// ```
/// use glam::Vec3;
/// use raddle_graphics::camera::Camera;
/// use raddle_graphics::render::{FrameOptions, Integrator, Sample, render};
///
/// /// The sky is blue above and white at the horizon.
/// struct Sky;
///
/// impl Integrator for Sky {
///     type Counts = u64;
///
///     fn colour(&self, sample: &Sample, rays_up: &mut u64) -> Vec3 {
///         let up = sample.ray.direction.normalize().y.max(0.0);
///         *rays_up += u64::from(up > 0.0);
///         Vec3::ONE.lerp(Vec3::new(0.2, 0.4, 0.9), up)
///     }
/// }
///
/// let camera = Camera::look(Vec3::ZERO, Vec3::NEG_Z, Vec3::Y, 40.0)?;
/// let options = FrameOptions { size: (64, 48), ..FrameOptions::default() };
/// let frame = render(&Sky, &camera, &options, |_| ())?;
/// assert_eq!((frame.rays, frame.counts), (64 * 48, 64 * 24));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn render<I: Integrator + Sync, P: Proceed>(
    integrator: &I,
    camera: &Camera,
    options: &FrameOptions,
    on_tile: impl Fn(TileDone) -> P + Sync,
) -> Result<Frame<I::Counts>, FrameError> {
    options.check()?;
    let (width, height) = options.size;
    let start = Instant::now();
    // Allocate all memory before following the rays, so that a lack of memory is detected before
    // the work.
    let mut picture = picture_of(options.size)?;
    let mut tiles = tiles_of(options.size, options.tile_edge, picture.pixels_mut());
    let tile_count = tiles.len();
    let mut counts: Vec<I::Counts> = Vec::new();
    counts.resize_with(tile_count, I::Counts::default);
    let mut tasks: Vec<_> = tiles.iter_mut().zip(&mut counts).collect();
    let is_stopped = AtomicBool::new(false);
    raddle::for_each_mut(&mut tasks, |index, (tile, sum_of_tile)| {
        // Relaxed: the flag publishes nothing else.
        if is_stopped.load(Relaxed) {
            return;
        }
        // Neighbouring tiles have their counters in one cache line, so they are written once.
        **sum_of_tile = render_tile(integrator, camera, options, tile);
        if !on_tile(TileDone::new(index, tile_count)).proceeds() {
            // Relaxed: as above.
            is_stopped.store(true, Relaxed);
        }
    });
    if is_stopped.into_inner() {
        return Err(FrameError::Stopped);
    }
    join_tiles(options.size, options.tile_edge, picture.pixels_mut());
    let mut sum = I::Counts::default();
    for counts in counts {
        sum += counts;
    }
    Ok(Frame {
        picture,
        counts: sum,
        rays: u64::from(width) * u64::from(height) * u64::from(options.samples),
        tile_count,
        time: start.elapsed(),
    })
}

/// A part of a picture: a rectangle of pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Part {
    /// The column and the row of the upper left pixel.
    pub corner: (u32, u32),
    /// Width and height in pixels.
    pub size: (u32, u32),
}

impl Part {
    /// Returns the number of pixels.
    #[must_use]
    pub const fn pixel_count(&self) -> usize {
        self.size.0 as usize * self.size.1 as usize
    }
}

/// Renders a part of a picture in the calling thread: the same pixels as [`render`] gives it, row
/// by row.
///
/// # Panics
/// Panics if `options` are out of range, or if `pixels` has another number of pixels than the part.
pub fn render_part<I: Integrator>(
    integrator: &I,
    camera: &Camera,
    options: &FrameOptions,
    part: Part,
    pixels: &mut [[f32; 3]],
) -> I::Counts {
    let checked = options.check();
    assert!(checked.is_ok(), "{checked:?}");
    assert_eq!(pixels.len(), part.pixel_count(), "the pixels of {part:?}");
    let mut tile = Tile::of_part(part, pixels);
    render_tile(integrator, camera, options, &mut tile)
}

/// Renders a tile in the calling thread.
fn render_tile<I: Integrator>(
    integrator: &I,
    camera: &Camera,
    options: &FrameOptions,
    tile: &mut Tile<'_>,
) -> I::Counts {
    let mut counts = I::Counts::default();
    for block in tile.blocks(beams::EDGE) {
        let mut colours = [Vec3::ZERO; BLOCK_LEN];
        let [corner, size] = block;
        let own = &mut colours[..(size.0 * size.1) as usize];
        for sample in 0..options.samples {
            let block = Block::new(camera, options, block, sample);
            integrator.add_colours(&block, own, &mut counts);
        }
        let colours = own
            .iter()
            .map(|it| (*it / options.samples as f32).to_array());
        tile.set(corner, Block::places(size).iter().zip(colours));
    }
    counts
}

/// Allocates a picture.
fn picture_of((width, height): (u32, u32)) -> Result<Picture, FrameError> {
    Picture::try_new(width, height).map_err(|_| FrameError::OutOfMemory {
        bytes: u64::from(width) * u64::from(height) * size_of::<[f32; 3]>() as u64,
    })
}

/// Mixes two colours.
pub(crate) fn mix(from: Vec3, to: Vec3, share: f32) -> Vec3 {
    from + share * (to - from)
}
