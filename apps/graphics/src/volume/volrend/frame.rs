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

    /// Follows the rays of a tile, and returns the work. The number of rays in the volume is left
    /// at 0, see [`rays_inside`](Self::rays_inside).
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

    /// Counts the rays with a sample in the volume.
    ///
    /// With adaptive sampling, it must be called after all tiles have been traced and before any is
    /// interpolated. Otherwise it tests only the rays near the outline of the volume, since most
    /// tiles have no ray that has to be followed.
    #[must_use]
    pub fn rays_inside(&self) -> u64 {
        let rows = 0..self.edge();
        if self.sampling == Sampling::Adaptive {
            let is_counted = |x, y| self.pixels.get(x, y).is_some() && self.tracer.is_inside(x, y);
            let count = |y: usize| rows.clone().filter(|&x| is_counted(x, y as u32)).count() as u64;
            return raddle::map(0..rows.len(), count).iter().sum();
        }
        // The picture of a box is convex: from the middle on, rows without a ray are the end.
        let middle = self.edge() / 2;
        let below = (middle..self.edge()).map(|y| self.rays_in_row(y));
        let above = (0..middle).rev().map(|y| self.rays_in_row(y));
        let has_rays = |count: &u64| *count > 0;
        below.take_while(has_rays).sum::<u64>() + above.take_while(has_rays).sum::<u64>()
    }

    /// Counts the rays of a row with a sample in the volume.
    fn rays_in_row(&self, y: u32) -> u64 {
        /// The distance of the first tests.
        const STEP: usize = 16;
        /// The number of rays on each side of the outline that have no sample, or just one.
        const MARGIN: u32 = 4;
        let edge = self.edge();
        let is_inside = |x: &u32| self.tracer.is_inside(*x, y);
        let coarse = (0..edge).step_by(STEP).find(is_inside);
        let Some(within) = coarse.or_else(|| (0..edge).find(is_inside)) else {
            return 0;
        };
        // Halves the gap between a ray outside and one inside.
        let outline = |mut outside: i64, mut inside: i64| {
            while (inside - outside).abs() > 1 {
                let middle = (inside + outside) / 2;
                match is_inside(&(middle as u32)) {
                    true => inside = middle,
                    false => outside = middle,
                }
            }
            inside as u32
        };
        let first = outline(-1, i64::from(within));
        let last = outline(i64::from(edge), i64::from(within));
        let (from, to) = (first + MARGIN, last.saturating_sub(MARGIN));
        if from >= to {
            return (0..edge).filter(is_inside).count() as u64;
        }
        let ends = (first.saturating_sub(MARGIN)..from).chain(to..edge.min(last + MARGIN + 1));
        u64::from(to - from) + ends.filter(is_inside).count() as u64
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
