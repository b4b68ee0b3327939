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

use std::ops::Add;

use super::super::event::{Event, Kind};
use super::{Side, Surface};

#[cfg(test)]
mod tests;

/// Events a block.
const BLOCK_LEN: usize = 32;
/// Shorter stretches are weighed event by event.
const STRETCH_LEN_MIN: usize = 3 * BLOCK_LEN;

/// How many triangles a sweep has met, and how many it has left. Planar ones are left as they are met.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in super::super) struct Passed {
    pub(in super::super) met: u32,
    pub(in super::super) left: u32,
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
    /// What a sweep over some events passes.
    #[inline]
    fn over(events: &[Event]) -> Self {
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
pub(in super::super) fn count(events: &[Event], sums: &mut Vec<Passed>) -> Passed {
    let mut sum = Passed::default();
    sums.clear();
    sums.push(sum);
    let (blocks, rest) = events.as_chunks::<BLOCK_LEN>();
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
pub(in super::super) struct Lightest {
    pub(super) weight: f64,
    pub(super) event: Event,
    pub(super) planar_side: Side,
}

impl Lightest {
    /// Heavier than any plane.
    pub(in super::super) fn none() -> Self {
        Self {
            weight: f64::INFINITY,
            event: Event::default(),
            planar_side: Side::Above,
        }
    }

    /// The lighter of this one and that of another stretch of the same axis; of equals the first.
    pub(in super::super) fn or(self, other: Self) -> Self {
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
            };
        }
    }
}

/// Some of the sorted events along an axis, and what stands next to them there.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Stretch<'a> {
    pub(in super::super) events: &'a [Event],
    pub(in super::super) before: Option<Event>,
    pub(in super::super) after: Option<Event>,
}

/// The numbers of triangles on both sides of a sweep.
#[derive(Debug, Clone, Copy)]
struct Sides {
    below: u32,
    above: u32,
}

impl Stretch<'_> {
    /// Whether counting would cost more than it saves.
    pub(super) fn is_short(&self) -> bool {
        self.events.len() < STRETCH_LEN_MIN
    }

    /// Finds the lightest plane of a stretch; `passed` is what the sweep has passed before it, of `count` triangles in all.
    ///
    /// `sums` is what [`count`] has found; short stretches do without.
    pub(in super::super) fn lightest(
        &self,
        surface: &Surface,
        passed: Passed,
        count: u32,
        sums: &[Passed],
    ) -> Lightest {
        let mut lightest = Lightest::none();
        if self.is_short() {
            let sides = Sides::after(passed, count);
            self.look_at(0..self.events.len(), sides, surface, &mut lightest);
            return lightest;
        }
        let sides = |block: usize| Sides::after(passed + sums[block], count);
        let end = |block: usize| self.events.len().min((block + 1) * BLOCK_LEN);
        let block_count = self.events.len().div_ceil(BLOCK_LEN);
        let limit = (0..block_count).fold(f64::INFINITY, |limit, block| {
            let event = self.events[block * BLOCK_LEN];
            limit.min(sides(block).weight_limit(surface, event))
        });
        for block in 0..block_count {
            let (first, end) = (block * BLOCK_LEN, end(block));
            let bound = surface.bound(
                self.events[first].position()..=self.events[end - 1].position(),
                sides(block).below,
                sides(block + 1).above,
            );
            if bound <= limit {
                self.look_at(first..end, sides(block), surface, &mut lightest);
            }
        }
        lightest
    }

    /// Weighs the plane through each of some events.
    ///
    /// Weighing at every event instead of every position needs no look ahead: within the ends at one position
    /// all but the last, and within the starts all but the first, count some triangle on both sides and are too
    /// heavy to win. Planar events at one position are weighed before the first and behind the last.
    #[inline]
    fn look_at(
        &self,
        range: std::ops::Range<usize>,
        Sides {
            mut below,
            mut above,
        }: Sides,
        surface: &Surface,
        lightest: &mut Lightest,
    ) {
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
    fn weight_limit(self, surface: &Surface, event: Event) -> f64 {
        let is_end = u32::from(event.kind() == Kind::End as u32);
        let weight = surface.weight(event.position(), self.below, self.above - is_end);
        if event.kind() == Kind::Planar as u32 {
            // In the middle of planar triangles there is no plane to choose; one at either end of them is no heavier, but for
            // rounding.
            weight * (1.0 + 1e-9)
        } else {
            weight
        }
    }
}
