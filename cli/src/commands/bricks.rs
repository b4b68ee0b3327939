//! `raddle bricks`: writes a volume as a file of bricks, each of which can be read by itself.

use std::io::{BufWriter, IntoInnerError};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};
use raddle_graphics::volume::{
    BRICK_EDGE_MAX, BrickFileOptions, BrickFileReport, VoxelSource, write_bricks,
};
use raddle_trace::whole_file::WholeFile;

use crate::arguments::values::FormulaChoice;
use crate::arguments::{Options, VolumeArguments};
use crate::error::CliError;
use crate::progress::Phase;
use crate::report::{ByteCount, Facts, RanOn, Report};
use crate::volume_input::{VolumeInput, describe_voxels, grid_of_scene};
use crate::{output, units, workers};

pub(super) const EXAMPLES: &str = "\
Examples:
  raddle bricks head.nrrd -o head.bricks
  raddle bricks --scene spheres:1024 -o spheres.bricks --brick 16 --level 9
  raddle dirt head.bricks --iso 400 -o skull.png --nodes 4

The file has the voxels in cubes, which are compressed one by one, and the smallest and the largest
value of each block of 4 × 4 × 4 cells. All commands read it like other volumes. raddle dirt reads
only the bricks that its rays need. A --scene is generated slab by slab, so that it may be larger
than the memory.";

/// `raddle bricks`.
#[derive(Debug, Clone, Args)]
pub(crate) struct BricksArguments {
    #[command(flatten)]
    input: VolumeArguments,
    /// File for the bricks
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: PathBuf,
    /// Voxels along an edge of a brick
    #[arg(long, value_name = "VOXELS", default_value_t = 12)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=BRICK_EDGE_MAX as i64))]
    brick: u16,
    /// Level of compression by zstd: higher ones take longer, and less space
    #[arg(long, value_name = "LEVEL", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(i32).range(1..=22))]
    level: i32,
}

/// Writes the file.
///
/// # Errors
/// [`CliError`]. A path that cannot be written is detected before any work is done.
pub(super) fn run(arguments: &BricksArguments, options: &Options) -> Result<Report, CliError> {
    output::check_apart(&arguments.output, arguments.input.file.as_deref())?;
    let file = output::begin_file(&arguments.output)?;
    let runtime = workers::start(options)?;
    let (facts, counts, time) = runtime.install(|| match arguments.input.scene {
        Some(choice) => {
            let grid = grid_of_scene(choice, arguments.input.reading.spacing)?;
            let source = (choice.formula, grid);
            let (counts, time) = write(&source, file, arguments, options.quiet)?;
            Ok((facts_of(choice, &source), counts, time))
        }
        None => {
            let input = VolumeInput::get(&arguments.input, options.quiet)?;
            input.check_apart(&arguments.output)?;
            let (counts, time) = write(
                &(&input.volume, input.offset),
                file,
                arguments,
                options.quiet,
            )?;
            Ok::<_, CliError>((input.facts, counts, time))
        }
    })?;
    let mut report = Report::new();
    report.section("input", &facts);
    describe(&counts, arguments, &mut report);
    report
        .quantity("written in", "write_s", &time)
        .row("file", arguments.output.display().to_string())
        .field("file", arguments.output.display().to_string())
        .memory_peak();
    Ok(report.on(RanOn::Workers(runtime)))
}

/// Writes the bricks of a volume, and returns the time that it took.
fn write(
    source: &impl VoxelSource,
    file: WholeFile,
    arguments: &BricksArguments,
    quiet: bool,
) -> Result<(BrickFileReport, Duration), CliError> {
    let phase = Phase::begin("writing", quiet);
    let options = BrickFileOptions {
        edge: arguments.brick.into(),
        level: arguments.level,
    };
    let mut writer = BufWriter::new(file);
    let written = write_bricks(source, options, &mut writer, |done, all| {
        phase.at(done as u64, all as u64);
    });
    let written = written.and_then(|counts| {
        let file = writer.into_inner().map_err(IntoInnerError::into_error)?;
        file.finish().map(|()| counts)
    });
    let counts = written.map_err(|error| output::output_error(&arguments.output, error))?;
    Ok((counts, phase.elapsed()))
}

/// Describes a volume that is generated slab by slab.
fn facts_of(choice: FormulaChoice, source: &impl VoxelSource) -> Facts {
    let mut facts = Facts::new();
    facts
        .row("scene", format!("{} (generated)", choice.formula))
        .field("scene", choice.formula.to_string());
    describe_voxels(&mut facts, &source.grid(), source.kind());
    facts
}

fn describe(counts: &BrickFileReport, arguments: &BricksArguments, report: &mut Report) {
    let share = counts.file_bytes as f64 / counts.voxel_bytes as f64;
    let [low, high] = counts.range;
    report
        .row("range", format!("{low} to {high}"))
        .field("range", counts.range)
        .row(
            "bricks",
            format!(
                "{} of {}³ voxels",
                units::grouped(counts.bricks),
                arguments.brick
            ),
        )
        .field("bricks", counts.bricks)
        .field("brick_edge", arguments.brick)
        .quantity("voxels take", "voxel_bytes", &ByteCount(counts.voxel_bytes))
        .row(
            "file takes",
            format!(
                "{} ({:.1} % of the voxels)",
                units::bytes(counts.file_bytes),
                100.0 * share
            ),
        )
        .field("file_bytes", counts.file_bytes);
}
