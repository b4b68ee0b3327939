//! The lightest plane of a stretch of events, found without weighing most of them.
//!
//! Between two events of a sorted list nothing is lighter than what the counts before the first and behind the second, and the areas at
//! their positions, come to. So a stretch is counted in blocks, which is quick; the planes at the blocks' first events give a weight that
//! the lightest does not exceed; and only the blocks whose bound is below that are looked at event by event. Of a long list these
//! are a few around the minimum.
//!
//! # Why the outcome is that of weighing all
//! Each operation of a weight rounds monotonically, so that a bound from smaller operands is no larger than any weight computed in its
//! block. A block that holds the lightest plane therefore has a bound of at most its weight, and is looked at; so is every
//! earlier one that is as light, and the first of equals wins.
//!
//! # Source
//! The sweep: Wald, Havran 2006 (see [`super`]), algorithm 5. Counting by stretches, the prescan of a parallel scan: Choi et al. 2010 (see
//! [`super::super::tasks`]), section 4. Leaving out blocks is ours.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use super::Surface;
use crate::kdtree::cells::event::{Event, Kind};
use crate::kdtree::cost::plane::Side;
use crate::kdtree::sums::sum_of_fields;

#[cfg(test)]
mod tests;

/// Events a block.
const BLOCK_LEN: usize = 32;
/// Events a block of a long stretch: most of it is left out however large the blocks are, and fewer blocks are less to go over.
const LONG_BLOCK_LEN: usize = 8 * BLOCK_LEN;
/// Stretches of so many events are long.
const LONG_LEN_MIN: usize = 8 * 1024;
/// Shorter stretches are weighed event by event.
const STRETCH_LEN_MIN: usize = 3 * BLOCK_LEN;

/// How many triangles a sweep has met, and how many it has left. Planar ones are left as they are met.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::kdtree) struct Passed {
    pub(in crate::kdtree) met: u32,
    pub(in crate::kdtree) left: u32,
}

sum_of_fields!(Passed: met, left);

impl Passed {
    /// What a sweep over some events passes.
    #[inline(always)]
    pub(in crate::kdtree) fn over(events: &[Event]) -> Self {
        // Both counts in one word: the kinds, `End` = 0, `Planar` = 1, `Start` = 2, and above them the starts.
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

/// Counts what the sweep over a stretch passes: before each of its blocks, and last in all.
///
/// Cost: O(events), a fraction of a nanosecond for each; `sums` is replaced.
pub(in crate::kdtree) fn count(events: &[Event], sums: &mut Vec<Passed>) -> Passed {
    Arch::new().dispatch(Count { events, sums })
}

/// Work that the best instructions of the processor at hand are used for.
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
    /// The triangles below and above.
    pub(in crate::kdtree) counts: [u32; 2],
}

impl Lightest {
    /// Heavier than any plane.
    pub(in crate::kdtree) fn none() -> Self {
        Self {
            weight: f64::INFINITY,
            event: Event::default(),
            planar_side: Side::Above,
            counts: [0; 2],
        }
    }

    /// The lighter of this one and that of another stretch of the same axis; of equals the first.
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

/// Some of the sorted events along an axis, and what stands next to them there.
#[derive(Debug, Clone, Copy)]
pub(in crate::kdtree) struct Stretch<'a> {
    pub(in crate::kdtree) events: &'a [Event],
    pub(in crate::kdtree) before: Option<Event>,
    pub(in crate::kdtree) after: Option<Event>,
}

/// As [`Count`].
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

/// The numbers of triangles on both sides of a sweep.
#[derive(Debug, Clone, Copy)]
struct Sides {
    below: u32,
    above: u32,
}

impl Stretch<'_> {
    /// Whether counting would cost more than it saves.
    pub(in crate::kdtree) fn is_short(&self) -> bool {
        self.events.len() < STRETCH_LEN_MIN
    }

