//! The input of all commands that need triangles.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::values::SceneChoice;

/// The source of the triangles.
#[derive(Debug, Clone, Args)]
#[group(id = "input", required = true, multiple = false)]
pub(crate) struct InputArguments {
    /// A mesh: PLY, OBJ, STL or binary glTF, also as .gz or .zst
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
    /// A generated scene instead of a file: flake, terrain or knot, with about this many triangles
    #[arg(long, value_name = "NAME[:TRIANGLES]")]
    pub(crate) scene: Option<SceneChoice>,
}
