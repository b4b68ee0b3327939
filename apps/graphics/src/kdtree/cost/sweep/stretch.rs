//! Finds the lightest plane of a stretch of events without weighing most of them.
//!
//! The weight of a plane is defined by [`Surface::weight`]. Consider the planes between two events
//! of a sorted list. None of them is lighter than a lower bound that follows from the triangle
//! counts before the first event and behind the second, and from the areas at their positions. The
//! search uses this in three steps:
//!
//! 1. Count the triangles in blocks of events, which is fast.
//! 2. Weigh the plane at the first event of each block. The smallest of these weights is an upper
//!    limit for the lightest plane.
//! 3. Weigh every event, but only in the blocks with a lower bound at or below that limit. In a
//!    long list these are a few blocks around the minimum.
//!
//! # Why the result is that of weighing all events
//! Each operation of a weight rounds monotonically. So a bound computed from smaller operands is no
//! larger than any weight computed in its block. A block that contains the lightest plane therefore
//! has a bound of at most the plane's weight, and is searched. So is every earlier block that is
//! equally light, and the first of equal planes wins.
//!
//! # Source
//! The sweep: Wald, Havran 2006 (see [`crate::kdtree`]), algorithm 5. Counting by stretches, the
//! prescan of a parallel scan: Choi et al. 2010 (see [`crate::kdtree::phases`]), section 4.
//! Skipping blocks is our own addition.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use super::Surface;
use crate::kdtree::cells::event::{Event, Kind};
use crate::kdtree::cost::plane::Side;
use crate::kdtree::sums::sum_of_fields;

#[cfg(test)]
mod tests;

/// The number of events per block.
const BLOCK_LEN: usize = 32;
/// The number of events per block of a long stretch. Most of a long stretch is skipped whatever the
/// block length, and there are fewer large blocks to visit.
const LONG_BLOCK_LEN: usize = 8 * BLOCK_LEN;
/// Stretches with at least this many events are long.
const LONG_LEN_MIN: usize = 8 * 1024;
/// In shorter stretches every event is weighed.
const STRETCH_LEN_MIN: usize = 3 * BLOCK_LEN;

/// The number of triangles that a sweep has entered, and the number that it has left. A planar
/// triangle is left as soon as it is entered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::kdtree) struct Passed {
    pub(in crate::kdtree) met: u32,
    pub(in crate::kdtree) left: u32,
}

sum_of_fields!(Passed: met, left);

impl Passed {
    /// Counts the triangles that a sweep over some events enters and leaves.
    #[inline(always)]
    pub(in crate::kdtree) fn over(events: &[Event]) -> Self {
        // One sum accumulates both counts: the kinds (`End` = 0, `Planar` = 1, `Start` = 2) in the
        // low word, and the starts in the high word.
        let sum = events
            .iter()
            .map(|event| event.kind_and_start())
            .sum::<u64>();
        let (kinds, starts) = (sum as u32, (sum >> 32) as u32);
        Self {
            met: kinds - starts,
            left: events.len() as u32 - starts,
        }
    }
}

/// Counts the triangles that the sweep over a stretch enters and leaves. `sums` is replaced by the
/// counts before each block, followed by the total.
///
/// Takes O(events) time, a fraction of a nanosecond per event.
pub(in crate::kdtree) fn count(events: &[Event], sums: &mut Vec<Passed>) -> Passed {
    Arch::new().dispatch(Count { events, sums })
}

/// The arguments of [`count`]. The work is compiled for several instruction sets, and the best one
/// that the processor supports is chosen at run time.
struct Count<'a> {
    events: &'a [Event],
    sums: &'a mut Vec<Passed>,
}

impl WithSimd for Count<'_> {
    type Output = Passed;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Passed {
        if self.events.len() < LONG_LEN_MIN {
            count_blocks::<BLOCK_LEN>(self.events, self.sums)
        } else {
            count_blocks::<LONG_BLOCK_LEN>(self.events, self.sums)
        }
    }
}

#[inline(always)]
fn count_blocks<const LEN: usize>(events: &[Event], sums: &mut Vec<Passed>) -> Passed {
    let mut sum = Passed::default();
    sums.clear();
    sums.reserve(events.len().div_ceil(LEN) + 1);
    sums.push(sum);
    let (blocks, rest) = events.as_chunks::<LEN>();
    for block in blocks {
        sum = sum + Passed::over(block);
        sums.push(sum);
    }
    if !rest.is_empty() {
        sum = sum + Passed::over(rest);
        sums.push(sum);
    }
    sum
}

/// The lightest plane of a stretch of events.
#[derive(Debug, Clone, Copy)]
pub(in crate::kdtree) struct Lightest {
    pub(in crate::kdtree) weight: f64,
    pub(in crate::kdtree) event: Event,
    pub(in crate::kdtree) planar_side: Side,
    /// The number of triangles below and above.
    pub(in crate::kdtree) counts: [u32; 2],
}

