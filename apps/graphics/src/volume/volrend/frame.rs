//! A frame in tiles, for callers that distribute the tiles themselves.

use super::pixels::Pixels;
use super::rays::Tracer;
use super::tables::Tables;
use super::view::{Camera, FrameView};
use super::{Sampling, TILE_EDGE, VolrendCounts, adaptive};

/// A frame in tiles of [`TILE_EDGE`] × [`TILE_EDGE`] pixels, each of which is a task.
///
/// Tiles may be traced in any order, on any threads, and more than once: the pixels are always the
/// same. [`Volrend::render`](super::Volrend::render) does all of this with the workers of the
/// runtime.
///
/// # Examples
/// ```
/// use raddle_graphics::volume::Volume;
/// use raddle_graphics::volume::volrend::{FrameView, Sampling, Volrend};
///
/// let voxels: Vec<u8> = (0..4096).map(|index| (index % 251) as u8).collect();
/// let map = Volrend::new(&Volume::new([16; 3], voxels)?)?;
/// let frame = map.frame(FrameView::of_frame(4, 0), Sampling::Adaptive);
/// for tile in 0..frame.tile_count() {
///     frame.trace(tile);
/// }
/// // After all tiles have been traced.
/// for tile in 0..frame.tile_count() {
///     frame.interpolate(tile);
/// }
/// assert_eq!(frame.pixels().len(), (frame.edge() * frame.edge()) as usize);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct VolrendFrame<'a> {
    tracer: Tracer<'a>,
    sampling: Sampling,
    pixels: Pixels,
}

impl<'a> VolrendFrame<'a> {
    pub(super) fn new(tables: &'a Tables, view: FrameView, sampling: Sampling) -> Self {
        let camera = Camera::new(tables.size, view);
        let pixels = Pixels::new(camera.edge);
        Self {
            tracer: Tracer::new(tables, camera),
            sampling,
            pixels,
        }
    }

    /// Returns the width and the height in pixels.
    #[must_use]
    pub fn edge(&self) -> u32 {
        self.pixels.edge()
    }

    /// Returns the number of tiles along each side.
    #[must_use]
    pub fn tiles_per_row(&self) -> usize {
        self.edge().div_ceil(TILE_EDGE) as usize
    }

    /// Returns the number of tiles. They are numbered row by row.
    #[must_use]
    pub fn tile_count(&self) -> usize {
        self.tiles_per_row() * self.tiles_per_row()
    }

    /// Returns the upper left pixel of a tile.
    fn corner(&self, tile: usize) -> (u32, u32) {
        let row = self.tiles_per_row();
        assert!(tile < row * row, "tile {tile} of {}", row * row);
        let (x, y) = (tile % row, tile / row);
        (x as u32 * TILE_EDGE, y as u32 * TILE_EDGE)
    }

    /// Follows the rays of a tile, and returns the work, of which
    /// [`rays_inside`](Self::rays_inside) has a part.
    ///
    /// # Panics
    /// Panics if there is no such tile.
    pub fn trace(&self, tile: usize) -> VolrendCounts {
        let mut counts = VolrendCounts::default();
        let (left, top) = self.corner(tile);
        if self.sampling == Sampling::Adaptive {
            adaptive::refine(
                &self.pixels,
                (left, top),
                TILE_EDGE,
                &self.tracer,
                &mut counts,
            );
            return counts;
        }
        let end = |first: u32| self.edge().min(first + TILE_EDGE);
        let is_empty = self.tracer.is_empty((left, top));
        for y in top..end(top) {
            for x in left..end(left) {
                counts.rays += 1;
                if !is_empty {
                    let grey = self.tracer.pixel(x, y, &mut counts);
                    self.pixels.set(x, y, u32::from(grey));
                }
            }
        }
        counts
    }

    /// Counts the rays with a sample in the volume, with all workers.
    ///
    /// With adaptive sampling, it must be called after all tiles have been traced and before any is
    /// interpolated. The rays of tiles in which nothing is visible are only needed for this number,
    /// so it is not a part of the work for a picture.
    #[must_use]
    pub fn rays_inside(&self) -> u64 {
        let edge = self.edge();
        let has_ray = |x, y| match self.sampling {
            Sampling::Full => true,
            Sampling::Adaptive => self.pixels.get(x, y).is_some(),
        };
        let counts = raddle::map(0..edge as usize, |y| {
            let y = y as u32;
            let rays = (0..edge).filter(|&x| has_ray(x, y) && self.tracer.is_inside(x, y));
            rays.count() as u64
        });
        counts.iter().sum()
    }

    /// Interpolates the pixels of a tile without a ray, after all tiles have been traced. Without
    /// adaptive sampling there are none.
    ///
    /// # Panics
    /// Panics if there is no such tile.
    pub fn interpolate(&self, tile: usize) {
        let corner = self.corner(tile);
        if self.sampling == Sampling::Adaptive {
            adaptive::interpolate(&self.pixels, corner, TILE_EDGE, &self.tracer);
        }
    }

    /// Returns all pixels, row by row. Those that are not known yet are black.
    #[must_use]
    pub fn pixels(&self) -> Vec<u8> {
        self.pixels.to_bytes()
    }
}
