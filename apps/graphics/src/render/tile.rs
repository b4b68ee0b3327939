//! Tiles: squares of a picture, each of which is a task.

use glam::Vec3;

use super::RayCounts;
use super::shade::Shader;
use crate::picture::Picture;

/// The number of pixels along an edge of a tile: enough work for a task, and enough tasks for many
/// workers.
const EDGE: u32 = 16;

/// A part of a picture and the task of rendering it.
#[derive(Debug)]
pub(super) struct Tile<'a> {
    left: u32,
    top: u32,
    width: u32,
    pixels: &'a mut [[f32; 3]],
    height: u32,
    pub(super) counts: RayCounts,
}

/// Divides a picture into tiles, row by row, and assigns its pixels to them.
pub(super) fn tiles_of((width, height): (u32, u32), mut pixels: &mut [[f32; 3]]) -> Vec<Tile<'_>> {
    let mut tiles = Vec::new();
    for top in (0..height).step_by(EDGE as usize) {
        for left in (0..width).step_by(EDGE as usize) {
            let (tile_width, tile_height) = (EDGE.min(width - left), EDGE.min(height - top));
            let len = (tile_width * tile_height) as usize;
            tiles.push(Tile {
                left,
                top,
                width: tile_width,
                height: tile_height,
                pixels: pixels.split_off_mut(..len).unwrap_or_default(),
                counts: RayCounts::default(),
            });
        }
    }
    tiles
}

impl Tile<'_> {
    /// Renders all pixels of the tile.
    pub(super) fn render(&mut self, shader: &Shader<'_>, samples: u32) {
        let mut counts = RayCounts::default();
        let mut pixels = self.pixels.iter_mut();
        for y in self.top..self.top + self.height {
            for x in self.left..self.left + self.width {
                let mut sum = Vec3::ZERO;
                for sample in 0..samples {
                    let [dx, dy] = sample_offset(x, y, sample, samples);
                    sum += shader.sample([x as f32 + dx, y as f32 + dy], &mut counts);
                }
                if let Some(pixel) = pixels.next() {
                    *pixel = (sum / samples as f32).to_array();
                }
            }
        }
        self.counts = counts;
    }

    /// Copies the pixels to their place in the picture.
    pub(super) fn copy_to(&self, picture: &mut Picture) {
        let (left, stride) = (self.left as usize, picture.width() as usize);
        let rows = self.pixels.chunks_exact(self.width as usize);
        for (row, pixels) in (self.top as usize..).zip(rows) {
            picture.pixels_mut()[row * stride + left..][..pixels.len()].copy_from_slice(pixels);
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
fn sample_offset(x: u32, y: u32, sample: u32, samples: u32) -> [f32; 2] {
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
