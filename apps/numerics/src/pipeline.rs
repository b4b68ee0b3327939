//! A video tracker as a pipeline of 30 operations, without its data: the study's third program, for
//! simulation.
//!
//! ```text
//! producer ─ frame ─┬─ GMM 0 ──┐
//!                   ├─  ⋮      ├─ merge ─ erode ─ dilate ×3 ─┬─ CCL 0 ─┐
//!                   └─ GMM 15 ─┘                             ├─  ⋮     ├─ join ─ objects
//!                                                            └─ CCL 3 ─┘
//! objects ─ tracking ─┬─ draw ─ consumer
//!               frame ┘
//! ```
//! The study names the stages, the numbers 16 and 4, and 30 tasks. The connections are our reading
//! of its figure 6: *merge* combines the pieces into one mask, *join* gives a component that
//! crosses several pieces a single number, and *draw* draws the tracked objects into the frame.
//!
//! # Assumptions
//! - Work, in nanoseconds per pixel on one core: producer and consumer 1 each, GMM 24 in total,
//!   merge 0.5, erode 1.5, each dilate 1.5, CCL 6 in total, join 0.5, tracking 0.2, draw 0.5. GMM
//!   and CCL are therefore the bottlenecks, as the study says. Split into 16 and 4 parts, they are
//!   about as fast as the other stages.
//! - Sizes: a frame has 3 bytes per pixel, a mask has 1, and labels have 4.
//! - Memory: GMM stores a mixture of three Gaussians for each pixel, with five floats each. These
//!   60 bytes are its own memory; it reads and writes them in each turn.
//! - Values: each location holds two values, so that stages overlap. The location of the frames
//!   holds as many values as the pipeline has stages.
//!
//! # Source
//! Gustedt, Jeannot, Mansouri: Fully-abstracted affinity optimization for task-based models. Inria
//! RR-8993, 2016, section 5.3. The mixture: C. Stauffer, W. Grimson: Adaptive background mixture
//! models for real-time tracking. CVPR 1999.

use raddle::orwl::{Access, LocationIndex, Sketch};

/// The number of GMM operations in the study.
pub const GMM_PARTS: usize = 16;
const CCL_PARTS: usize = 4;
/// The number of frames in flight: the number of stages from the producer to *draw*, plus one.
const FRAMES: usize = 12;
/// The number of values of every other location.
const VALUES: usize = 2;

/// The number of bytes per pixel.
const FRAME_BYTES: usize = 3;
const MASK_BYTES: usize = 1;
const LABEL_BYTES: usize = 4;
const MIXTURE_BYTES: f64 = 60.0;

/// Returns the pipeline for frames of `pixels` pixels, with GMM split into `gmm_parts` parts. One
/// turn processes one frame.
///
/// # Panics
/// If `gmm_parts` is 0.
#[must_use]
pub fn sketch(pixels: usize, gmm_parts: usize) -> Sketch {
    assert!(gmm_parts > 0, "GMM needs at least one part");
    let mut stages = Stages {
        sketch: Sketch::new("pipeline"),
        pixels,
    };
    let frame = stages.sketch.location(pixels * FRAME_BYTES, FRAMES);
    let frame_parts = stages.pieces(frame, FRAME_BYTES, gmm_parts);
    let found = stages.location(MASK_BYTES);
    let found_parts = stages.pieces(found, MASK_BYTES, gmm_parts);
    stages.stage("producer", 1.0, &[], &[frame]);
    for (index, (&frame, &found)) in frame_parts.iter().zip(&found_parts).enumerate() {
        let share = pixels as f64 / gmm_parts as f64;
        let uses = [(frame, Access::Read), (found, Access::Write)];
        // The mixture is read and written.
        let memory = 2.0 * MIXTURE_BYTES * share;
        let name = format!("GMM {index}");
        stages.sketch.operation(name, 24.0 * share, memory, &uses);
    }
    let mut mask = stages.location(MASK_BYTES);
    stages.stage("merge", 0.5, &[found], &[mask]);
    for name in ["erode", "dilate 0", "dilate 1", "dilate 2"] {
        let next = stages.location(MASK_BYTES);
        stages.stage(name, 1.5, &[mask], &[next]);
        mask = next;
    }
    let mask_parts = stages.pieces(mask, MASK_BYTES, CCL_PARTS);
    let labels = stages.location(LABEL_BYTES);
    let label_parts = stages.pieces(labels, LABEL_BYTES, CCL_PARTS);
    for (index, (&mask, &labels)) in mask_parts.iter().zip(&label_parts).enumerate() {
        let work = 6.0 / CCL_PARTS as f64;
        stages.stage(&format!("CCL {index}"), work, &[mask], &[labels]);
    }
    let objects = stages.sketch.location(64 << 10, VALUES);
    let tracks = stages.sketch.location(64 << 10, VALUES);
    let drawn = stages.location(FRAME_BYTES);
    stages.stage("join", 0.5, &[labels], &[objects]);
    stages.stage("tracking", 0.2, &[objects], &[tracks]);
    stages.stage("draw", 0.5, &[frame, tracks], &[drawn]);
    stages.stage("consumer", 1.0, &[drawn], &[]);
    stages.sketch
}

/// A pipeline under construction.
struct Stages {
    sketch: Sketch,
    pixels: usize,
}

impl Stages {
    fn location(&mut self, pixel_bytes: usize) -> LocationIndex {
        self.sketch.location(self.pixels * pixel_bytes, VALUES)
    }

    fn pieces(
        &mut self,
        whole: LocationIndex,
        pixel_bytes: usize,
        count: usize,
    ) -> Vec<LocationIndex> {
        let bytes = self.pixels * pixel_bytes;
        let cut = |index: usize| bytes * index / count;
        (0..count)
            .map(|index| self.sketch.piece(whole, cut(index + 1) - cut(index)))
            .collect()
    }

    /// Adds a stage without memory of its own. `pixel_ns` is its work in nanoseconds per pixel of
    /// the frame.
    fn stage(
        &mut self,
        name: &str,
        pixel_ns: f64,
        reads: &[LocationIndex],
        writes: &[LocationIndex],
    ) {
        let reads = reads.iter().map(|&location| (location, Access::Read));
        let writes = writes.iter().map(|&location| (location, Access::Write));
        let uses: Vec<_> = reads.chain(writes).collect();
        self.sketch
            .operation(name, pixel_ns * self.pixels as f64, 0.0, &uses);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pipeline_has_the_operations_of_the_study() {
        let sketch = sketch(1280 * 720, GMM_PARTS);
        assert_eq!(sketch.operation_count(), 30);
        let matrix = sketch.dependencies();
        let at = |name: &str| sketch.names().position(|own| own == name).expect("a stage");
        let pixels = 1280.0 * 720.0;
        assert_eq!(matrix.get(at("producer"), at("GMM 3")), pixels * 3.0 / 16.0);
        assert_eq!(matrix.get(at("GMM 3"), at("merge")), pixels / 16.0);
        assert_eq!(matrix.get(at("producer"), at("draw")), pixels * 3.0);
        assert_eq!(matrix.get(at("erode"), at("draw")), 0.0);
    }
}
