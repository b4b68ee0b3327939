//! Facts that the file of a volume may lack.

use std::path::Path;

use clap::Args;
use glam::DVec3;
use raddle_graphics::volume::LoadOptions;

use super::values;
use crate::error::CliError;

/// Facts that the file of a volume may lack, and a choice among several volumes.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ReadArguments {
    /// Voxels along x, y and z of a raw file [default: in the name, as in head_256x256x113_u8.raw]
    #[arg(long, value_name = "XxYxZ", value_parser = values::volume_size)]
    #[arg(conflicts_with = "scene")]
    raw_size: Option<[u64; 3]>,
    /// Type of the voxels of a raw file: u8, i8, u16, i16, f32 and more, with le or be
    #[arg(long, value_name = "TYPE", conflicts_with = "scene")]
    raw_type: Option<String>,
    /// Distances between voxels [default: those in the file]
    #[arg(long, value_name = "X,Y,Z", value_parser = values::spacing)]
    pub(crate) spacing: Option<DVec3>,
    /// Number or UID of the series to read from a folder with several DICOM series
    #[arg(long, value_name = "NUMBER", conflicts_with = "scene")]
    series: Option<String>,
    /// Name of the array to read from VTK image data [default: the active scalars, or the first]
    #[arg(long, value_name = "NAME", conflicts_with = "scene")]
    array: Option<String>,
}

impl ReadArguments {
    /// Returns true if a file is raw, whatever its name and its content are.
    pub(crate) fn is_raw(&self) -> bool {
        self.raw_size.is_some() || self.raw_type.is_some()
    }

    /// Returns the options for the loader of volumes.
    ///
    /// # Errors
    /// [`CliError::WrongCall`] for a series of a file, in which there is nothing to choose.
    pub(crate) fn load_options(&self, path: &Path) -> Result<LoadOptions, CliError> {
        if let Some(series) = &self.series
            && path.is_file()
        {
            return Err(CliError::WrongCall {
                options: format!("--series {series}"),
                reason: format!(
                    "{} is a file; expected the folder of a series",
                    path.display()
                ),
            });
        }
        Ok(LoadOptions {
            raw_size: self.raw_size,
            raw_type: self.raw_type.clone(),
            spacing: self.spacing,
            series: self.series.clone(),
            array: self.array.clone(),
            ..LoadOptions::default()
        })
    }

    /// Checks that none of them is given, for content that is no volume.
    ///
    /// # Errors
    /// [`CliError::WrongCall`] names those that are.
    pub(crate) fn check_unused(&self) -> Result<(), CliError> {
        match self.options() {
            given if given.is_empty() => Ok(()),
            given => Err(CliError::WrongCall {
                options: given.join(" "),
                reason: "the input is no volume; expected one".to_owned(),
            }),
        }
    }

    /// Returns the options that were given, with their values.
    pub(crate) fn options(&self) -> Vec<String> {
        let size = self
            .raw_size
            .map(|[x, y, z]| format!("--raw-size {x}x{y}x{z}"));
        let raw_type = self
            .raw_type
            .as_ref()
            .map(|name| format!("--raw-type {name}"));
        let spacing = self
            .spacing
            .map(|DVec3 { x, y, z }| format!("--spacing {x},{y},{z}"));
        let series = self.series.as_ref().map(|name| format!("--series {name}"));
        let array = self.array.as_ref().map(|name| format!("--array {name}"));
        [size, raw_type, spacing, series, array]
            .into_iter()
            .flatten()
            .collect()
    }
}
