//! The input of the commands that need a volume.

use std::path::{Path, PathBuf};

use glam::{DMat3, DVec3};
use raddle_graphics::volume::{GenerateError, Grid, Loaded, Macrocells, Volume, VoxelKind};
use serde_json::json;

use crate::arguments::VolumeArguments;
use crate::arguments::values::FormulaChoice;
use crate::error::CliError;
use crate::progress::Phase;
use crate::report::{Facts, Plain};
use crate::{output, units};

/// The number of ranges of the histogram from which the default transfer function is derived.
pub(crate) const BIN_COUNT: usize = 256;
/// The largest integer up to which an `f32` represents all integers.
const F32_EXACT_MAX: u32 = 1 << f32::MANTISSA_DIGITS;

/// A volume, its ranges, and facts about its origin.
#[derive(Debug)]
pub(crate) struct VolumeInput {
    /// The voxels.
    pub(crate) volume: Volume,
    /// The ranges of its blocks.
    pub(crate) macrocells: Macrocells,
    /// The file, for messages.
    pub(crate) name: String,
    /// The point of the file that is the origin of the world.
    pub(crate) offset: DVec3,
    /// The files that it was read from.
    pub(crate) files: Vec<PathBuf>,
    /// The section `input` of a report.
    pub(crate) facts: Facts,
}

impl VolumeInput {
    /// Loads the file or generates the volume that the arguments name, and computes the ranges with
    /// the workers of the calling thread's runtime.
    ///
    /// # Errors
    /// [`CliError::File`] names the file and the place in it, [`CliError::Generate`] a volume that
    /// is too large for the memory, [`CliError::WrongCall`] a series of something that is no
    /// folder.
    pub(crate) fn get(arguments: &VolumeArguments, quiet: bool) -> Result<Self, CliError> {
        match (&arguments.file, arguments.scene) {
            (Some(path), _) => Self::load(path, arguments, quiet),
            (None, Some(choice)) => Self::generate(choice, arguments.reading.spacing, quiet),
            (None, None) => unreachable!("the command line requires one of them"),
        }
    }

    fn generate(
        choice: FormulaChoice,
        spacing: Option<DVec3>,
        quiet: bool,
    ) -> Result<Self, CliError> {
        let name = choice.to_string();
        let failed = |source: GenerateError| CliError::Generate {
            input: name.clone(),
            source: Box::new(source),
        };
        let phase = Phase::begin("generating", quiet);
        // An axis that is too long for this machine is too long for a volume.
        let size = choice
            .size
            .map(|len| usize::try_from(len).unwrap_or(usize::MAX));
        let volume = choice.formula.volume(size).map_err(failed)?;
        let volume = match spacing {
            Some(spacing) => volume
                .with_geometry(spacing, DVec3::ZERO, DMat3::IDENTITY)
                .map_err(|source| failed(source.into()))?,
            None => volume,
        };
        let time = phase.elapsed();
        drop(phase);
        let macrocells = Macrocells::of(&volume);
        let mut facts = Facts::new();
        facts
            .row("scene", format!("{} (generated)", choice.formula))
            .field("scene", choice.formula.to_string());
        describe(&mut facts, &volume, &macrocells, DVec3::ZERO);
        facts.quantity("generated in", "load_s", &time);
        Ok(Self {
            volume,
            macrocells,
            name,
            offset: DVec3::ZERO,
            files: Vec::new(),
            facts,
        })
    }

    /// Returns the lower and the upper corner of the box around the voxels, in the coordinates of
    /// the file.
    pub(crate) fn corners(&self) -> [DVec3; 2] {
        let bounds = self.volume.bounds();
        [bounds.min, bounds.max].map(|corner| corner.as_dvec3() + self.offset)
    }

    /// Checks that an output is none of the files of the volume, which would be lost.
    ///
    /// # Errors
    /// [`CliError::OutputIsInput`].
    pub(crate) fn check_apart(&self, output: &Path) -> Result<(), CliError> {
        output::check_apart(output, self.files.iter().map(PathBuf::as_path))
    }

    /// Warns that there is nothing in a result.
    pub(crate) fn warn_of_nothing(&self, reason: &str) {
        let name = &self.name;
        output::warn(&format!("{name}: {reason}, --clip and --eye"));
    }

    fn load(path: &Path, arguments: &VolumeArguments, quiet: bool) -> Result<Self, CliError> {
        let options = arguments.reading.load_options(path)?;
        let phase = Phase::begin("loading", quiet);
        let loaded = Volume::load_with(path, &options, |progress| {
            if let Some(total) = progress.bytes_total {
                phase.at(progress.bytes_read, total);
            }
        })?;
        drop(phase);
        let macrocells = Macrocells::of(&loaded.volume);
        let name = path.display().to_string();
        if loaded.report.trailing_bytes > 0 && !quiet {
            let count = loaded.report.trailing_bytes;
            output::warn(&format!("{name}: {count} bytes after the end ignored"));
        }
        if is_rounded(&loaded, &macrocells) && !quiet {
            let file_type = loaded.report.file_type;
            output::warn(&format!(
                "{name}: voxels of type {file_type} became f32, which rounds integers above \
                 {F32_EXACT_MAX}"
            ));
        }
        let facts = facts_of(&name, &loaded, &macrocells);
        Ok(Self {
            volume: loaded.volume,
            macrocells,
            name,
            offset: loaded.report.offset,
            files: loaded.report.files,
            facts,
        })
    }
}

