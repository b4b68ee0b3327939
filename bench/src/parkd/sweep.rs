//! FindBestPartition: the cost of a plane through every event, and the cheapest plane.
//!
//! # Weighing a list
//! The weight of a plane is the part of its cost that depends on the plane. First, all planes are
//! weighed in `f32`, block by block (see [`screen`]). The results are correct except for rounding.
//! So the few blocks with a plane that is about as light as the overall minimum are weighed again
//! in `f64`. There, the first of equal planes wins.
//!
//! # In parallel
//! A list is cut into parts. First, the counts at the start of each part are computed (the
//! prescan). Then each part is weighed independently, and a reduction finds the lightest plane.
//!
//! # Source
//! Choi et al. 2010 (see [`super`]); the cost: Wald, Havran 2006 (see [`super`]).

mod screen;

use std::ops::{Add, Range};

use raddle_graphics::kdtree::Parameters;
use rayon::prelude::*;

use super::cell::Cell;
use super::event::{self, END, PLANAR};
use super::slices;
use screen::BLOCK_LEN;
pub(super) use screen::Screen;

/// A generous bound on the rounding error of a weight in `f32`.
const TOLERANCE: f32 = 1e-5;

/// A split plane.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plane {
    pub(super) axis: usize,
    pub(super) position: f32,
    pub(super) cost: f64,
    /// The number of events of the axis that belong to the half below.
    pub(super) split: usize,
    /// The number of triangles in each half.
    pub(super) counts: [usize; 2],
}

/// The numbers of triangles that a sweep has met and left.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Passed {
    met: u32,
    left: u32,
}

impl Add for Passed {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            met: self.met + other.met,
            left: self.left + other.left,
        }
    }
}

impl Passed {
    /// Returns the counts for a single event.
    #[inline(always)]
    fn with(event: u64) -> Self {
        let kind = event::kind(event) as u32;
        Self {
            met: (kind + 1) >> 1,
            left: 1 - (kind >> 1),
        }
    }

    fn over(events: &[u64]) -> Self {
        events
            .iter()
            .fold(Self::default(), |sum, &event| sum + Self::with(event))
    }
}

/// The lightest plane of some events.
#[derive(Debug, Clone, Copy)]
struct Lightest {
    weight: f64,
    index: usize,
    /// The counts before the event.
    passed: Passed,
    /// True if planar triangles belong to the half below.
    is_planar_below: bool,
}

impl Lightest {
    const NONE: Self = Self {
        weight: f64::INFINITY,
        index: 0,
        passed: Passed { met: 0, left: 0 },
        is_planar_below: false,
    };

    fn or(self, later: Self) -> Self {
        if later.weight < self.weight {
            later
        } else {
            self
        }
    }
}

/// The sweep along one axis of a node.
#[derive(Debug, Clone, Copy)]
struct Sweep<'a> {
    events: &'a [u64],
    count: u32,
    axis: usize,
    low: f32,
    high: f32,
    /// The area of the cross-section.
    cross: f64,
    /// Half of the perimeter of the cross-section.
    perimeter: f64,
    /// Half of the surface of the node.
    whole: f64,
}

impl<'a> Sweep<'a> {
    fn new(events: &'a [u64], cell: &Cell, axis: usize, count: usize) -> Self {
        let [x, y, z] = [0, 1, 2].map(|axis| cell.edge(axis));
        let (a, b) = [(y, z), (z, x), (x, y)][axis];
        Self {
            events,
            count: count as u32,
            axis,
            low: cell.low[axis],
            high: cell.high[axis],
            cross: a * b,
            perimeter: a + b,
            whole: x * y + y * z + z * x,
        }
    }

    #[inline(always)]
    fn weight(&self, position: f32, below: u32, above: u32) -> f64 {
        let position = f64::from(position);
        let area_below = self.cross + self.perimeter * (position - f64::from(self.low));
        let area_above = self.cross + self.perimeter * (f64::from(self.high) - position);
        area_below * f64::from(below) + area_above * f64::from(above)
    }

    /// Weighs the planes through some events, one by one.
    #[inline]
    fn weigh(&self, range: Range<usize>, mut passed: Passed, lightest: &mut Lightest) {
        for index in range {
            let event = self.events[index];
            let before = passed;
            let mut try_plane = |passed: Passed, is_planar_below| {
                let (below, above) = (passed.met, self.count - passed.left);
                let weight = self.weight(event::position(event), below, above);
                if weight < lightest.weight {
                    *lightest = Lightest {
                        weight,
                        index,
                        passed: before,
                        is_planar_below,
                    };
                }
            };
            passed = passed + Passed::with(event);
            if event::kind(event) != PLANAR {
                // The sweep has left the triangles that end in the plane, and has not met those
                // that start in it.
                try_plane(
                    Passed {
                        met: before.met,
                        left: passed.left,
                    },
                    false,
                );
                continue;
            }
            let is_alike = |index: usize| {
                let other = self.events.get(index);
                other.is_some_and(|&other| event::rank(other) == event::rank(event))
            };
            if index == 0 || !is_alike(index - 1) {
                try_plane(before, false);
            }
            if !is_alike(index + 1) {
                try_plane(passed, true);
            }
        }
    }

