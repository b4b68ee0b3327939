//! `raddle render` on the command line, and the input of all commands that need triangles.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use glam::{DVec3, Vec3};

use super::values::{self, SceneChoice, Size};

pub(crate) const EXAMPLES: &str = "\
Examples:
  raddle render bunny.obj -o bunny.png
  raddle render --scene flake -o flake.png --size 1280x720 --samples 16
  raddle render sponza.glb -o hall.png --eye=-10,2,0 --look-at=0,2,0 --fov 70
  raddle render dragon.ply.zst -o dragon.exr --workers 2 --stats

Meshes: PLY, OBJ, STL and binary glTF, each also as .gz or .zst. Pictures: .png, .ppm, .exr.";

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

/// `raddle render`.
#[derive(Debug, Clone, Args)]
pub(crate) struct RenderArguments {
    #[command(flatten)]
    pub(crate) input: InputArguments,
    /// File for the picture; its extension (.png, .ppm or .exr) selects the format
    #[arg(short, long, value_name = "PICTURE", value_hint = ValueHint::FilePath)]
    pub(crate) output: PathBuf,
    /// Width and height in pixels
    #[arg(long, value_name = "WxH", default_value = "1024x768")]
    pub(crate) size: Size,
    /// Samples per pixel
    #[arg(long, value_name = "N", default_value_t = 4)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) samples: u32,
    /// Position of the camera [default: chosen so that the mesh fills the picture]
    #[arg(long, value_name = "X,Y,Z", value_parser = values::vector, allow_hyphen_values = true)]
    pub(crate) eye: Option<DVec3>,
    /// Point that the camera looks at [default: the middle of the mesh]
    #[arg(long, value_name = "X,Y,Z", value_parser = values::vector, allow_hyphen_values = true)]
    pub(crate) look_at: Option<DVec3>,
    /// Direction that is up [default: 0,0,1 for STL, 0,1,0 for all other formats]
    #[arg(long, value_name = "X,Y,Z", value_parser = values::direction)]
    #[arg(allow_hyphen_values = true)]
    pub(crate) up: Option<Vec3>,
    /// Vertical field of view in degrees [default: 32, or 68 inside a building]
    #[arg(long, value_name = "DEGREES", value_parser = values::field_of_view)]
    pub(crate) fov: Option<f32>,
}
