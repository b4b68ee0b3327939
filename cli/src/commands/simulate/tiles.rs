//! The tiles of a real run, for `raddle simulate tracer --tiles`.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use raddle_model::simulate::tracer::Supervised;
use raddle_timeline::{ReadError, Timeline, Value};

use crate::commands::dirt::timeline::{FRAME, MISSES, NUMBER, TILE, WORK};
use crate::error::CliError;

/// Reads the tiles of a timeline that `raddle dirt --trace` has written. Those of its middle frame
/// count.
///
/// # Errors
/// [`CliError`] for a file that cannot be read, or has no tiles.
pub(super) fn read(path: &Path) -> Result<Supervised, CliError> {
    let failed = |error: ReadError| CliError::Recording {
        path: path.to_owned(),
        reason: error.to_string(),
    };
    let file = File::open(path).map_err(|error| failed(ReadError::Input(error)))?;
    let timeline = raddle_timeline::read(BufReader::new(file)).map_err(failed)?;
    let mut tiles: Vec<Tile> = (0..timeline.events().len())
        .filter_map(|event| Tile::of(&timeline, event))
        .collect();
    tiles.sort_by_key(|tile| (tile.frame, tile.number));
    let middle = tiles.get(tiles.len() / 2).map(|tile| tile.frame);
    tiles.retain(|tile| Some(tile.frame) == middle);
    // A tile of a node that has ended was rendered twice.
    tiles.dedup_by_key(|tile| tile.number);
    let shares = tiles
        .iter()
        .map(|tile| [tile.work_ns.max(0.0), tile.misses as f64]);
    Supervised::with_tiles(shares.collect()).map_err(|error| CliError::WrongCall {
        options: format!("--tiles {}", path.display()),
        reason: format!("expected a file that raddle dirt --trace has written ({error})"),
    })
}

/// A tile, its work and its misses.
struct Tile {
    frame: u64,
    number: u64,
    work_ns: f64,
    misses: u64,
}

impl Tile {
    /// Returns the tile of an event, if it is one.
    fn of(timeline: &Timeline, event: usize) -> Option<Self> {
        if timeline.text(timeline.events()[event].category()) != TILE {
            return None;
        }
        let of = |name| {
            let mut all = timeline.arguments(event);
            all.find(|(found, _)| *found == name)
                .map(|(_, value)| value)
        };
        let whole = |name| match of(name)? {
            Value::Unsigned(number) => Some(number),
            _ => None,
        };
        Some(Self {
            frame: whole(FRAME)?,
            number: whole(NUMBER)?,
            work_ns: match of(WORK)? {
                Value::Float(number) => number,
                // JSON writes whole numbers alike.
                Value::Unsigned(number) => number as f64,
                Value::Signed(number) => number as f64,
                _ => return None,
            },
            misses: whole(MISSES)?,
        })
    }
}