impl Lightest {
    /// Returns a value that is heavier than any plane.
    pub(in crate::kdtree) fn none() -> Self {
        Self {
            weight: f64::INFINITY,
            event: Event::default(),
            planar_side: Side::Above,
            counts: [0; 2],
        }
    }

    /// Returns the lighter of this plane and that of another stretch of the same axis; the first
    /// one if they are equal.
    pub(in crate::kdtree) fn or(self, other: Self) -> Self {
        let order = |lightest: &Self| (lightest.event, lightest.planar_side == Side::Below);
        let is_lighter = other.weight < self.weight
            || (other.weight == self.weight && order(&other) < order(&self));
        if is_lighter { other } else { self }
    }

    #[inline(always)]
    fn weigh(&mut self, surface: &Surface, event: Event, below: u32, above: u32, side: Side) {
        let weight = surface.weight(event.position(), below, above);
        if weight < self.weight {
            *self = Self {
                weight,
                event,
                planar_side: side,
                counts: [below, above],
            };
        }
    }
}

/// A part of the sorted events along an axis, and the events next to it.
#[derive(Debug, Clone, Copy)]
pub(in crate::kdtree) struct Stretch<'a> {
    pub(in crate::kdtree) events: &'a [Event],
    pub(in crate::kdtree) before: Option<Event>,
    pub(in crate::kdtree) after: Option<Event>,
}

/// The arguments of [`Stretch::lightest`], dispatched like [`Count`].
struct FindLightest<'a> {
    stretch: &'a Stretch<'a>,
    surface: &'a Surface,
    passed: Passed,
    count: u32,
    sums: &'a [Passed],
    bounds: &'a mut Vec<f64>,
}

impl WithSimd for FindLightest<'_> {
    type Output = Lightest;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Lightest {
        self.stretch.find_lightest(self)
    }
}

/// The number of triangles on each side of a sweep.
#[derive(Debug, Clone, Copy)]
struct Sides {
    below: u32,
    above: u32,
}

impl Stretch<'_> {
    /// Returns true if the stretch is so short that counting would cost more than it saves.
    pub(in crate::kdtree) fn is_short(&self) -> bool {
        self.events.len() < STRETCH_LEN_MIN
    }

    /// Finds the lightest plane of the stretch.
    ///
    /// `passed` is the count before the stretch, and `count` the number of triangles of the cell.
    /// `sums` is the result of [`count`]; short stretches do not use it. `bounds` is scratch
    /// memory.
    pub(in crate::kdtree) fn lightest(
        &self,
        surface: &Surface,
        passed: Passed,
        count: u32,
        sums: &[Passed],
        bounds: &mut Vec<f64>,
    ) -> Lightest {
        Arch::new().dispatch(FindLightest {
            stretch: self,
            surface,
            passed,
            count,
            sums,
            bounds,
        })
    }

    #[inline(always)]
    fn find_lightest(&self, work: FindLightest<'_>) -> Lightest {
        let FindLightest {
            surface,
            passed,
            count,
            sums,
            bounds,
            ..
        } = work;
        let sides = |block: usize| Sides::after(passed + sums[block], count);
        let mut lightest = Lightest::none();
        let len = self.events.len();
        if self.is_short() {
            self.weigh_blocks(0..len, Sides::after(passed, count), surface, &mut lightest);
            return lightest;
        }
        let block_len = if len < LONG_LEN_MIN {
            BLOCK_LEN
        } else {
            LONG_BLOCK_LEN
        };
        // Compute the lower bound of every block, and the upper limit from the planes at their
        // first events.
        let mut limit = f64::INFINITY;
        bounds.resize(len.div_ceil(block_len), 0.0);
        for (block, bound) in bounds.iter_mut().enumerate() {
            let first = self.events[block * block_len];
            let last = self.events[len.min((block + 1) * block_len) - 1];
            let (before, behind) = (sides(block), sides(block + 1));
            let area_below = surface.area_below(first.position());
            limit = limit.min(before.weight_limit(surface, area_below, first));
            *bound = area_below * f64::from(before.below)
                + surface.area_above(last.position()) * f64::from(behind.above);
        }
        // Search only the blocks that may contain the lightest plane.
        for (block, &bound) in bounds.iter().enumerate() {
            if bound <= limit {
                let first = block * block_len;
                let range = first..len.min(first + block_len);
                self.weigh_blocks(range, sides(block), surface, &mut lightest);
            }
        }
        lightest
    }

    /// Weighs the planes at the events of a range, block by block. `sides` is the state of the
    /// sweep before the first event.
    #[inline(always)]
    fn weigh_blocks(
        &self,
        range: Range<usize>,
        mut sides: Sides,
        surface: &Surface,
        lightest: &mut Lightest,
    ) {
        for first in range.clone().step_by(BLOCK_LEN) {
            let end = range.end.min(first + BLOCK_LEN);
            sides = self.weigh_block(first..end, sides, surface, lightest);
        }
    }

    /// Weighs the planes at the events of one block. Returns the state of the sweep behind it.
    #[inline(always)]
    fn weigh_block(
        &self,
        range: Range<usize>,
        sides: Sides,
        surface: &Surface,
        lightest: &mut Lightest,
    ) -> Sides {
        if let Some(block) = self.events[range.clone()].first_chunk::<BLOCK_LEN>()
            && !block.iter().any(|event| event.is_planar())
        {
            return weigh_plain_block(block, sides, surface, lightest);
        }
        self.weigh_events(range, sides, surface, lightest)
    }

    /// Weighs the planes at the events of a range.
    ///
    /// Weighing at every event instead of at every position needs no look-ahead. Among the ends at
    /// one position all but the last, and among the starts all but the first, count some triangle
    /// on both sides, so they are too heavy to win. Planar events at one position are weighed
    /// before the first and behind the last of them.
    #[inline(always)]
    fn weigh_events(
        &self,
        range: Range<usize>,
        Sides {
            mut below,
            mut above,
        }: Sides,
        surface: &Surface,
        lightest: &mut Lightest,
    ) -> Sides {
        for index in range {
            let event = self.events[index];
            let kind = event.kind();
            if kind == Kind::Planar as u32 {
                if !self
                    .before(index)
                    .is_some_and(|other| other.is_planar_with(event))
                {
                    lightest.weigh(surface, event, below, above, Side::Above);
                }
                below += 1;
                above -= 1;
                if !self
                    .behind(index)
                    .is_some_and(|other| other.is_planar_with(event))
                {
                    lightest.weigh(surface, event, below, above, Side::Below);
                }
                continue;
            }
            // The remaining kinds are `End` = 0 and `Start` = 2.
            let starts = kind >> 1;
            above -= 1 - starts;
            lightest.weigh(surface, event, below, above, Side::Above);
            below += starts;
        }
        Sides { below, above }
    }

    fn before(&self, index: usize) -> Option<Event> {
        match index.checked_sub(1) {
            Some(index) => Some(self.events[index]),
            None => self.before,
        }
    }

    fn behind(&self, index: usize) -> Option<Event> {
        self.events.get(index + 1).copied().or(self.after)
    }
}

