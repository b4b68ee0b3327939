//! Tiles: squares of a picture, each of which is a task.

/// A part of a picture. `Pixel` is the type of its pixels.
#[derive(Debug)]
pub struct Tile<'a, Pixel> {
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
/// different tiles share no cache lines inside of them; see [`Tile::copy_to`].
///
/// # Panics
/// Panics if `edge` is 0, or if there are fewer pixels than the size says.
///
/// # Examples
/// ```
/// use raddle_graphics::render::tiles_of;
///
/// let mut pixels = vec![0_u8; 6 * 5];
/// let mut tiles = tiles_of((6, 5), 4, &mut pixels);
/// assert_eq!(tiles.len(), 4);
/// for tile in &mut tiles {
///     tile.for_each(|x, y, pixel| *pixel = (10 * y + x) as u8);
/// }
/// let mut picture = vec![0; 6 * 5];
/// for tile in &tiles {
///     tile.copy_to(&mut picture, 6);
/// }
/// assert_eq!(picture[6..12], [10, 11, 12, 13, 14, 15]);
/// ```
#[must_use]
pub fn tiles_of<Pixel>(
    (width, height): (u32, u32),
    edge: u32,
    mut pixels: &mut [Pixel],
) -> Vec<Tile<'_, Pixel>> {
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

impl<Pixel> Tile<'_, Pixel> {
    /// Returns the column and the row of the upper left pixel.
    #[must_use]
    pub fn corner(&self) -> (u32, u32) {
        (self.left, self.top)
    }

    /// Returns the width and height in pixels.
    #[must_use]
    pub fn size(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    /// Calls `set` with column, row and pixel for every pixel, row by row.
    #[inline]
    pub fn for_each(&mut self, mut set: impl FnMut(u32, u32, &mut Pixel)) {
        let mut pixels = self.pixels.iter_mut();
        for y in self.top..self.top + self.height {
            for (x, pixel) in (self.left..self.left + self.width).zip(&mut pixels) {
                set(x, y, pixel);
            }
        }
    }
}

impl<Pixel: Copy> Tile<'_, Pixel> {
    /// Copies the pixels to their place in a picture with rows of `stride` pixels.
    ///
    /// # Panics
    /// Panics if the picture is too small for the tile.
    pub fn copy_to(&self, picture: &mut [Pixel], stride: u32) {
        let (left, stride) = (self.left as usize, stride as usize);
        let rows = self.pixels.chunks_exact(self.width as usize);
        for (row, pixels) in (self.top as usize..).zip(rows) {
            picture[row * stride + left..][..pixels.len()].copy_from_slice(pixels);
        }
    }
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
