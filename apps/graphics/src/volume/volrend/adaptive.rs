//! Adaptive sampling: rays where the picture changes, and interpolation elsewhere.
//!
//! Tiles share the pixels at their corners. Two tasks may trace such a pixel at the same time. Both
//! get the same value, so neither waits for the other, as the original does.

use super::VolrendCounts;
use super::pixels::Pixels;
use super::rays::Tracer;

/// The difference of grey from which a box is divided.
const CONTRAST: u32 = 16;

/// Traces the corners of a box, and divides the box if they differ.
pub(super) fn refine(
    pixels: &Pixels,
    (x, y): (u32, u32),
    size: u32,
    tracer: &Tracer<'_>,
    counts: &mut VolrendCounts,
) {
    let edge = pixels.edge();
    let (mut low, mut high) = (u32::MAX, 0);
    for (x, y) in [(x, y), (x + size, y), (x, y + size), (x + size, y + size)] {
        if x < edge && y < edge {
            let grey = traced(pixels, x, y, tracer, counts);
            (low, high) = (low.min(grey), high.max(grey));
        }
    }
    if size == 1 || high - low < CONTRAST {
        return;
    }
    let half = size / 2;
    for corner in [(x, y), (x + half, y), (x, y + half), (x + half, y + half)] {
        if corner.0 < edge && corner.1 < edge {
            refine(pixels, corner, half, tracer, counts);
        }
    }
}

/// Returns the grey of a pixel, which is traced unless it is known.
fn traced(pixels: &Pixels, x: u32, y: u32, tracer: &Tracer<'_>, counts: &mut VolrendCounts) -> u32 {
    if let Some(grey) = pixels.get(x, y) {
        return grey;
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
    if pixels.claim(x, y, grey) {
        *counts += own;
    }
    grey
}

/// Interpolates the pixels of a box that are not known. Its corners are traced if necessary.
pub(super) fn interpolate(pixels: &Pixels, (x, y): (u32, u32), size: u32, tracer: &Tracer<'_>) {
    let (half, edge) = (size / 2, pixels.edge());
    // Outside of the picture, the nearest corner inside counts.
    let inside = |at: u32| if at + size < edge { at + size } else { at };
    let (right, below) = (inside(x), inside(y));
    let mut ignored = VolrendCounts::default();
    let corners = [(x, y), (right, y), (x, below), (right, below)];
    let [a, b, c, d] = corners.map(|(x, y)| traced(pixels, x, y, tracer, &mut ignored));
    let fill = |x: u32, y: u32, grey: u32| {
        // A neighbouring box computes the same value for a common pixel.
        if x < edge && y < edge && pixels.get(x, y).is_none() {
            pixels.set(x, y, grey);
        }
    };
    fill(x + half, y, (a + b) / 2);
    fill(x, y + half, (a + c) / 2);
    fill(x + half, y + half, (a + b + c + d) / 4);
    fill(x + size, y + half, (b + d) / 2);
    fill(x + half, y + size, (c + d) / 2);
    if half == 1 {
        return;
    }
    for (x, y) in [(x, y), (x + half, y), (x, y + half), (x + half, y + half)] {
        if x < edge && y < edge {
            interpolate(pixels, (x, y), half, tracer);
        }
    }
}
