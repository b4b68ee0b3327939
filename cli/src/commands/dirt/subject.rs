//! The volume of `raddle dirt`: facts for the supervisor, and bricks for the nodes that render.

use std::sync::Arc;

use glam::DVec3;
use raddle_graphics::dirt::{Content, DirtOptions};
use raddle_graphics::volume::{BrickLayout, Grid, LateBricks, VolumeBricks};

use super::nodes::failed;
use crate::arguments::VolumeArguments;
use crate::error::{self, CliError};
use crate::report::Facts;
use crate::volume_input::VolumeInput;

/// Facts about a volume, for a process that does not keep its voxels.
#[derive(Debug, Clone)]
pub(super) struct Subject {
    /// The grid of the voxels.
    pub(super) grid: Grid,
    /// The division into bricks.
    pub(super) layout: BrickLayout,
    /// The smallest and the largest voxel.
    pub(super) range: [f64; 2],
    /// The file, for messages.
    pub(super) name: String,
    /// The point of the file that is the origin of the world.
    pub(super) offset: DVec3,
    /// The section `input` of a report.
    pub(super) facts: Facts,
}

/// Reads or generates a volume, and divides it into bricks.
///
/// # Errors
/// Those of [`VolumeInput::get`].
pub(super) fn open(
    arguments: &VolumeArguments,
    options: &DirtOptions,
    quiet: bool,
) -> Result<(Subject, Content), CliError> {
    let VolumeInput {
        volume,
        macrocells,
        name,
        offset,
        facts,
        ..
    } = VolumeInput::get(arguments, quiet)?;
    let (grid, kind) = (*volume.grid(), volume.voxels().kind());
    let layout = BrickLayout::new(&grid, options.brick_edge, kind.bytes());
    let layout = layout.map_err(|error| failed(error.into()))?;
    let subject = Subject {
        grid,
        layout,
        range: macrocells.range(),
        name,
        offset,
        facts,
    };
    // A node that replaces another one reads the volume again.
    let again = arguments.clone();
    let backup = LateBricks::new(layout, move || {
        let read = VolumeInput::get(&again, true).map(|input| input.volume);
        read.map_err(|error| error::one_line(&error))
    });
    let content = Content {
        grid,
        kind,
        macrocells: Arc::new(macrocells),
        source: Arc::new(VolumeBricks::new(Arc::new(volume), layout)),
        is_in_memory: true,
        backup: Some(Arc::new(backup)),
    };
    Ok((subject, content))
}
