//! The input of all commands that need triangles.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use raddle_graphics::mesh::FORMATS;

use super::values::SceneChoice;

/// The source of the triangles.
#[derive(Debug, Clone, Args)]
#[group(id = "input", required = true, multiple = false)]
pub(crate) struct InputArguments {
    /// The file of a mesh.
    #[arg(value_hint = ValueHint::FilePath, help = format!("A mesh: {FORMATS}"))]
    pub(crate) file: Option<PathBuf>,
    /// A generated scene instead of a file: flake, terrain or knot, with about this many triangles
    #[arg(long, value_name = "NAME[:TRIANGLES]")]
    pub(crate) scene: Option<SceneChoice>,
}
