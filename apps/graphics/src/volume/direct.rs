//! Direct rendering: every value has a colour and an opacity.
//!
//! A ray takes samples at equal distances in the macrocells that are not transparent, and ends when
//! little light is left behind them. The distances are counted from where the ray enters the
//! volume, so the picture does not depend on the macrocells. For the largest value, a ray passes
//! over the macrocells that have no larger one.
//!
//! # Source
//! M. Levoy: Display of Surfaces from Volume Data. IEEE Computer Graphics and Applications 8(3),
//! 1988. M. Levoy: Efficient Ray Tracing of Volume Data. ACM Transactions on Graphics 9(3), 1990
//! (empty regions, early ray termination).

use std::ops::AddAssign;
use std::time::Instant;

use glam::Vec3;
use raddle::Private;
use thiserror::Error;

use self::bricks::Bricks;
use self::tracer::Tracer;
use super::array::Volume;
use super::macrocells::Macrocells;
use super::occupancy::Occupancy;
use super::project::beams;
use super::rendering::Rendering;
use super::shading::Shading;
use super::transfer::{Preset, TransferFunction};
use super::voxels::with_voxels;
use crate::camera::{CameraError, View};
use crate::render::{self, FrameError, FrameOptions, Proceed, TileDone};

mod bricks;
mod tracer;

#[cfg(test)]
mod tests;

/// The smallest and the largest distance between samples, in voxels.
const STEP_MIN: f64 = 1e-3;
const STEP_MAX: f64 = 1e3;
/// The maximum number of samples along the diagonal of a volume.
const SAMPLES_MAX: f64 = (1 << 24) as f64;

/// The way in which samples along a ray become a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Blend {
    /// Samples hide those behind them, by their opacities.
    #[default]
    Composite,
    /// The largest value along the ray decides (maximum intensity projection).
    Maximum,
}

/// The options of a picture.
#[derive(Debug, Clone, PartialEq)]
pub struct DirectOptions {
    /// The colour and the opacity of each value.
    pub transfer: TransferFunction,
    /// The way in which samples become a colour.
    pub blend: Blend,
    /// The distance between samples, in units of the smallest distance between voxels.
    pub step: f64,
    /// True if gradients are lit as surfaces are.
    pub is_shaded: bool,
    /// The requested properties of the camera. The others suit the volume.
    pub view: View,
    /// Size, samples and tiles of the picture.
    pub frame: FrameOptions,
}

/// The reasons why a volume cannot be rendered.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum DirectError {
    /// The camera cannot be set up.
    #[error(transparent)]
    Camera(#[from] CameraError),
    /// The frame cannot be rendered.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The macrocells belong to a volume of another size.
    #[error("macrocells of another volume; expected those of the volume to be rendered")]
    OtherVolume,
    /// The distance between samples is out of range.
    #[error("a step of {0}; expected {STEP_MIN} to {STEP_MAX} voxels")]
    Step(f64),
    /// Rays have too many samples: some voxels are much longer than wide.
    #[error("{samples:.0} samples along a ray; expected at most {SAMPLES_MAX}, or a larger step")]
    Samples {
        /// The number of samples along the diagonal of the volume.
        samples: f64,
    },
}

/// A picture, and a report on rendering it.
pub type DirectRendering = Rendering<DirectCounts>;

/// Counts of the work for a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[non_exhaustive]
pub struct DirectCounts {
    /// Rays that enter the volume.
    pub rays_inside: u64,
    /// Macrocells of all levels that rays visited, including empty ones.
    pub macrocells: u64,
    /// Interpolated values.
    pub samples: u64,
    /// Samples that are not transparent.
    pub samples_visible: u64,
    /// Rays with a visible sample.
    pub hits: u64,
}

impl AddAssign for DirectCounts {
    fn add_assign(&mut self, other: Self) {
        self.rays_inside += other.rays_inside;
        self.macrocells += other.macrocells;
        self.samples += other.samples;
        self.samples_visible += other.samples_visible;
        self.hits += other.hits;
    }
}

