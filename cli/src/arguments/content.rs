//! The input of the commands that accept volumes and meshes.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use raddle_graphics::content::Content;

use super::values::ContentChoice;
use super::{InputArguments, ReadArguments, VolumeArguments};
use crate::error::CliError;

/// A file or a generated scene, and facts that a file may lack.
#[derive(Debug, Clone, Args)]
pub(crate) struct ContentArguments {
    /// The file.
    #[arg(value_name = "FILE", value_hint = ValueHint::AnyPath, required_unless_present = "scene")]
    pub(crate) file: Option<PathBuf>,
    /// A generated scene instead of a file: spheres or marschner-lobb, with an edge or XxYxZ
    /// voxels, or flake, terrain or knot, with about this many triangles
    #[arg(long, value_name = "NAME[:SIZE]")]
    #[arg(conflicts_with = "file")]
    scene: Option<ContentChoice>,
    #[command(flatten)]
    reading: ReadArguments,
}

/// The arguments of a command that accepts only one kind of content.
#[derive(Debug)]
pub(crate) enum ContentInput {
    Volume(VolumeArguments),
    Mesh(InputArguments),
    /// A file that does not look like either.
    Unknown(PathBuf),
}

impl ContentArguments {
    /// Finds out whether the input is a volume or a mesh.
    ///
    /// # Errors
    /// [`CliError::File`] if the file cannot be read, [`CliError::WrongCall`] for a mesh with
    /// options of volumes.
    pub(crate) fn input(&self) -> Result<ContentInput, CliError> {
        let (formula, scene) = match self.scene {
            Some(ContentChoice::Volume(choice)) => (Some(choice), None),
            Some(ContentChoice::Mesh(choice)) => (None, Some(choice)),
            None => (None, None),
        };
        let content = match &self.file {
            Some(file) if !self.reading.is_raw() => Content::of(file)?,
            _ if scene.is_some() => Some(Content::Mesh),
            _ => Some(Content::Volume),
        };
        if content != Some(Content::Volume) {
            self.reading.check_unused()?;
        }
        let volume = VolumeArguments {
            file: self.file.clone(),
            scene: formula,
            reading: self.reading.clone(),
        };
        Ok(match content {
            Some(Content::Mesh) => ContentInput::Mesh(InputArguments {
                file: volume.file,
                scene,
            }),
            Some(_) => ContentInput::Volume(volume),
            None => ContentInput::Unknown(volume.file.unwrap_or_default()),
        })
    }
}