/// Returns true if an `f32` may not represent all integers of a file, such as labels.
fn is_rounded(loaded: &Loaded, macrocells: &Macrocells) -> bool {
    let is_wide = ["u32", "i32", "u64", "i64"].contains(&loaded.report.file_type);
    let [low, high] = macrocells.range();
    // The next integer becomes the largest exact one.
    is_wide && low.abs().max(high.abs()) >= f64::from(F32_EXACT_MAX)
}

/// Describes a volume that was loaded from a file.
fn facts_of(name: &str, loaded: &Loaded, macrocells: &Macrocells) -> Facts {
    let (volume, report) = (&loaded.volume, &loaded.report);
    let mut facts = Facts::new();
    facts
        .quantity("file", "file", &Plain(name.to_owned()))
        .row(
            "format",
            format!(
                "{}, compression {}, {}",
                report.format,
                report.compression,
                units::bytes(report.file_bytes)
            ),
        )
        .field("format", report.format.to_string())
        .field("compression", report.compression.to_string())
        .field("file_bytes", report.file_bytes)
        .field("files", report.files.len())
        .field("trailing_bytes", report.trailing_bytes)
        .field("images_left_out", report.images_left_out)
        .field("array", report.array.as_deref())
        .field("arrays_left_out", &report.arrays_left_out);
    if report.images_left_out > 0 {
        let count = report.images_left_out;
        facts.row("images left out", format!("{count}, of other series"));
    }
    if let Some(name) = &report.array {
        facts.row("array", format!("{name:?}"));
    }
    if !report.arrays_left_out.is_empty() {
        let names = report
            .arrays_left_out
            .iter()
            .map(|name| format!("{name:?}"));
        facts.row("arrays left out", names.collect::<Vec<_>>().join(", "));
    }
    describe(&mut facts, volume, macrocells, report.offset);
    facts.field("file_type", report.file_type);
    if report.file_type != volume.voxels().type_name() {
        facts.row("type in the file", report.file_type);
    }
    facts.quantity("loaded in", "load_s", &report.time);
    facts
}

/// Returns the grid of a generated volume.
///
/// # Errors
/// [`CliError::Generate`] for a size or a spacing that is out of range.
pub(crate) fn grid_of_scene(
    choice: FormulaChoice,
    spacing: Option<DVec3>,
) -> Result<Grid, CliError> {
    // An axis that is too long for this machine is too long for a volume.
    let size = choice
        .size
        .map(|len| usize::try_from(len).unwrap_or(usize::MAX));
    let grid = Grid::new(size).and_then(|grid| match spacing {
        Some(spacing) => grid.with_geometry(spacing, DVec3::ZERO, DMat3::IDENTITY),
        None => Ok(grid),
    });
    grid.map_err(|source| CliError::Generate {
        input: choice.to_string(),
        source: Box::new(source.into()),
    })
}

/// Describes the number and the type of the voxels.
pub(crate) fn describe_voxels(facts: &mut Facts, grid: &Grid, kind: VoxelKind) {
    let [x, y, z] = grid.size();
    facts
        .row("voxels", format!("{x} × {y} × {z} of type {}", kind.name()))
        .field("size", grid.size())
        .field("type", kind.name());
}

/// Describes the voxels and their place in the world.
fn describe(facts: &mut Facts, volume: &Volume, macrocells: &Macrocells, offset: DVec3) {
    let spacing = volume.spacing();
    let [low, high] = macrocells.range();
    describe_voxels(facts, volume.grid(), volume.voxels().kind());
    facts
        .field("voxel_bytes", volume.voxels().bytes())
        .field("spacing", spacing.to_array())
        .field("origin", (volume.origin() + offset).to_array())
        .field("direction", volume.direction().to_cols_array_2d())
        .row("range", format!("{low} to {high}"))
        .field("range", json!([low, high]));
    if spacing != DVec3::ONE {
        facts.row(
            "spacing",
            format!("{}, {}, {}", spacing.x, spacing.y, spacing.z),
        );
    }
    let origin = volume.origin() + offset;
    if origin != DVec3::ZERO {
        facts.row(
            "origin",
            format!("{}, {}, {}", origin.x, origin.y, origin.z),
        );
    }
    if volume.direction() != DMat3::IDENTITY {
        let axis = |axis: usize| {
            let DVec3 { x, y, z } = volume.direction().col(axis);
            format!("{x:.4},{y:.4},{z:.4}")
        };
        facts.row(
            "direction",
            format!("{}, {}, {}", axis(0), axis(1), axis(2)),
        );
    }
}
