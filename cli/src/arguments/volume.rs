//! The input of the commands that need a volume.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use glam::DVec3;
use raddle_graphics::volume::FORMATS;

use super::values::{self, FormulaChoice};

/// A volume, and facts that its file may lack.
#[derive(Debug, Clone, Args)]
pub(crate) struct VolumeArguments {
    /// The file of a volume.
    #[arg(value_name = "FILE", value_hint = ValueHint::AnyPath, required_unless_present = "scene")]
    #[arg(help = format!("A volume: {FORMATS}; or the folder of a DICOM series"))]
    pub(crate) file: Option<PathBuf>,
    /// A generated volume instead of a file: spheres or marschner-lobb, with this size
    #[arg(long, value_name = "NAME[:EDGE|:XxYxZ]")]
    #[arg(conflicts_with_all = ["file", "raw_size", "raw_type"])]
    pub(crate) scene: Option<FormulaChoice>,
    /// Voxels along x, y and z of a raw file [default: in the name, as in head_256x256x113_u8.raw]
    #[arg(long, value_name = "XxYxZ", value_parser = values::volume_size)]
    pub(crate) raw_size: Option<[u64; 3]>,
    /// Type of the voxels of a raw file: u8, i8, u16, i16, f32 and more, with le or be
    #[arg(long, value_name = "TYPE")]
    pub(crate) raw_type: Option<String>,
    /// Distances between voxels [default: those in the file]
    #[arg(long, value_name = "X,Y,Z", value_parser = values::vector)]
    pub(crate) spacing: Option<DVec3>,
}
