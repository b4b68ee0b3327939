//! The input of the commands that accept volumes and meshes.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use glam::DVec3;
use raddle_graphics::content::Content;

use super::values::{self, ContentChoice};
use super::{InputArguments, VolumeArguments};
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
    #[arg(conflicts_with_all = ["file", "raw_size", "raw_type", "series"])]
    scene: Option<ContentChoice>,
    /// Voxels along x, y and z of a raw file [default: in the name, as in head_256x256x113_u8.raw]
    #[arg(long, value_name = "XxYxZ", value_parser = values::volume_size)]
    raw_size: Option<[u64; 3]>,
    /// Type of the voxels of a raw file: u8, i8, u16, i16, f32 and more, with le or be
    #[arg(long, value_name = "TYPE")]
    raw_type: Option<String>,
    /// Distances between voxels [default: those in the file]
    #[arg(long, value_name = "X,Y,Z", value_parser = values::spacing)]
    spacing: Option<DVec3>,
    /// Number or UID of the series to read from a folder with several DICOM series
    #[arg(long, value_name = "NUMBER")]
    series: Option<String>,
}

/// The arguments of a command that accepts only one kind of content.
#[derive(Debug)]
pub(crate) enum ContentInput {
    Volume(VolumeArguments),
    Mesh(InputArguments),
    /// A file that does not look like either. The loader of volumes tells the reason.
    Unknown(VolumeArguments),
}

impl ContentArguments {
    /// Finds out whether the input is a volume or a mesh.
    ///
    /// # Errors
    /// [`CliError::File`] if the file cannot be read, [`CliError::WrongCall`] for a series of a
    /// file.
    pub(crate) fn input(&self) -> Result<ContentInput, CliError> {
        let (formula, scene) = match self.scene {
            Some(ContentChoice::Volume(choice)) => (Some(choice), None),
            Some(ContentChoice::Mesh(choice)) => (None, Some(choice)),
            None => (None, None),
        };
        let content = match (&self.file, self.raw_size) {
            (Some(file), None) => Content::of(file)?,
            _ if scene.is_some() => Some(Content::Mesh),
            _ => Some(Content::Volume),
        };
        let volume = VolumeArguments {
            file: self.file.clone(),
            scene: formula,
            raw_size: self.raw_size,
            raw_type: self.raw_type.clone(),
            spacing: self.spacing,
            series: self.series.clone(),
        };
        volume.check_series()?;
        Ok(match content {
            Some(Content::Mesh) => ContentInput::Mesh(InputArguments {
                file: volume.file,
                scene,
            }),
            Some(_) => ContentInput::Volume(volume),
            None => ContentInput::Unknown(volume),
        })
    }
}
