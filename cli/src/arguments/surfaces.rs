//! The surfaces of equal value of the commands that render them.

use clap::Args;
use glam::DVec3;
use raddle_graphics::volume::isosurface::{IsosurfaceError, IsosurfaceOptions, Surface};

use super::{Colour, ViewArguments};
use crate::error::CliError;
use crate::output;

/// The surfaces, and how they look.
#[derive(Debug, Clone, Args)]
pub(crate) struct SurfaceArguments {
    /// Values of the surfaces
    #[arg(long, value_name = "VALUE", required = true, value_delimiter = ',')]
    #[arg(allow_hyphen_values = true)]
    pub(crate) iso: Vec<f64>,
    /// Opacities of the surfaces, from 0 to 1, in the same order [default: 1]
    #[arg(long, value_name = "SHARE", value_delimiter = ',')]
    opacity: Vec<f32>,
    /// Colours of the surfaces, in the same order: #rrggbb, black, white or grey
    #[arg(long, value_name = "COLOUR", value_delimiter = ',')]
    colour: Vec<Colour>,
    /// Light surfaces by the differences between voxels on both sides, which hides their grid
    #[arg(long)]
    smooth: bool,
    /// Let surfaces cast shadows
    #[arg(long)]
    shadows: bool,
}

impl SurfaceArguments {
    /// Returns the options of a picture of a volume with an offset.
    pub(crate) fn options(&self, view: &ViewArguments, offset: DVec3) -> IsosurfaceOptions {
        let surfaces = self.iso.iter().enumerate().map(|(index, &isovalue)| {
            let surface = Surface::new(isovalue, index);
            let colour = self.colour.get(index).copied();
            Surface {
                opacity: self.opacity.get(index).copied().unwrap_or(surface.opacity),
                colour: colour.map_or(surface.colour, Colour::linear),
                ..surface
            }
        });
        IsosurfaceOptions {
            surfaces: surfaces.collect(),
            has_shadows: self.shadows,
            is_smooth: self.smooth,
            view: view.view(offset),
            frame: view.frame(offset, None),
        }
    }

    /// Checks the options that do not depend on the volume.
    ///
    /// # Errors
    /// [`CliError::WrongCall`].
    pub(crate) fn check(&self, view: &ViewArguments) -> Result<(), CliError> {
        for (name, count) in [
            ("opacity", self.opacity.len()),
            ("colour", self.colour.len()),
        ] {
            if count > self.iso.len() {
                return Err(CliError::WrongCall {
                    options: format!("--{name} with {count} values"),
                    reason: format!("expected at most {}, one for each isovalue", self.iso.len()),
                });
            }
        }
        let options = self.options(view, DVec3::ZERO);
        options.check().map_err(|source| self.refused(source, view))
    }

    /// Converts an error of rendering, which is an error of the call.
    pub(crate) fn refused(&self, error: IsosurfaceError, view: &ViewArguments) -> CliError {
        let values: Vec<String> = self.iso.iter().map(f64::to_string).collect();
        let options = match error {
            IsosurfaceError::Camera(_) => view.given(),
            IsosurfaceError::Opacity(_) => "--opacity".to_owned(),
            IsosurfaceError::Frame(_) => format!("--size {}", view.size),
            _ => format!("--iso {}", values.join(",")),
        };
        CliError::WrongCall {
            options,
            reason: error.to_string(),
        }
    }

    /// Returns true if a surface has a value of a volume with values in this range.
    pub(crate) fn has_surface(&self, range: [f64; 2]) -> bool {
        self.iso.iter().any(|&value| is_among(value, range))
    }

    /// Warns of isovalues without a surface in a volume with a name, if there are others.
    pub(crate) fn warn_of_values(&self, name: &str, range: [f64; 2]) {
        let (found, missing): (Vec<f64>, Vec<f64>) =
            self.iso.iter().partition(|value| is_among(**value, range));
        if !found.is_empty() && !missing.is_empty() {
            let missing: Vec<String> = missing.iter().map(f64::to_string).collect();
            let [low, high] = range;
            output::warn(&format!(
                "{name}: --iso {} has no surface; the values are above {low} and up to {high}",
                missing.join(",")
            ));
        }
    }

    /// Returns the reason why there is no surface in a place of a volume with values in this range.
    pub(crate) fn reason_for_nothing(&self, range: [f64; 2], place: &str) -> String {
        let [low, high] = range;
        if self.has_surface(range) {
            format!("no surface is in the {place}; see --iso")
        } else if low == high {
            format!("all voxels are {low}, so that there is no surface; see --iso")
        } else {
            format!("no isovalue is above {low} and up to {high}; see --iso")
        }
    }
}

/// Returns true if a surface can have a value: it is above the lowest voxel.
fn is_among(value: f64, [low, high]: [f64; 2]) -> bool {
    low < value && value <= high
}
