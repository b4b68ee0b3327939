//! The tiles of a run over time, as a file for Perfetto, and for `raddle simulate tracer --tiles`.

use std::io;
use std::path::Path;

use raddle_graphics::dirt::{ThreadReport, TileTimes};
use raddle_timeline::{Event, Format, Track, Value, Writer};
use raddle_trace::whole_file::WholeFile;

use crate::error::CliError;
use crate::output;

/// The category of the slice of a tile, and the names of its arguments.
pub(in crate::commands) const TILE: &str = "tile";
pub(in crate::commands) const FRAME: &str = "frame";
pub(in crate::commands) const NUMBER: &str = "number";
pub(in crate::commands) const WORK: &str = "work_ns";
pub(in crate::commands) const MISSES: &str = "misses";

/// Writes the tiles of all renderers: a track for each.
///
/// # Errors
/// [`CliError::Output`].
pub(super) fn write(threads: &[ThreadReport], path: &Path) -> Result<(), CliError> {
    let out = output::begin_file(path)?;
    output::finish_file(write_into(threads, Format::of_path(path), out), path)
}

fn write_into(threads: &[ThreadReport], format: Format, out: WholeFile) -> io::Result<WholeFile> {
    let mut writer = Writer::new(format, out)?;
    let mut last = None;
    for thread in threads {
        let Some(renderer) = thread.renderer else {
            continue;
        };
        if last != Some(thread.node) {
            writer.process(thread.node.into(), &format!("node {}", thread.node))?;
            last = Some(thread.node);
        }
        let id = u64::from(thread.node) << 16 | u64::from(renderer);
        writer.track(&Track {
            id,
            process: thread.node.into(),
            thread: u32::from(renderer) + 1,
            name: &format!("renderer {renderer}"),
            rank: renderer.into(),
        })?;
        for tile in &thread.tiles {
            write_tile(tile, id, &mut writer)?;
        }
    }
    writer.finish()
}

/// Writes the wait for a tile, and the tile.
fn write_tile(tile: &TileTimes, track: u64, writer: &mut Writer<WholeFile>) -> io::Result<()> {
    let begun_ns = tile.begun_ns;
    if tile.waited_ns >= 1.0 {
        let from_ns = begun_ns.saturating_sub(tile.waited_ns as u64);
        let wait = Event {
            category: "idle",
            ..Event::named("wait for work")
        };
        writer.slice(track, from_ns, begun_ns, &wait)?;
    }
    let arguments = [
        (FRAME, Value::Unsigned(tile.frame.into())),
        (NUMBER, Value::Unsigned(tile.number.into())),
        (WORK, Value::Float(tile.total_ns - tile.communicate_ns)),
        ("communicate_ns", Value::Float(tile.communicate_ns)),
        (MISSES, Value::Unsigned(tile.misses)),
    ];
    let event = Event {
        category: TILE,
        arguments: &arguments,
        ..Event::named("tile")
    };
    writer.slice(track, begun_ns, begun_ns + tile.total_ns as u64, &event)
}
