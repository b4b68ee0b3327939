//! Tiles: squares of a picture, each of which is a task.

use super::Part;

/// A pixel: red, green and blue, linear.
type Pixel = [f32; 3];

/// A part of a picture.
#[derive(Debug)]
pub(super) struct Tile<'a> {
    left: u32,
    top: u32,
    width: u32,
    height: u32,
    pixels: &'a mut [Pixel],
}

/// Divides a picture into tiles, row by row, and assigns its pixels to them.
///
/// The tiles have `edge` × `edge` pixels, except at the right and the lower border. `pixels` has as
/// many elements as the picture. Each tile gets a contiguous part of them, so that tasks on
/// different tiles share no cache lines inside of them; see [`join_tiles`].
///
/// # Panics
/// Panics if `edge` is 0, or if there are fewer pixels than the size says.
pub(super) fn tiles_of(
    (width, height): (u32, u32),
    edge: u32,
    mut pixels: &mut [Pixel],
) -> Vec<Tile<'_>> {
    let mut tiles =
        Vec::with_capacity((width.div_ceil(edge) as usize) * (height.div_ceil(edge) as usize));
    for top in (0..height).step_by(edge as usize) {
        for left in (0..width).step_by(edge as usize) {
            let (tile_width, tile_height) = (edge.min(width - left), edge.min(height - top));
            let len = (tile_width * tile_height) as usize;
            let (own, rest) = pixels.split_at_mut(len);
            pixels = rest;
            tiles.push(Tile {
                left,
                top,
                width: tile_width,
                height: tile_height,
                pixels: own,
            });
        }
    }
    tiles
}

impl<'a> Tile<'a> {
    /// Returns the tile with the pixels of a part of a picture.
    pub(super) fn of_part(part: Part, pixels: &'a mut [Pixel]) -> Self {
        let ((left, top), (width, height)) = (part.corner, part.size);
        Self {
            left,
            top,
            width,
            height,
            pixels,
        }
    }

    /// Divides the tile into the blocks of a picture with an edge of `edge` pixels: the upper left
    /// corner and the size of each one.
    pub(super) fn blocks(&self, edge: u32) -> impl Iterator<Item = [(u32, u32); 2]> + use<> {
        let parts = move |begin: u32, len: u32| {
            let end = begin + len;
            (begin / edge..end.div_ceil(edge)).map(move |index| {
                let first = begin.max(index * edge);
                (first, end.min((index + 1) * edge) - first)
            })
        };
        let (left, width) = (self.left, self.width);
        parts(self.top, self.height).flat_map(move |(y, height)| {
            parts(left, width).map(move |(x, width)| [(x, y), (width, height)])
        })
    }

    /// Sets pixels, at places relative to a column and a row of the picture.
    #[inline]
    pub(super) fn set<'p>(
        &mut self,
        (x, y): (u32, u32),
        pixels: impl Iterator<Item = (&'p (u8, u8), Pixel)>,
    ) {
        let width = self.width as usize;
        let first = (y - self.top) as usize * width + (x - self.left) as usize;
        for (&(x, y), pixel) in pixels {
            self.pixels[first + usize::from(y) * width + usize::from(x)] = pixel;
        }
    }
}

/// Arranges the pixels of all tiles row by row, with all workers of the runtime. `size` and `edge`
/// are those of [`tiles_of`].
///
/// # Panics
/// Panics if `edge` is 0, or if there are fewer pixels than the size says.
pub(super) fn join_tiles((width, height): (u32, u32), edge: u32, pixels: &mut [Pixel]) {
    let (width, edge) = (width as usize, edge as usize);
    let pixels = &mut pixels[..width * height as usize];
    if edge >= width {
        return;
    }
    // The tiles of a row of tiles are one part of the picture.
    let mut bands: Vec<_> = pixels.chunks_mut(width * edge).collect();
    raddle::for_each_mut(&mut bands, |_, band| {
        let tiles = band.to_vec();
        let mut tiles = tiles.as_slice();
        let height = band.len() / width;
        for left in (0..width).step_by(edge) {
            let tile_width = edge.min(width - left);
            let (tile, rest) = tiles.split_at(tile_width * height);
            tiles = rest;
            let rows = band.chunks_exact_mut(width);
            for (row, pixels) in rows.zip(tile.chunks_exact(tile_width)) {
                row[left..left + tile_width].copy_from_slice(pixels);
            }
        }
    });
}

/// Returns the position of a sample in its pixel, from 0 to 1 in either direction.
///
/// A single sample is in the middle. Several samples form a low-discrepancy sequence, which is
/// shifted from pixel to pixel so that the errors of neighbours do not line up.
///
/// # Source
/// M. Roberts: The Unreasonable Effectiveness of Quasirandom Sequences, 2018 (R2). Shift: R.
/// Cranley, T. Patterson: Randomization of Number Theoretic Methods for Multiple Integration. SIAM
/// J. Numer. Anal. 13(6), 1976.
pub(super) fn sample_offset(x: u32, y: u32, sample: u32, samples: u32) -> [f32; 2] {
    // Powers of the root of g^3 = g + 1 in 32-bit fixed point. The fraction is free, and large
    // indices lose no precision.
    const STEPS: [u32; 2] = [3_242_174_889, 2_447_445_414];
    if samples == 1 {
        return [0.5; 2];
    }
    let first = hash(x ^ y.rotate_left(16));
    let shifts = [first, hash(first.wrapping_add(0x9E37_79B9))];
    [0, 1].map(|axis: usize| {
        let fixed = STEPS[axis].wrapping_mul(sample).wrapping_add(shifts[axis]);
        (fixed >> 8) as f32 / (1 << 24) as f32
    })
}

/// Mixes the bits of a number.
///
/// # Source
/// The finaliser of MurmurHash3, A. Appleby, public domain.
fn hash(mut hash: u32) -> u32 {
    hash = (hash ^ hash >> 16).wrapping_mul(0x85EB_CA6B);
    hash = (hash ^ hash >> 13).wrapping_mul(0xC2B2_AE35);
    hash ^ hash >> 16
}
