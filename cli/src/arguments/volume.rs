//! The input and the view of the commands that render volumes.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use glam::{DVec3, Vec3};
use raddle_graphics::camera::View;
use raddle_graphics::render::FrameOptions;
use raddle_graphics::volume::FORMATS;

use super::values::{self, Clip, FormulaChoice, Size};
use crate::error::CliError;

/// A volume, and facts that its file may lack.
#[derive(Debug, Clone, Args)]
pub(crate) struct VolumeArguments {
    /// The file of a volume.
    #[arg(value_name = "FILE", value_hint = ValueHint::AnyPath, required_unless_present = "scene")]
    #[arg(help = format!("A volume: {FORMATS}; or the folder of a DICOM series"))]
    pub(crate) file: Option<PathBuf>,
    /// A generated volume instead of a file: spheres or marschner-lobb, with this size
    #[arg(long, value_name = "NAME[:EDGE|:XxYxZ]")]
    #[arg(conflicts_with_all = ["file", "raw_size", "raw_type", "series"])]
    pub(crate) scene: Option<FormulaChoice>,
    /// Voxels along x, y and z of a raw file [default: in the name, as in head_256x256x113_u8.raw]
    #[arg(long, value_name = "XxYxZ", value_parser = values::volume_size)]
    pub(crate) raw_size: Option<[u64; 3]>,
    /// Type of the voxels of a raw file: u8, i8, u16, i16, f32 and more, with le or be
    #[arg(long, value_name = "TYPE")]
    pub(crate) raw_type: Option<String>,
    /// Distances between voxels [default: those in the file]
    #[arg(long, value_name = "X,Y,Z", value_parser = values::spacing)]
    pub(crate) spacing: Option<DVec3>,
    /// Number or UID of the series to read from a folder with several DICOM series
    #[arg(long, value_name = "NUMBER")]
    pub(crate) series: Option<String>,
}

impl VolumeArguments {
    /// Checks that a series is one of a folder.
    ///
    /// # Errors
    /// [`CliError::WrongCall`] for a series of a file, in which there is nothing to choose.
    pub(crate) fn check_series(&self) -> Result<(), CliError> {
        match (&self.series, &self.file) {
            (Some(series), Some(file)) if file.is_file() => Err(CliError::WrongCall {
                options: format!("--series {series}"),
                reason: format!(
                    "{} is a file; expected the folder of a series",
                    file.display()
                ),
            }),
            _ => Ok(()),
        }
    }
}

/// The camera and the size of a picture of a volume.
#[derive(Debug, Clone, Args)]
pub(crate) struct ViewArguments {
    /// Width and height in pixels
    #[arg(long, value_name = "WxH", default_value = "768x768")]
    pub(crate) size: Size,
    /// Samples per pixel
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) samples: u32,
    /// Position of the camera [default: outside, 1.9 times the longest side from the middle]
    #[arg(long, value_name = "X,Y,Z", value_parser = values::vector, allow_hyphen_values = true)]
    pub(crate) eye: Option<DVec3>,
    /// Point that the camera looks at [default: the middle of the volume]
    #[arg(long, value_name = "X,Y,Z", value_parser = values::vector, allow_hyphen_values = true)]
    pub(crate) look_at: Option<DVec3>,
    /// Direction that is up [default: 0,0,1]
    #[arg(long, value_name = "X,Y,Z", value_parser = values::direction)]
    #[arg(allow_hyphen_values = true)]
    pub(crate) up: Option<Vec3>,
    /// Vertical field of view in degrees [default: 45]
    #[arg(long, value_name = "DEGREES", value_parser = values::field_of_view)]
    pub(crate) fov: Option<f32>,
    /// Parallel rays: the size of a part does not depend on its distance
    #[arg(long)]
    pub(crate) orthographic: bool,
    /// Show only a part: the smallest and the largest x, y and z
    #[arg(long, value_name = "X0,X1,Y0,Y1,Z0,Z1", value_parser = values::clip)]
    #[arg(allow_hyphen_values = true)]
    pub(crate) clip: Option<Clip>,
}

impl ViewArguments {
    /// Returns the requested properties of the camera.
    pub(crate) fn view(&self) -> View {
        View {
            eye: self.eye.map(|eye| eye.as_vec3()),
            look_at: self.look_at.map(|point| point.as_vec3()),
            up: self.up,
            up_default: None,
            fov_degrees: self.fov,
            is_orthographic: self.orthographic,
        }
    }

    /// Returns the options of the picture.
    pub(crate) fn frame(&self) -> FrameOptions {
        FrameOptions {
            size: (self.size.width, self.size.height),
            samples: self.samples,
            clip: self.clip.map(|clip| clip.moved_by(DVec3::ZERO)),
            ..FrameOptions::default()
        }
    }

    /// Returns the options for the camera that were given, with their values.
    pub(crate) fn given(&self) -> String {
        let vector = |name: &str, value: Option<DVec3>| {
            value.map(|DVec3 { x, y, z }| format!("--{name}={x},{y},{z}"))
        };
        let given = [
            vector("eye", self.eye),
            vector("look-at", self.look_at),
            vector("up", self.up.map(|up| up.as_dvec3())),
            self.fov.map(|degrees| format!("--fov {degrees}")),
        ];
        given.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}