impl Sides {
    fn after(passed: Passed, count: u32) -> Self {
        Self {
            below: passed.met,
            above: count - passed.left,
        }
    }

    /// Returns an upper limit for the weight of the lightest plane: the weight of the plane at the
    /// next event.
    #[inline(always)]
    fn weight_limit(self, surface: &Surface, area_below: f64, event: Event) -> f64 {
        let is_end = u32::from(event.kind() == Kind::End as u32);
        let weight = area_below * f64::from(self.below)
            + surface.area_above(event.position()) * f64::from(self.above - is_end);
        // In the middle of planar triangles there is no plane to choose. A plane at either end of
        // them is no heavier, apart from rounding.
        let slack = if event.is_planar() { 1.0 + 1e-9 } else { 1.0 };
        weight * slack
    }
}

/// Weighs the planes at the events of a block without planar events. Returns the state of the sweep
/// behind it.
///
/// All planes are weighed before any two are compared, so that the processor can weigh several at
/// once. The weights are computed by the same operations as in [`Surface::weight`].
#[inline(always)]
fn weigh_plain_block(
    block: &[Event; BLOCK_LEN],
    sides: Sides,
    surface: &Surface,
    lightest: &mut Lightest,
) -> Sides {
    // Count the starts before each event.
    let mut starts = [0_u32; BLOCK_LEN + 1];
    let mut sum = 0;
    for (starts, event) in starts[1..].iter_mut().zip(block) {
        sum += event.kind() >> 1;
        *starts = sum;
    }
    let mut weights = [0.0_f64; BLOCK_LEN];
    for (index, weight) in weights.iter_mut().enumerate() {
        // Every event that is not a start is an end.
        let ends = index as u32 + 1 - starts[index + 1];
        let [below, above] = [sides.below + starts[index], sides.above - ends];
        // Counts of triangles are below 2^31. Signed integers are faster to convert.
        let [below, above] = [below, above].map(|count| f64::from(count as i32));
        let position = block[index].position();
        *weight = surface.area_below(position) * below + surface.area_above(position) * above;
    }
    // Find the minimum by halving the array, which vectorises well.
    let mut least = weights;
    let mut width = BLOCK_LEN;
    while width > 1 {
        width /= 2;
        let (first, second) = least.split_at_mut(width);
        for (weight, &other) in first.iter_mut().zip(&*second) {
            *weight = if other < *weight { other } else { *weight };
        }
    }
    // The position of the minimum is needed only if it improves the result.
    if least[0] < lightest.weight
        && let Some(index) = weights.iter().position(|&weight| weight == least[0])
    {
        *lightest = Lightest {
            weight: least[0],
            event: block[index],
            planar_side: Side::Above,
            counts: [
                sides.below + starts[index],
                sides.above - (index as u32 + 1 - starts[index + 1]),
            ],
        };
    }
    Sides {
        below: sides.below + sum,
        above: sides.above - (BLOCK_LEN as u32 - sum),
    }
}
