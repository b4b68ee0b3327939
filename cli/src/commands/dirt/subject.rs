//! The volume of `raddle dirt`: facts for the supervisor, and bricks for the nodes that render.

use std::path::Path;
use std::sync::Arc;

use glam::DVec3;
use raddle::net::bricks::BrickSource;
use raddle_graphics::dirt::{Content, DirtOptions};
use raddle_graphics::volume::{
    BrickFile, BrickLayout, FormulaBricks, GenerateError, Grid, Histogram, LateBricks, ValueRanges,
    VolumeBricks, VoxelKind,
};
use serde_json::json;

use super::arguments::BrickOrigin;
use super::nodes::failed;
use crate::arguments::VolumeArguments;
use crate::arguments::values::FormulaChoice;
use crate::error::{self, CliError};
use crate::report::{Facts, Plain};
use crate::volume_input::{BIN_COUNT, VolumeInput, describe_voxels, grid_of_scene};

/// Facts about a volume, for a process that does not keep its voxels.
#[derive(Debug, Clone)]
pub(super) struct Subject {
    /// The grid of the voxels.
    pub(super) grid: Grid,
    /// The division into bricks.
    pub(super) layout: BrickLayout,
    /// The smallest and the largest voxel.
    pub(super) range: [f64; 2],
    /// The histogram of the voxels, or an estimate.
    pub(super) histogram: Histogram,
    /// The type of the voxels.
    pub(super) type_name: &'static str,
    /// The file, for messages.
    pub(super) name: String,
    /// The point of the file that is the origin of the world.
    pub(super) offset: DVec3,
    /// The section `input` of a report.
    pub(super) facts: Facts,
}

/// Reads or generates a volume, and divides it into bricks. A scene that is generated `on_demand`
/// needs no memory here.
///
/// # Errors
/// Those of [`VolumeInput::get`].
pub(super) fn open(
    arguments: &VolumeArguments,
    options: &DirtOptions,
    on_demand: bool,
    quiet: bool,
) -> Result<(Subject, Content), CliError> {
    if let (true, Some(choice)) = (on_demand, arguments.scene) {
        return generate(choice, arguments.reading.spacing, options);
    }
    if let Some(path) = arguments
        .file
        .as_deref()
        .filter(|path| BrickFile::is_at(path))
    {
        return open_bricks(path, on_demand);
    }
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
    let range = macrocells.range();
    let ranges = Arc::new(ValueRanges::measured(macrocells));
    let subject = Subject {
        grid,
        layout,
        range,
        histogram: ranges.histogram(BIN_COUNT),
        type_name: kind.name(),
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
        ranges,
        source: Arc::new(VolumeBricks::new(Arc::new(volume), layout)),
        is_in_memory: true,
        backup: Some(Arc::new(backup)),
    };
    Ok((subject, content))
}

/// Returns the origin of the bricks of a call.
///
/// # Errors
/// [`CliError::File`] for a file of bricks that is damaged.
pub(super) fn origin(arguments: &VolumeArguments) -> Result<BrickOrigin, CliError> {
    if arguments.scene.is_some() {
        return Ok(BrickOrigin::Scene);
    }
    let file = arguments.file.as_deref();
    match file.filter(|path| BrickFile::is_at(path)) {
        Some(path) => Ok(BrickOrigin::File {
            path: path.to_owned(),
            edge: BrickFile::open(path)?.layout().edge(),
        }),
        None => Ok(BrickOrigin::Volume),
    }
}

/// Opens a file of bricks, of which each node reads only those that it needs.
fn open_bricks(path: &Path, on_demand: bool) -> Result<(Subject, Content), CliError> {
    let file = BrickFile::open(path)?;
    let ranges = ValueRanges::measured(file.macrocells()?);
    let name = path.display().to_string();
    let mut facts = facts_of(file.grid(), file.kind(), ranges.range());
    facts.quantity("file", "file", &Plain(name.clone()));
    let bricks = Bricks {
        grid: *file.grid(),
        kind: file.kind(),
        layout: *file.layout(),
        ranges,
        name,
        offset: file.offset(),
        facts,
        is_in_memory: !on_demand,
    };
    Ok(bricks.from(Arc::new(file)))
}

/// Facts about bricks that are read or generated one by one.
struct Bricks {
    grid: Grid,
    kind: VoxelKind,
    layout: BrickLayout,
    ranges: ValueRanges,
    name: String,
    offset: DVec3,
    facts: Facts,
    is_in_memory: bool,
}

impl Bricks {
    /// Returns a volume of these bricks from a source, which replaces nodes that end, too.
    fn from(self, source: Arc<dyn BrickSource>) -> (Subject, Content) {
        let Self { grid, kind, .. } = self;
        let subject = Subject {
            grid,
            layout: self.layout,
            range: self.ranges.range(),
            histogram: self.ranges.histogram(BIN_COUNT),
            type_name: kind.name(),
            name: self.name,
            offset: self.offset,
            facts: self.facts,
        };
        let content = Content {
            grid,
            kind,
            ranges: Arc::new(self.ranges),
            backup: Some(Arc::clone(&source)),
            source,
            is_in_memory: self.is_in_memory,
        };
        (subject, content)
    }
}

/// Describes a volume that is not read as a whole.
fn facts_of(grid: &Grid, kind: VoxelKind, [low, high]: [f64; 2]) -> Facts {
    let mut facts = Facts::new();
    describe_voxels(&mut facts, grid, kind);
    facts
        .row("range", format!("{low} to {high}"))
        .field("range", json!([low, high]));
    facts
}

/// Divides a volume into bricks that are generated when they are needed.
fn generate(
    choice: FormulaChoice,
    spacing: Option<DVec3>,
    options: &DirtOptions,
) -> Result<(Subject, Content), CliError> {
    let name = choice.to_string();
    let failed = |source: GenerateError| CliError::Generate {
        input: name.clone(),
        source: Box::new(source),
    };
    let formula = choice.formula;
    let grid = grid_of_scene(choice, spacing)?;
    let size = grid.size();
    let bricks = FormulaBricks::new(formula, size, options.brick_edge).map_err(failed)?;
    let ranges = ValueRanges::of_formula(formula, size).map_err(failed)?;
    let kind = formula.kind();
    let mut facts = facts_of(&grid, kind, ranges.range());
    facts
        .row("scene", format!("{formula} (generated on demand)"))
        .field("scene", formula.to_string());
    let described = Bricks {
        grid,
        kind,
        layout: *bricks.layout(),
        ranges,
        name,
        offset: DVec3::ZERO,
        facts,
        is_in_memory: false,
    };
    Ok(described.from(Arc::new(bricks)))
}
