//! CopyEvents: the events of one axis are copied to both halves, in order, along the routes of
//! their triangles.
//!
//! An event of a triangle on one side is written once, at the current end of that side's list. The
//! side is computed without a branch; along the split axis it is known beforehand. The few events
//! of triangles that straddle the plane, and the new events that are inserted, are handled out of
//! line.
//!
//! New events contain the old indices of their triangles, like the events that they are merged
//! with. The triangles of the halves keep their old order, so the order by old indices equals the
//! order by new ones.

use std::ops::Range;

use rayon::prelude::*;

use super::sweep::Plane;
use super::triangles::{Added, Fate, ROUTE_STRADDLES, Straddler};
use super::{event, slices};

/// The triangles may be in both halves.
const EITHER: u8 = 0;
/// All triangles that do not straddle the plane are below.
const BELOW: u8 = 1;
/// All triangles that do not straddle the plane are above.
const ABOVE: u8 = 2;

/// The routes along which a node's events are copied.
#[derive(Debug, Clone, Copy)]
pub(super) struct Routes<'a> {
    pub(super) routes: &'a [u32],
    pub(super) straddlers: &'a [Straddler],
    pub(super) added: &'a Added,
    pub(super) plane: &'a Plane,
}

impl Routes<'_> {
    /// Copies all events of an axis: those above to the start of `dealt`, those below to
    /// `below_first`. Returns the numbers of events below and above.
    pub(super) fn copy(
        &self,
        events: &[u64],
        axis: usize,
        dealt: &mut [u64],
        below_first: usize,
    ) -> [usize; 2] {
        let mut copying = Copying {
            routes: self.routes,
            straddlers: self.straddlers,
            axis,
            added: [0, 1].map(|half: usize| self.added[half][axis].as_slice()),
        };
        let ends = copying.run_along(events, 0, self.plane, dealt, [below_first, 0]);
        let [below, above] = copying.put_rest(dealt, ends);
        [below - below_first, above]
    }
}

/// The state of copying the events of one axis.
struct Copying<'a> {
    routes: &'a [u32],
    straddlers: &'a [Straddler],
    axis: usize,
    /// New events that have not been inserted yet.
    added: [&'a [u64]; 2],
}

impl Copying<'_> {
    /// Copies some events of the list. The first of them has the index `first` in it.
    #[inline]
    fn run_along(
        &mut self,
        events: &[u64],
        first: usize,
        plane: &Plane,
        dealt: &mut [u64],
        ends: [usize; 2],
    ) -> [usize; 2] {
        if self.axis != plane.axis {
            return self.run::<EITHER>(events, dealt, ends);
        }
        let split = plane.split.saturating_sub(first).min(events.len());
        let (below, above) = events.split_at(split);
        let ends = self.run::<BELOW>(below, dealt, ends);
        self.run::<ABOVE>(above, dealt, ends)
    }

    /// Copies some events. `ends` are the current ends of the lists below and above.
    #[inline(always)]
    fn run<const WAY: u8>(
        &mut self,
        events: &[u64],
        dealt: &mut [u64],
        [mut below, mut above]: [usize; 2],
    ) -> [usize; 2] {
        let mut next_added = self.next_added();
        let routes = self.routes;
        for &event in events {
            if event >= next_added {
                [below, above] = self.put_added(event, dealt, [below, above]);
                next_added = self.next_added();
            }
            let route = routes[event::index(event)];
            if route & ROUTE_STRADDLES != 0 {
                [below, above] = self.put_straddling(event, route, dealt, [below, above]);
                continue;
            }
            let moved = event - u64::from(route >> 1);
            match WAY {
                BELOW => {
                    dealt[below] = moved;
                    below += 1;
                }
                ABOVE => {
                    dealt[above] = moved;
                    above += 1;
                }
                _ => {
                    let side = (route & 1) as usize;
                    dealt[if side == 0 { below } else { above }] = moved;
                    above += side;
                    below += 1 - side;
                }
            }
        }
        [below, above]
    }

    fn next_added(&self) -> u64 {
        let [below, above] = self.added.map(|added| added.first().copied());
        below.unwrap_or(u64::MAX).min(above.unwrap_or(u64::MAX))
    }

    /// Inserts the new events that precede an event.
    #[cold]
    #[inline(never)]
    fn put_added(&mut self, event: u64, dealt: &mut [u64], mut ends: [usize; 2]) -> [usize; 2] {
        for (half, end) in ends.iter_mut().enumerate() {
            while let Some((&added, rest)) = self.added[half].split_first()
                && added < event
            {
                let number = self.routes[event::index(added)] & !ROUTE_STRADDLES;
                let fate = self.straddlers[number as usize][half];
                dealt[*end] = event::with_index(added, fate.index);
                *end += 1;
                self.added[half] = rest;
            }
        }
        ends
    }

    /// Inserts the remaining new events.
    fn put_rest(&mut self, dealt: &mut [u64], ends: [usize; 2]) -> [usize; 2] {
        self.put_added(u64::MAX, dealt, ends)
    }

    #[cold]
    #[inline(never)]
    fn put_straddling(
        &self,
        event: u64,
        route: u32,
        dealt: &mut [u64],
        mut ends: [usize; 2],
    ) -> [usize; 2] {
        let fates = self.straddlers[(route & !ROUTE_STRADDLES) as usize];
        for (fate, end) in fates.iter().zip(&mut ends) {
            if fate.index != Fate::GONE && fate.keeps(self.axis, event::kind(event)) {
                dealt[*end] = event::with_index(event, fate.index);
                *end += 1;
            }
        }
        ends
    }
}

