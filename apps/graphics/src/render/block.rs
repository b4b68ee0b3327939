//! Blocks: neighbouring pixels. An integrator may follow their rays together.

use glam::Vec3;

use super::beams::EDGE;
use super::tile::sample_offset;
use super::{FrameOptions, Sample};
use crate::camera::Camera;

/// The maximum number of pixels in a block.
pub(crate) const BLOCK_LEN: usize = (EDGE * EDGE) as usize;

/// The places of the pixels in blocks of `PLACES[height - 1][width - 1]`.
static PLACES: [[Places; EDGE as usize]; EDGE as usize] = places();

/// The columns and rows of the pixels in a block, in their order.
pub(super) type Places = [(u8, u8); BLOCK_LEN];

/// Neighbouring pixels of a tile, with one sample in each. They are in one beam.
///
/// In a block of 4 × 4 pixels, each four pixels in succession form a square.
#[derive(Debug, Clone)]
pub struct Block<'a> {
    camera: &'a Camera,
    options: &'a FrameOptions,
    positions: [[f32; 2]; BLOCK_LEN],
    len: usize,
}

impl<'a> Block<'a> {
    /// Selects the sample with a number in the pixels of a block.
    #[inline]
    pub(super) fn new(
        camera: &'a Camera,
        options: &'a FrameOptions,
        [(left, top), size]: [(u32, u32); 2],
        sample: u32,
    ) -> Self {
        let position = |(x, y)| {
            let (x, y) = (left + u32::from(x), top + u32::from(y));
            let [dx, dy] = sample_offset(x, y, sample, options.samples);
            [within(x, dx), within(y, dy)]
        };
        Self {
            camera,
            options,
            positions: Self::places(size).map(position),
            len: (size.0 * size.1) as usize,
        }
    }

    /// Returns the places of the pixels in a block of `width` and `height`. Unused places are
    /// (0, 0).
    #[inline]
    pub(super) fn places((width, height): (u32, u32)) -> &'static Places {
        &PLACES[height as usize - 1][width as usize - 1]
    }

    /// Returns the number of samples, at most 16.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a block always has pixels")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the sample in a pixel.
    ///
    /// # Panics
    /// Panics if `pixel` is not below [`len`](Self::len), as do all methods with a pixel.
    #[inline(always)]
    #[must_use]
    pub fn sample(&self, pixel: usize) -> Sample {
        let position = self.position(pixel);
        let ray = self.camera.ray(position, self.options.size);
        Sample {
            ray: self.options.clip.map_or(ray, |clip| clip.clip(&ray)),
            position,
            size: self.options.size,
            background: self.options.background,
        }
    }

    /// Returns the position of the sample in a pixel, in pixels from the upper left corner of the
    /// picture.
    #[inline(always)]
    #[must_use]
    pub fn position(&self, pixel: usize) -> [f32; 2] {
        self.positions[..self.len][pixel]
    }

    /// Returns the colour behind the scene in a pixel.
    #[inline(always)]
    #[must_use]
    pub fn behind(&self, pixel: usize) -> Vec3 {
        self.sample(pixel).behind()
    }
}

/// Returns the position at an offset below 1 in a pixel. The sum is rounded down, so that it is not
/// in the next pixel.
#[inline(always)]
fn within(pixel: u32, offset: f32) -> f32 {
    (pixel as f32 + offset).min(((pixel + 1) as f32).next_down())
}

/// Computes [`PLACES`].
const fn places() -> [[Places; EDGE as usize]; EDGE as usize] {
    let mut all = [[[(0, 0); BLOCK_LEN]; EDGE as usize]; EDGE as usize];
    let mut size = 0;
    while size < BLOCK_LEN {
        let (width, height) = (size % EDGE as usize + 1, size / EDGE as usize + 1);
        let is_whole = size == BLOCK_LEN - 1;
        let mut pixel = 0;
        while pixel < width * height {
            let (x, y) = match is_whole {
                true => (pixel & 1 | pixel >> 1 & 2, pixel >> 1 & 1 | pixel >> 2 & 2),
                false => (pixel % width, pixel / width),
            };
            all[height - 1][width - 1][pixel] = (x as u8, y as u8);
            pixel += 1;
        }
        size += 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_in_its_pixel() {
        // The largest offset, and pixels at which the sum would be rounded up.
        let largest = 1.0_f32.next_down();
        for pixel in [0, 1, 767, 1023, 32_767] {
            assert_eq!(within(pixel, largest) as u32, pixel);
            assert_eq!(within(pixel, 0.0) as u32, pixel);
        }
        // This sample was in the row below the picture.
        let [_, offset] = sample_offset(380, 767, 14, 16);
        assert_eq!(767.0 + offset, 768.0);
        assert!(within(767, offset) < 768.0);
    }
}
