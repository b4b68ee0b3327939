//! Adaptive sampling: rays where the picture changes, and interpolation elsewhere.
//!
//! Tiles share the pixels at their corners. Two tasks may trace such a pixel at the same time. Both
//! get the same value, so neither waits for the other, as the original does.

use raddle_sync::prim::AtomicU32;
use raddle_sync::prim::Ordering::Relaxed;

use super::VolrendCounts;
use super::rays::Tracer;

/// The difference of grey from which a box is divided.
const CONTRAST: u32 = 16;
/// The value of a pixel that has neither been traced nor interpolated.
const EMPTY: u32 = u32::MAX;

/// The pixels of a picture that tasks share.
#[derive(Debug, Default)]
pub(super) struct Samples {
    edge: u32,
    pixels: Vec<AtomicU32>,
}

impl Samples {
    pub(super) fn new(edge: u32) -> Self {
        let count = edge as usize * edge as usize;
        Self {
            edge,
            pixels: (0..count).map(|_| AtomicU32::new(EMPTY)).collect(),
        }
    }

    /// Traces the corners of a box, and divides the box if they differ.
    pub(super) fn refine(
        &self,
        (x, y): (u32, u32),
        size: u32,
        tracer: &Tracer<'_>,
        counts: &mut VolrendCounts,
    ) {
        let (mut low, mut high) = (u32::MAX, 0);
        for (x, y) in [(x, y), (x + size, y), (x, y + size), (x + size, y + size)] {
            if x < self.edge && y < self.edge {
                let grey = self.traced(x, y, tracer, counts);
                (low, high) = (low.min(grey), high.max(grey));
            }
        }
        if size == 1 || high - low < CONTRAST {
            return;
        }
        let half = size / 2;
        for corner in [(x, y), (x + half, y), (x, y + half), (x + half, y + half)] {
            if corner.0 < self.edge && corner.1 < self.edge {
                self.refine(corner, half, tracer, counts);
            }
        }
    }

    /// Returns the grey of a pixel, which is traced unless it has been traced already.
    fn traced(&self, x: u32, y: u32, tracer: &Tracer<'_>, counts: &mut VolrendCounts) -> u32 {
        let pixel = self.pixel(x, y);
        // ORDERING: Relaxed, since the word itself is all that is shared.
        let known = pixel.load(Relaxed);
        if known != EMPTY {
            return known;
        }
        let mut own = VolrendCounts {
            rays: 1,
            ..VolrendCounts::default()
        };
        let grey = match tracer.is_empty((x, y)) {
            true => 0,
            false => u32::from(tracer.pixel(x, y, &mut own)),
        };
        // Only the first of two tasks counts the ray, so that counts do not depend on the workers.
        // ORDERING: Relaxed, as above. Another task may have stored the same value.
        if pixel
            .compare_exchange(EMPTY, grey, Relaxed, Relaxed)
            .is_ok()
        {
            *counts += own;
        }
        grey
    }

    /// Interpolates the pixels of a box that have not been traced.
    pub(super) fn interpolate(&self, (x, y): (u32, u32), size: u32) {
        let half = size / 2;
        // Outside of the picture, the nearest corner inside counts.
        let (right, below) = (self.inside(x, size), self.inside(y, size));
        let corner = |x: u32, y: u32| self.load(x, y);
        let corners = [
            corner(x, y),
            corner(right, y),
            corner(x, below),
            corner(right, below),
        ];
        let [a, b, c, d] = corners;
        self.fill(x + half, y, (a + b) / 2);
        self.fill(x, y + half, (a + c) / 2);
        self.fill(x + half, y + half, (a + b + c + d) / 4);
        self.fill(x + size, y + half, (b + d) / 2);
        self.fill(x + half, y + size, (c + d) / 2);
        if half == 1 {
            return;
        }
        for (x, y) in [(x, y), (x + half, y), (x, y + half), (x + half, y + half)] {
            if x < self.edge && y < self.edge {
                self.interpolate((x, y), half);
            }
        }
    }

    /// Returns `at + size`, or `at` if that is not in the picture.
    fn inside(&self, at: u32, size: u32) -> u32 {
        if at + size < self.edge { at + size } else { at }
    }

    fn fill(&self, x: u32, y: u32, grey: u32) {
        if x < self.edge && y < self.edge {
            let pixel = self.pixel(x, y);
            // ORDERING: Relaxed. A neighbouring box computes the same value for a common pixel.
            if pixel.load(Relaxed) == EMPTY {
                pixel.store(grey, Relaxed);
            }
        }
    }

    fn load(&self, x: u32, y: u32) -> u32 {
        // ORDERING: Relaxed, since the word itself is all that is shared.
        self.pixel(x, y).load(Relaxed)
    }

    fn pixel(&self, x: u32, y: u32) -> &AtomicU32 {
        &self.pixels[(y * self.edge + x) as usize]
    }

    /// Copies all pixels.
    pub(super) fn copy_to(&self, pixels: &mut [u8]) {
        for (to, from) in pixels.iter_mut().zip(&self.pixels) {
            // ORDERING: Relaxed, since all tasks have ended.
            *to = from.load(Relaxed) as u8;
        }
    }
}