    /// Finds the lightest plane of some events. `passed` are the counts before them.
    fn lightest(&self, range: Range<usize>, passed: Passed, screen: &mut Screen) -> Lightest {
        let mut lightest = Lightest::NONE;
        if range.len() < BLOCK_LEN || self.high - self.low < 1e-25 {
            self.weigh(range, passed, &mut lightest);
            return lightest;
        }
        let weighed = self.screen(range.clone(), passed, screen);
        let limit = weighed.least * (1.0 + TOLERANCE) + (self.high - self.low) * 1e-10;
        for block in &weighed.blocks {
            if block.least <= limit {
                let end = range.end.min(block.first + BLOCK_LEN);
                self.weigh(block.first..end, block.passed, &mut lightest);
            }
        }
        lightest
    }

    /// Returns the cheapest plane: the lightest one, or one that cuts off empty space.
    fn plane(&self, lightest: Lightest, parameters: &Parameters) -> Option<Plane> {
        let (&first, &last) = (self.events.first()?, self.events.last()?);
        if self.whole <= 0.0 {
            return None;
        }
        let cost = |weight: f64| {
            parameters.traversal_cost + parameters.intersection_cost * (weight / self.whole)
        };
        let mut best = None;
        let mut try_plane = |plane: Plane| {
            if best.is_none_or(|best: Plane| plane.cost < best.cost) {
                best = Some(plane);
            }
        };
        let count = self.count as usize;
        let (front, back) = (event::position(first), event::position(last));
        if front > self.low {
            let weight = self.weight(front, 0, self.count);
            try_plane(Plane {
                axis: self.axis,
                position: front,
                cost: parameters.empty_bonus * cost(weight),
                split: 0,
                counts: [0, count],
            });
        }
        try_plane(self.plane_through(lightest, cost(lightest.weight)));
        if back < self.high {
            let weight = self.weight(back, self.count, 0);
            try_plane(Plane {
                axis: self.axis,
                position: back,
                cost: parameters.empty_bonus * cost(weight),
                split: self.events.len(),
                counts: [count, 0],
            });
        }
        best
    }

    /// Finds where a plane cuts the list. The events between its event and the cut have the same
    /// position.
    fn plane_through(&self, lightest: Lightest, cost: f64) -> Plane {
        let event = self.events[lightest.index];
        let last_kind = if lightest.is_planar_below {
            PLANAR
        } else {
            END
        };
        let last_rank = event::rank(event) & !3 | last_kind;
        let (mut split, mut passed) = (lightest.index, lightest.passed);
        for &event in &self.events[split..] {
            if event::rank(event) > last_rank {
                break;
            }
            passed = passed + Passed::with(event);
            split += 1;
        }
        Plane {
            axis: self.axis,
            position: event::position(event),
            cost,
            split,
            counts: [passed.met as usize, (self.count - passed.left) as usize],
        }
    }
}

/// Returns the first of the cheapest planes.
fn cheapest(planes: impl IntoIterator<Item = Option<Plane>>) -> Option<Plane> {
    planes
        .into_iter()
        .flatten()
        .reduce(|best, plane| if plane.cost < best.cost { plane } else { best })
}

/// Finds the cheapest plane of a node on the calling thread.
///
/// Returns `None` if the node has no surface or no triangles.
pub(super) fn best_plane(
    events: [&[u64]; 3],
    cell: &Cell,
    count: usize,
    parameters: &Parameters,
    screen: &mut Screen,
) -> Option<Plane> {
    cheapest([0, 1, 2].map(|axis| {
        let sweep = Sweep::new(events[axis], cell, axis, count);
        let lightest = sweep.lightest(0..events[axis].len(), Passed::default(), screen);
        sweep.plane(lightest, parameters)
    }))
}

/// Finds the cheapest plane of a node with all threads, in `part_count` parts of each list.
pub(super) fn best_plane_parallel(
    events: [&[u64]; 3],
    cell: &Cell,
    count: usize,
    parameters: &Parameters,
    part_count: usize,
) -> Option<Plane> {
    struct Part {
        axis: usize,
        range: Range<usize>,
        passed: Passed,
    }

    let mut parts: Vec<Part> = (0..3)
        .flat_map(|axis| {
            slices::parts(events[axis].len(), part_count).map(move |range| (axis, range))
        })
        .map(|(axis, range)| Part {
            axis,
            range,
            passed: Passed::default(),
        })
        .collect();
    parts.par_iter_mut().for_each(|part| {
        part.passed = Passed::over(&events[part.axis][part.range.clone()]);
    });
    let mut sum = Passed::default();
    for part in &mut parts {
        if part.range.start == 0 {
            sum = Passed::default();
        }
        let own = std::mem::replace(&mut part.passed, sum);
        sum = sum + own;
    }
    let sweeps = [0, 1, 2].map(|axis| Sweep::new(events[axis], cell, axis, count));
    let lightest: Vec<(usize, Lightest)> = parts
        .par_iter()
        .map(|part| {
            let sweep = &sweeps[part.axis];
            let lightest = sweep.lightest(part.range.clone(), part.passed, &mut Screen::default());
            (part.axis, lightest)
        })
        .collect();
    cheapest([0, 1, 2].map(|axis| {
        let of_axis = lightest.iter().filter(|(of, _)| *of == axis);
        let lightest = of_axis.fold(Lightest::NONE, |best, &(_, later)| best.or(later));
        sweeps[axis].plane(lightest, parameters)
    }))
}
