//! The volume renderer of SPLASH-2 (volrend), rule by rule.
//!
//! Study 004 measures its task pools with this program. It renders a density map of a head: only
//! bone is opaque, light comes from one direction, and rays are parallel. Each tile of 4 × 4 pixels
//! is a task. In the adaptive mode, a task traces the corners of its tile and refines where they
//! differ; a second pass interpolates the other pixels.
//!
//! The pictures are those of the original up to rounding, since rays here have double precision.
//! They do not depend on the workers, to the last bit.
//!
//! With adaptive sampling, tiles share the pixels at their corners and are traced before any of
//! them is interpolated. So the tiles are not those of [`crate::render`], which are independent.
//!
//! # Memory
//! The tables take 8 bytes for each voxel in a region with opaque voxels, and nearly nothing for
//! others. That is 1.4 times the voxels of a head. Those of the original take 3 times the voxels.
//!
//! # Source
//! J. Nieh, M. Levoy: Volume Rendering on Scalable Shared-Memory MIMD Architectures. Boston
//! Workshop on Volume Visualization 1992. S. Woo, M. Ohara, E. Torrie, J. P. Singh, A. Gupta: The
//! SPLASH-2 Programs. ISCA 1995. Frame numbers: Splash-3, volrend. R. Hoffmann, M. Korch, T.
//! Rauber: Performance Evaluation of Task Pools Based on Hardware Synchronization. Supercomputing
//! 2004, section 4.

use std::ops::AddAssign;
use std::time::{Duration, Instant};

use thiserror::Error;

use self::tables::Tables;
use super::array::Volume;
use super::voxels::Voxels;
use crate::render::TileDone;

mod adaptive;
mod frame;
mod pixels;
mod rays;
mod tables;
#[cfg(test)]
mod tests;
mod view;

pub use self::frame::VolrendFrame;
pub use self::view::FrameView;

/// The number of pixels along an edge of a tile.
pub const TILE_EDGE: u32 = 4;

/// A density map that is prepared for rendering.
#[derive(Debug)]
pub struct Volrend {
    tables: Tables,
}

/// The way in which pixels are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Sampling {
    /// A ray for every pixel.
    #[default]
    Full,
    /// Rays for the corners of boxes that shrink where the picture changes. Other pixels are
    /// interpolated.
    Adaptive,
}

/// The reason why a volume is not a density map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum VolrendError {
    /// The voxels are not bytes.
    #[error("voxels of type {0}; expected u8, the densities of SPLASH")]
    Type(&'static str),
    /// The volume is too thin for gradients.
    #[error("{} × {} × {} voxels; expected at least 4 along each axis", .0[0], .0[1], .0[2])]
    Size([usize; 3]),
    /// The picture would be too large.
    #[error("a picture of {0} × {0} pixels; expected at most 65536 each way")]
    Picture(u64),
}

/// A picture in grey.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct VolrendPicture {
    /// The width and the height in pixels.
    pub edge: u32,
    /// The pixels, from the upper left corner, row by row.
    pub pixels: Vec<u8>,
    /// The work.
    pub counts: VolrendCounts,
    /// The number of tiles, each of which is a task.
    pub tile_count: usize,
    /// The time for the picture, without the preparation of the density map and without
    /// [`VolrendCounts::rays_inside`].
    pub time: Duration,
}

/// Counts of the work for a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[non_exhaustive]
pub struct VolrendCounts {
    /// Pixels with a ray.
    pub rays: u64,
    /// Rays with a sample in the volume. [`VolrendFrame::trace`] does not count them.
    pub rays_inside: u64,
    /// Samples with at least one opaque voxel around.
    pub samples: u64,
}

impl AddAssign for VolrendCounts {
    fn add_assign(&mut self, other: Self) {
        self.rays += other.rays;
        self.rays_inside += other.rays_inside;
        self.samples += other.samples;
    }
}

impl Volrend {
    /// Computes normals, opacities and empty regions of a density map with all workers.
    ///
    /// # Errors
    /// Returns a [`VolrendError`] if the voxels are not bytes, or if the volume is too thin or too
    /// large.
    pub fn new(volume: &Volume) -> Result<Self, VolrendError> {
        let size = volume.size();
        let Voxels::U8(densities) = volume.voxels() else {
            return Err(VolrendError::Type(volume.voxels().type_name()));
        };
        if size.iter().any(|&len| len < 4) {
            return Err(VolrendError::Size(size));
        }
        let tables = Tables::new(size, densities);
        let edge = view::edge(tables.size);
        if edge > u64::from(crate::render::SIZE_MAX) {
            return Err(VolrendError::Picture(edge));
        }
        Ok(Self { tables })
    }

    /// Begins a frame with all workers of the runtime, for callers that distribute its tiles
    /// themselves.
    #[must_use]
    pub fn frame(&self, view: FrameView, sampling: Sampling) -> VolrendFrame<'_> {
        VolrendFrame::new(&self.tables, view, sampling)
    }

    /// Renders a frame with all workers of the runtime. `on_tile` is called for every finished
    /// tile.
    #[must_use]
    pub fn render(
        &self,
        view: FrameView,
        sampling: Sampling,
        on_tile: impl Fn(TileDone) + Sync,
    ) -> VolrendPicture {
        let begun = Instant::now();
        let frame = self.frame(view, sampling);
        let tile_count = frame.tile_count();
        let mut counts = vec![VolrendCounts::default(); tile_count];
        raddle::for_each_mut(&mut counts, |tile, counts| {
            *counts = frame.trace(tile);
            on_tile(TileDone::new(tile, tile_count));
        });
        let trace_time = begun.elapsed();
        let mut sum = VolrendCounts::default();
        for counts in counts {
            sum += counts;
        }
        sum.rays_inside = frame.rays_inside();
        let begun = Instant::now();
        if sampling == Sampling::Adaptive {
            raddle::for_each(0..tile_count, |tile| frame.interpolate(tile));
        }
        let pixels = frame.pixels();
        VolrendPicture {
            edge: frame.edge(),
            pixels,
            counts: sum,
            tile_count,
            time: trace_time + begun.elapsed(),
        }
    }
}
