//! The division of a frame into tiles.
//!
//! Tiles are large at first, so that few messages are needed, and small at the end, so that all
//! renderers finish at about the same time. A tile has at most half of a renderer's share of the
//! pixels that are left. Tiles that follow each other are neighbours, so that they need the same
//! bricks.
//!
//! # Source
//! Shrinking assignments: Parker, Efficient user-level event notification, section 5.1. The rule:
//! C. D. Polychronopoulos, D. J. Kuck: Guided Self-Scheduling. IEEE Transactions on Computers
//! 36(12), 1987; with the factor of factoring: S. F. Hummel, E. Schonberg, L. E. Flynn:
//! Factoring. Communications of the ACM 35(8), 1992.

use crate::render::Part;

/// Edges of tiles are multiples of this, except at the right and the lower border: the rays of such
/// a square are followed together.
const STEP: u32 = 8;
/// The largest edges: the pixels of a tile fit into one message.
const FIXED_MAX: u32 = 96;
const SHRINKING_MAX: u32 = 64;
/// The number of tiles into which a renderer's share of the rest is divided.
const FACTOR: usize = 2;

/// The sizes of tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TileRule {
    /// All tiles have this edge, rounded up to a multiple of 8, and at most 96. The study has 16.
    Fixed(u32),
    /// Tiles shrink from the first edge to the second one, which are rounded up to 8 times a power
    /// of two, and are at most 64.
    Shrinking(u32, u32),
}

impl Default for TileRule {
    fn default() -> Self {
        Self::Shrinking(64, 8)
    }
}

/// The tiles of a frame that have not been taken yet.
#[derive(Debug, Clone)]
pub(super) struct Tiles {
    /// The parts that are left, the next one last. They have at most the largest edge.
    left: Vec<Part>,
    pixels_left: usize,
    edge_min: u32,
}

impl Tiles {
    /// Divides a frame of some size.
    #[must_use]
    pub(super) fn new((width, height): (u32, u32), rule: TileRule) -> Self {
        let power = |edge: u32| {
            STEP * edge
                .clamp(1, SHRINKING_MAX)
                .div_ceil(STEP)
                .next_power_of_two()
        };
        let (edge_max, edge_min) = match rule {
            TileRule::Fixed(edge) => {
                let edge = edge.clamp(1, FIXED_MAX).next_multiple_of(STEP);
                (edge, edge)
            }
            TileRule::Shrinking(first, last) => (power(first.max(last)), power(last)),
        };
        let steps = |len: u32| (0..len).step_by(edge_max as usize);
        let mut left: Vec<Part> = Vec::new();
        for (row, y) in steps(height).enumerate() {
            let of_row = steps(width).map(|x| Part {
                corner: (x, y),
                size: (edge_max.min(width - x), edge_max.min(height - y)),
            });
            let mut of_row: Vec<_> = of_row.collect();
            // Every other row runs backwards, so that its first tile is next to the last one.
            if row % 2 == 1 {
                of_row.reverse();
            }
            left.append(&mut of_row);
        }
        left.reverse();
        Self {
            left,
            pixels_left: width as usize * height as usize,
            edge_min,
        }
    }

    /// Takes the next tile for one of `renderer_count` renderers. Returns `None` if none is left.
    pub(super) fn take(&mut self, renderer_count: usize) -> Option<Part> {
        let share = self.pixels_left / (FACTOR * renderer_count.max(1));
        loop {
            let part = self.left.pop()?;
            let (width, height) = part.size;
            let edge = width.max(height);
            if part.pixel_count() <= share || edge <= self.edge_min {
                self.pixels_left -= part.pixel_count();
                return Some(part);
            }
            self.split(part, (edge / 2).next_multiple_of(STEP));
        }
    }

    /// Returns the number of pixels that are left.
    #[must_use]
    pub(super) const fn pixels_left(&self) -> usize {
        self.pixels_left
    }

    /// Puts the four quarters of a part back, or fewer if it is narrow. The upper left one is next.
    fn split(&mut self, part: Part, edge: u32) {
        let ((left, top), (width, height)) = (part.corner, part.size);
        let halves = |len: u32| {
            let first = (0, len.min(edge));
            let second = (len > edge).then(|| (edge, len - edge));
            second.into_iter().chain([first])
        };
        for (y, height) in halves(height) {
            for (x, width) in halves(width) {
                self.left.push(Part {
                    corner: (left + x, top + y),
                    size: (width, height),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rules() -> impl Strategy<Value = TileRule> {
        prop_oneof![
            (0..100_u32).prop_map(TileRule::Fixed),
            (0..200_u32, 0..100_u32).prop_map(|(first, last)| TileRule::Shrinking(first, last)),
        ]
    }

    proptest! {
        #[test]
        fn tiles_cover_each_pixel_once(
            size in (1..300_u32, 1..200_u32),
            rule in rules(),
            renderer_count in 0..50_usize,
        ) {
            let mut tiles = Tiles::new(size, rule);
            let mut seen = vec![false; size.0 as usize * size.1 as usize];
            while let Some(part) = tiles.take(renderer_count) {
                prop_assert!(part.pixel_count() > 0);
                prop_assert!(part.corner.0 % STEP == 0 && part.corner.1 % STEP == 0);
                for y in part.corner.1..part.corner.1 + part.size.1 {
                    for x in part.corner.0..part.corner.0 + part.size.0 {
                        let pixel = &mut seen[(y * size.0 + x) as usize];
                        prop_assert!(!std::mem::replace(pixel, true));
                    }
                }
            }
            prop_assert_eq!(tiles.pixels_left(), 0);
            prop_assert!(seen.iter().all(|&pixel| pixel));
        }
    }

    #[test]
    fn tiles_of_the_study_have_256_pixels() {
        let mut tiles = Tiles::new((1024, 1024), TileRule::Fixed(16));
        let mut count = 0;
        while let Some(part) = tiles.take(32) {
            assert_eq!(part.pixel_count(), 256);
            count += 1;
        }
        assert_eq!(count, 4_096);
    }

    #[test]
    fn tiles_shrink_towards_the_end() {
        let mut tiles = Tiles::new((512, 512), TileRule::default());
        let counts = std::iter::from_fn(|| tiles.take(8).map(|part| part.pixel_count()));
        let counts: Vec<_> = counts.collect();
        assert_eq!(counts[0], 64 * 64);
        assert_eq!(*counts.last().expect("there are tiles"), 8 * 8);
        // Far fewer than with the smallest tiles only.
        assert!(counts.len() < 512, "{}", counts.len());
        // The last tiles together are little work for each renderer.
        let last: usize = counts.iter().rev().take(16).sum();
        assert!(last < 512 * 512 / 100, "{last}");
    }
}
