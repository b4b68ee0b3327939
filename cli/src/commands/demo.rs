//! `raddle` without a command: renders a scene without asking for a file.

use std::path::PathBuf;

use raddle_graphics::scene::Scene;

use super::render::{self, RenderArguments};
use crate::arguments::values::{SceneChoice, Size};
use crate::arguments::{InputArguments, Options, ViewArguments};
use crate::error::CliError;
use crate::output;
use crate::report::Report;

/// The picture, in the current folder.
const PICTURE: &str = "raddle-demo.png";
const TRIANGLES: usize = 500_000;

/// Renders a generated scene, and reports the work, the picture and what to try next.
///
/// # Errors
/// Those of [`render::run`].
pub(super) fn run(options: &Options) -> Result<Report, CliError> {
    let picture = PathBuf::from(PICTURE);
    let arguments = RenderArguments {
        input: InputArguments {
            file: None,
            scene: Some(SceneChoice {
                scene: Scene::Flake,
                triangle_count: TRIANGLES,
            }),
        },
        output: std::path::absolute(&picture).unwrap_or(picture),
        from: None,
        view: ViewArguments::of(
            Size {
                width: 1280,
                height: 960,
            },
            4,
        ),
    };
    if !options.json && !options.quiet {
        output::print_ahead("Rendering a sphere flake, since no command was given.\n\n")?;
    }
    let mut report = render::run(&arguments, options)?;
    report.closing(
        "\nA mesh of yours: raddle render FILE -o PICTURE.png. All commands: raddle --help.\n",
    );
    Ok(report)
}
