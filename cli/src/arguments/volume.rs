//! The input of the commands that need a volume.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use raddle_graphics::volume::FORMATS;

use super::ReadArguments;
use super::values::FormulaChoice;

/// A volume, and facts that its file may lack.
#[derive(Debug, Clone, Args)]
pub(crate) struct VolumeArguments {
    /// The file of a volume.
    #[arg(value_name = "FILE", value_hint = ValueHint::AnyPath, required_unless_present = "scene")]
    #[arg(help = format!("A volume: {FORMATS}; or the folder of a DICOM series"))]
    pub(crate) file: Option<PathBuf>,
    /// A generated volume instead of a file: spheres or marschner-lobb, with this size
    #[arg(long, value_name = "NAME[:EDGE|:XxYxZ]")]
    #[arg(conflicts_with = "file")]
    pub(crate) scene: Option<FormulaChoice>,
    #[command(flatten)]
    pub(crate) reading: ReadArguments,
}