impl Blend {
    /// Returns the colour behind a volume that suits the blend and a preset, linear; `None` for a
    /// backdrop. A maximum and presets that shine are on black.
    #[must_use]
    pub fn background(self, preset: Option<&Preset>) -> Option<Vec3> {
        let is_on_black = self == Self::Maximum || preset.is_some_and(|preset| preset.is_on_black);
        is_on_black.then_some(Vec3::ZERO)
    }

    /// Returns the preset that suits the blend if none is chosen; `None` for the default transfer
    /// function.
    #[must_use]
    pub fn preset(self) -> Option<&'static Preset> {
        match self {
            Self::Composite => None,
            Self::Maximum => Preset::named("maximum"),
        }
    }
}

impl DirectOptions {
    /// Returns the options for a transfer function: composite and shaded, with a step of 0.5.
    #[must_use]
    pub fn new(transfer: TransferFunction) -> Self {
        Self {
            transfer,
            blend: Blend::Composite,
            step: 0.5,
            is_shaded: true,
            view: View::default(),
            frame: FrameOptions::default(),
        }
    }

    /// Checks that the options are in range, as far as that does not depend on the volume.
    ///
    /// # Errors
    /// Returns a [`DirectError`] for the first one that is not.
    pub fn check(&self) -> Result<(), DirectError> {
        if !(STEP_MIN..=STEP_MAX).contains(&self.step) {
            return Err(DirectError::Step(self.step));
        }
        Ok(self.frame.check()?)
    }
}

/// Renders a volume with all workers of the runtime.
///
/// `macrocells` must be those of `volume`. `on_tile` is called for every finished tile, in any
/// order and on any worker, and may stop the work. The picture depends only on volume and options.
///
/// # Errors
/// Returns a [`DirectError`] if an option is out of range, or if there is not enough memory for the
/// picture.
pub fn render<P: Proceed>(
    volume: &Volume,
    macrocells: &Macrocells,
    options: &DirectOptions,
    on_tile: impl Fn(TileDone) -> P + Sync,
) -> Result<DirectRendering, DirectError> {
    options.check()?;
    if !macrocells.fit(volume.grid()) {
        return Err(DirectError::OtherVolume);
    }
    let step = options.step * volume.spacing().abs().min_element();
    let samples = f64::from(volume.bounds().extent().length()) / step;
    if samples > SAMPLES_MAX {
        return Err(DirectError::Samples { samples });
    }
    let camera = volume.camera(&options.view)?;
    let begun = Instant::now();
    let table = options.transfer.table(macrocells.range(), options.step);
    let scale = macrocells.scale();
    let occupancy = Occupancy::of(macrocells, |range| {
        let [low, high] = range.map(|level| scale.value(level));
        table.is_visible(match options.blend {
            Blend::Composite => [low, high],
            // Values that are not visible may hide lower ones, but only if those are visible.
            Blend::Maximum => [macrocells.range()[0], high],
        })
    });
    let beams = beams(volume.grid(), &occupancy, &camera, options.frame.size);
    let size = volume.size();
    let has_gradients = options.blend == Blend::Composite && options.is_shaded;
    let time_prepare = begun.elapsed();
    let map = volume.grid().voxel_map();
    let frame = with_voxels!(volume.voxels(), voxels => {
        let tracer = Tracer {
            voxels,
            bricks: Private::new(move || Bricks::new(size, has_gradients)),
            size,
            map,
            occupancy: &occupancy,
            beams: beams.as_ref(),
            macrocells,
            table: &table,
            options,
            step,
            shading: Shading::new(&camera, &map, macrocells.range()),
        };
        render::render(&tracer, &camera, &options.frame, on_tile)?
    });
    Ok(Rendering {
        picture: frame.picture,
        camera,
        counts: frame.counts,
        rays: frame.rays,
        leaf_count: occupancy.leaf_count(),
        tile_count: frame.tile_count,
        time_prepare,
        time_trace: frame.time,
    })
}
