//! The pixels of a frame, which tasks share.

use raddle_sync::prim::AtomicU32;
use raddle_sync::prim::Ordering::Relaxed;

use super::TILE_EDGE;

/// The value of a pixel that has neither been traced nor interpolated.
const EMPTY: u32 = u32::MAX;

/// The number of pixels of a tile.
const TILE_LEN: usize = (TILE_EDGE * TILE_EDGE) as usize;

/// The greys of a square picture.
///
/// The grey of a pixel is all that tasks share, so every access is relaxed. The pixels of a tile
/// are one cache line, so that workers on different tiles disturb each other little.
#[derive(Debug)]
pub(super) struct Pixels {
    edge: u32,
    tiles_per_row: u32,
    tiles: Vec<Tile>,
}

/// The pixels of a tile, row by row.
#[derive(Debug)]
#[repr(align(64))]
struct Tile([AtomicU32; TILE_LEN]);

impl Pixels {
    /// Creates a picture without greys.
    pub(super) fn new(edge: u32) -> Self {
        let tiles_per_row = edge.div_ceil(TILE_EDGE);
        let count = tiles_per_row as usize * tiles_per_row as usize;
        let tile = |_| Tile([const { AtomicU32::new(EMPTY) }; TILE_LEN]);
        Self {
            edge,
            tiles_per_row,
            tiles: (0..count).map(tile).collect(),
        }
    }

    /// Returns the number of pixels along each side.
    pub(super) fn edge(&self) -> u32 {
        self.edge
    }

    /// Returns the grey of a pixel, if it is known.
    pub(super) fn get(&self, x: u32, y: u32) -> Option<u32> {
        // Relaxed: as the type says.
        let grey = self.pixel(x, y).load(Relaxed);
        (grey != EMPTY).then_some(grey)
    }

    /// Sets the grey of a pixel.
    pub(super) fn set(&self, x: u32, y: u32, grey: u32) {
        // Relaxed: as the type says.
        self.pixel(x, y).store(grey, Relaxed);
    }

    /// Sets the grey of a pixel, and returns true if it was not known.
    pub(super) fn claim(&self, x: u32, y: u32, grey: u32) -> bool {
        // Relaxed: as the type says.
        let outcome = self
            .pixel(x, y)
            .compare_exchange(EMPTY, grey, Relaxed, Relaxed);
        outcome.is_ok()
    }

    fn pixel(&self, x: u32, y: u32) -> &AtomicU32 {
        let tile = (y / TILE_EDGE) * self.tiles_per_row + x / TILE_EDGE;
        let inner = (y % TILE_EDGE) * TILE_EDGE + x % TILE_EDGE;
        &self.tiles[tile as usize].0[inner as usize]
    }

    /// Returns all pixels, row by row. Unknown ones are black.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let (edge, row_len) = (self.edge as usize, TILE_EDGE as usize);
        let mut bytes = Vec::with_capacity(edge * edge);
        let rows = self.tiles.chunks(self.tiles_per_row as usize);
        for (y, tiles) in rows.flat_map(|tiles| (0..row_len).map(move |y| (y, tiles))) {
            let pixels = tiles
                .iter()
                .flat_map(|Tile(pixels)| &pixels[y * row_len..][..row_len]);
            bytes.extend(pixels.take(edge).map(|grey| {
                // Relaxed: as the type says.
                match grey.load(Relaxed) {
                    EMPTY => 0,
                    grey => grey as u8,
                }
            }));
        }
        bytes.truncate(edge * edge);
        bytes
    }
}
