//! The pixels of a frame, which tasks share.

use raddle_sync::prim::AtomicU32;
use raddle_sync::prim::Ordering::Relaxed;

/// The value of a pixel that has neither been traced nor interpolated.
const EMPTY: u32 = u32::MAX;

/// The greys of a square picture.
///
/// The grey of a pixel is all that tasks share, so every access is relaxed.
#[derive(Debug)]
pub(super) struct Pixels {
    edge: u32,
    greys: Vec<AtomicU32>,
}

impl Pixels {
    /// Creates a picture without greys.
    pub(super) fn new(edge: u32) -> Self {
        let count = edge as usize * edge as usize;
        Self {
            edge,
            greys: (0..count).map(|_| AtomicU32::new(EMPTY)).collect(),
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
        &self.greys[(y * self.edge + x) as usize]
    }

    /// Returns all pixels, row by row. Unknown ones are black.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        // Relaxed: as the type says.
        let greys = self.greys.iter().map(|grey| grey.load(Relaxed));
        greys
            .map(|grey| if grey == EMPTY { 0 } else { grey as u8 })
            .collect()
    }
}
