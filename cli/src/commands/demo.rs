//! `raddle` without a command: something to look at, without a file, without a question.

use std::path::PathBuf;

use raddle_graphics::scene::Scene;

use crate::arguments::values::{SceneChoice, Size};
use crate::arguments::{InputArguments, Options, RenderArguments};
use crate::error::CliError;
use crate::{commands, output};

/// Where the picture goes: into the folder that the caller is in.
const PICTURE: &str = "raddle-demo.png";
const TRIANGLES: usize = 500_000;

/// Renders a generated scene and says what was done, where the picture lies and what to do next.
///
/// # Errors
/// As [`commands::render::run`].
pub(crate) fn run(options: &Options) -> Result<(), CliError> {
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
        size: Size {
            width: 1280,
            height: 960,
        },
        samples: 4,
        eye: None,
        look_at: None,
        up: None,
        fov: None,
    };
    let people_read = !options.json && !options.quiet;
    if people_read {
        output::print("Rendering a sphere flake, since no command was given.\n\n")?;
    }
    commands::render::run(&arguments, options)?;
    if people_read {
        output::print(
            "\nA mesh of yours: raddle render FILE -o PICTURE.png. All there is: raddle --help.\n",
        )?;
    }
    Ok(())
}