/// The number of events that are copied at a time, first into the cache and from there to both
/// halves.
const CHUNK_LEN: usize = 2048;

/// A part of the events of one axis.
struct Part<'a> {
    axis: usize,
    range: Range<usize>,
    /// The new events that belong to this part.
    added: [&'a [u64]; 2],
    counts: [usize; 2],
    dealt: [&'a mut [u64]; 2],
}

impl Routes<'_> {
    /// Does the work of [`copy`](Self::copy) for all axes with all threads, each axis in
    /// `part_count` parts. Returns, for each axis, the numbers of events below and above.
    pub(super) fn copy_parallel(
        &self,
        events: [&[u64]; 3],
        part_count: usize,
        dealt: [&mut [u64]; 3],
        below_first: usize,
    ) -> [[usize; 2]; 3] {
        let mut parts: Vec<Part<'_>> = (0..3)
            .flat_map(|axis| self.parts_of(events[axis], axis, part_count))
            .collect();
        parts
            .par_iter_mut()
            .for_each(|part| self.count(events[part.axis], part));
        let mut counts = [[0; 2]; 3];
        let mut rests = dealt.map(|dealt| {
            let (above, below) = dealt.split_at_mut(below_first);
            [below, above]
        });
        for part in &mut parts {
            for half in 0..2 {
                let rest = &mut rests[part.axis][half];
                part.dealt[half] = slices::take(rest, part.counts[half]);
                counts[part.axis][half] += part.counts[half];
            }
        }
        parts
            .into_par_iter()
            .for_each(|part| self.fill(events[part.axis], part));
        counts
    }

    /// Returns the parts of one axis. Each begins with an event, and has the new events up to the
    /// next part's first event.
    fn parts_of<'b>(&'b self, events: &[u64], axis: usize, part_count: usize) -> Vec<Part<'b>> {
        let mut rests = [0, 1].map(|half: usize| self.added[half][axis].as_slice());
        slices::parts(events.len(), part_count)
            .map(|range| {
                let next = events.get(range.end).copied().unwrap_or(u64::MAX);
                let added = rests.each_mut().map(|rest| {
                    let (own, later) = rest.split_at(rest.partition_point(|&event| event < next));
                    *rest = later;
                    own
                });
                Part {
                    axis,
                    range,
                    counts: added.map(<[u64]>::len),
                    added,
                    dealt: [&mut [], &mut []],
                }
            })
            .collect()
    }

    /// Counts the events that go to each half.
    fn count(&self, events: &[u64], part: &mut Part<'_>) {
        let (mut above, mut straddling) = (0, 0);
        for &event in &events[part.range.clone()] {
            let route = self.routes[event::index(event)];
            if route & ROUTE_STRADDLES != 0 {
                straddling += 1;
                let fates = &self.straddlers[(route & !ROUTE_STRADDLES) as usize];
                for (fate, count) in fates.iter().zip(&mut part.counts) {
                    let keeps = fate.keeps(part.axis, event::kind(event));
                    *count += usize::from(fate.index != Fate::GONE && keeps);
                }
                continue;
            }
            above += (route & 1) as usize;
        }
        part.counts[1] += above;
        part.counts[0] += part.range.len() - straddling - above;
    }

    /// Copies a part to its destinations, which are known.
    fn fill(&self, events: &[u64], part: Part<'_>) {
        let mut dealt = part.dealt;
        let mut rests = part.added;
        let mut chunk = vec![0; 2 * CHUNK_LEN];
        let mut start = part.range.start;
        while start < part.range.end {
            let end = part.range.end.min(start + CHUNK_LEN);
            // The last chunk takes all remaining new events, since the part has all of those before
            // the next part.
            let next = if end < part.range.end {
                events[end]
            } else {
                u64::MAX
            };
            let added = rests.each_mut().map(|rest| {
                let (own, later) = rest.split_at(rest.partition_point(|&event| event < next));
                *rest = later;
                own
            });
            let below_first = CHUNK_LEN + added[1].len();
            chunk.resize(
                (below_first + CHUNK_LEN + added[0].len()).max(chunk.len()),
                0,
            );
            let mut copying = Copying {
                routes: self.routes,
                straddlers: self.straddlers,
                axis: part.axis,
                added,
            };
            let ends = [below_first, 0];
            let ends = copying.run_along(&events[start..end], start, self.plane, &mut chunk, ends);
            let [below_end, above_end] = copying.put_rest(&mut chunk, ends);
            let counts = [below_end - below_first, above_end];
            for (half, first) in [below_first, 0].into_iter().enumerate() {
                slices::take(&mut dealt[half], counts[half])
                    .copy_from_slice(&chunk[first..first + counts[half]]);
            }
            start = end;
        }
    }
}