    /// Finds the lightest plane of a stretch; `passed` is what the sweep has passed before it, of `count` triangles in all.
    ///
    /// `sums` is what [`count`] has found; short stretches do without. `bounds` is scratch memory.
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
            self.look_at_blocks(0..len, Sides::after(passed, count), surface, &mut lightest);
            return lightest;
        }
        let block_len = if len < LONG_LEN_MIN {
            BLOCK_LEN
        } else {
            LONG_BLOCK_LEN
        };
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
        for (block, &bound) in bounds.iter().enumerate() {
            if bound <= limit {
                let first = block * block_len;
                let range = first..len.min(first + block_len);
                self.look_at_blocks(range, sides(block), surface, &mut lightest);
            }
        }
        lightest
    }

    /// Weighs the planes through some events, of which so many are on either side before the first.
    #[inline(always)]
    fn look_at_blocks(
        &self,
        range: Range<usize>,
        mut sides: Sides,
        surface: &Surface,
        lightest: &mut Lightest,
    ) {
        for first in range.clone().step_by(BLOCK_LEN) {
            let end = range.end.min(first + BLOCK_LEN);
            sides = self.look_at_block(first..end, sides, surface, lightest);
        }
    }

    /// Weighs the planes through a block of events; returns what is on either side behind it.
    #[inline(always)]
    fn look_at_block(
        &self,
        range: Range<usize>,
        sides: Sides,
        surface: &Surface,
        lightest: &mut Lightest,
    ) -> Sides {
        if let Some(block) = self.events[range.clone()].first_chunk::<BLOCK_LEN>()
            && !block.iter().any(|event| event.is_planar())
        {
            return look_at_plain(block, sides, surface, lightest);
        }
        self.look_at(range, sides, surface, lightest)
    }

    /// Weighs the plane through each of some events.
    ///
    /// Weighing at every event instead of every position needs no look ahead: within the ends at one position
    /// all but the last, and within the starts all but the first, count some triangle on both sides and are too
    /// heavy to win. Planar events at one position are weighed before the first and behind the last.
    #[inline(always)]
    fn look_at(
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
            // The kinds left are `End` = 0 and `Start` = 2.
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

    /// A weight that the lightest plane does not exceed, from the plane through the next event.
    #[inline(always)]
    fn weight_limit(self, surface: &Surface, area_below: f64, event: Event) -> f64 {
        let is_end = u32::from(event.kind() == Kind::End as u32);
        let weight = area_below * f64::from(self.below)
            + surface.area_above(event.position()) * f64::from(self.above - is_end);
        // In the middle of planar triangles there is no plane to choose; one at either end of them is no heavier, but for
        // rounding.
        let slack = if event.is_planar() { 1.0 + 1e-9 } else { 1.0 };
        weight * slack
    }
}

/// Weighs the planes through some events none of which is planar; returns what is on either side behind them.
///
/// All are weighed before any is compared with another: so a processor can do several at once. The weights are those of
/// [`Surface::weight`], operation by operation.
#[inline(always)]
fn look_at_plain(
    block: &[Event; BLOCK_LEN],
    sides: Sides,
    surface: &Surface,
    lightest: &mut Lightest,
) -> Sides {
    let mut starts = [0_u32; BLOCK_LEN + 1];
    let mut sum = 0;
    for (starts, event) in starts[1..].iter_mut().zip(block) {
        sum += event.kind() >> 1;
        *starts = sum;
    }
    let mut weights = [0.0_f64; BLOCK_LEN];
    for (index, weight) in weights.iter_mut().enumerate() {
        // What is no start is an end.
        let ends = index as u32 + 1 - starts[index + 1];
        let [below, above] = [sides.below + starts[index], sides.above - ends];
        // Counts of triangles are below 2^31; signed numbers are quicker to convert.
        let [below, above] = [below, above].map(|count| f64::from(count as i32));
        let position = block[index].position();
        *weight = surface.area_below(position) * below + surface.area_above(position) * above;
    }
    let mut least = weights;
    let mut width = BLOCK_LEN;
    while width > 1 {
        width /= 2;
        let (first, second) = least.split_at_mut(width);
        for (weight, &other) in first.iter_mut().zip(&*second) {
            *weight = if other < *weight { other } else { *weight };
        }
    }
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
