//! The inner loop: one sweep over a rectangle, several rows at once.
//!
//! A point depends on the point to its left through a chain of operations: a multiplication, two
//! additions, a subtraction, a multiplication and an addition. A single row is therefore one long
//! chain, which leaves a processor idle most of the time. A *strip* is several
//! [pairs](super::values) of rows, in which each row is one column behind the row above it. These
//! are as many chains, and within a step no chain waits for another.
//!
//! In a step, the right neighbour of a point in one row is the lower neighbour of the point in the
//! row above. The value that a row computed in the previous step is the upper neighbour in the row
//! below. An entry therefore only loads its coefficients and its own values. If the first or the
//! last row of a rectangle is only half of a pair, the other row is computed, too, but keeps its
//! old values.
//!
//! Every point is computed with the same operations in the same order as in the plain loop, so all
//! results are equal to the last bit.

use std::array;
use std::ops::Range;

use super::values::{Coefficients, Lanes, PairCoefficients, Paired, Values};

/// The relaxation factor: the weight of the neighbours in the new value of a point.
const RELAXATION: f64 = 0.175;

/// The largest number of pairs in a strip. Six pairs are enough to hide the latency of the chain
/// with vectors of two lanes.
const PAIRS_MAX: usize = 6;

/// Computes a point from the values of its neighbours and its own value.
#[inline(always)]
pub(super) fn point(
    below: f64,
    above: f64,
    right: f64,
    left: f64,
    own: f64,
    z: Coefficients,
) -> f64 {
    let [zr, zb, zu, zv, zz] = z;
    let qa = below * zr + above * zb + right * zu + left * zv + zz;
    own + RELAXATION * (qa - own)
}

/// Computes both points of an entry. `under` is the value below the lower point, and `over` is the
/// value above the upper point.
#[inline(always)]
fn entry(
    under: f64,
    over: f64,
    right: Lanes,
    left: Lanes,
    own: Lanes,
    z: &PairCoefficients,
) -> Lanes {
    let (below, above) = ([right.0[1], under], [over, left.0[0]]);
    Lanes(array::from_fn(|lane| {
        point(
            below[lane],
            above[lane],
            right.0[lane],
            left.0[lane],
            own.0[lane],
            z.map(|lanes| lanes.0[lane]),
        )
    }))
}

/// The values of a block and their coefficients.
pub(super) struct Plane<'a> {
    pub(super) values: &'a mut Values,
    pub(super) z: &'a Paired,
}

impl Plane<'_> {
    /// Sweeps over a rectangle. There must be a row of values above and below it, and a column to
    /// its left and right.
    pub(super) fn sweep(&mut self, rows: Range<usize>, columns: Range<usize>) {
        if rows.is_empty() || columns.is_empty() {
            return;
        }
        let (start, end) = (rows.start.div_ceil(2), rows.end / 2 + 1);
        for first in (start..end).step_by(PAIRS_MAX) {
            let count = (end - first).min(PAIRS_MAX);
            let kept = Kept {
                lead: first == start && rows.start.is_multiple_of(2),
                trail: first + count == end && rows.end.is_multiple_of(2),
            };
            match count {
                1 => self.strip::<1>(first, &columns, kept),
                2 => self.strip::<2>(first, &columns, kept),
                3 => self.strip::<3>(first, &columns, kept),
                4 => self.strip::<4>(first, &columns, kept),
                5 => self.strip::<5>(first, &columns, kept),
                _ => self.strip::<PAIRS_MAX>(first, &columns, kept),
            }
        }
    }

    #[inline(never)]
    fn strip<const P: usize>(&mut self, first: usize, columns: &Range<usize>, kept: Kept) {
        let (begin, count) = (columns.start - 1, columns.len());
        let width = self.values.width;
        let mut rows = self.values.entries[(first - 1) * width..].chunks_exact_mut(width);
        let mut next = || {
            rows.next()
                .map_or(&mut [] as &mut [_], |row| &mut row[begin..][..count + 3])
        };
        let mut strip = Strip::<P> {
            count,
            kept,
            above: next(),
            pairs: array::from_fn(|_| next()),
            below: next(),
            z: array::from_fn(|pair| {
                &self.z.entries[(first + pair - 1) * self.z.width + begin..][..count + 1]
            }),
        };
        if count < 2 * P {
            strip.ragged(0..count + 2 * P - 1);
            return;
        }
        strip.ragged(0..2 * P - 1);
        match (kept.lead, kept.trail) {
            (false, false) => strip.steady::<false, false>(),
            (true, false) => strip.steady::<true, false>(),
            (false, true) => strip.steady::<false, true>(),
            (true, true) => strip.steady::<true, true>(),
        }
        strip.ragged(count..count + 2 * P - 1);
    }
}

/// The rows of a strip that keep their values, because they are not in the rectangle although the
/// other row of their pair is.
#[derive(Clone, Copy)]
struct Kept {
    /// True if the upper row of the first pair keeps its values.
    lead: bool,
    /// True if the lower row of the last pair keeps its values.
    trail: bool,
}

/// Pairs of rows that are computed together. In step `s`, pair `p` computes its entry `s - 2 p`,
/// out of `count + 1` entries.
///
/// All slices begin with the entry to the left of the first, so entry `k` has index `k + 1`.
struct Strip<'a, const P: usize> {
    count: usize,
    kept: Kept,
    above: &'a [Lanes],
    pairs: [&'a mut [Lanes]; P],
    /// Empty if there is no pair below.
    below: &'a [Lanes],
    z: [&'a [PairCoefficients]; P],
}

impl<const P: usize> Strip<'_, P> {
    /// Makes the steps in which some pair has no entry, or an entry with only one point.
    #[inline(always)]
    fn ragged(&mut self, steps: Range<usize>) {
        for step in steps {
            for pair in 0..P {
                if (2 * pair..=self.count + 2 * pair).contains(&step) {
                    self.one(pair, step - 2 * pair);
                }
            }
        }
    }

    /// Computes the points of an entry that are in the rectangle.
    #[inline(always)]
    fn one(&mut self, pair: usize, at: usize) {
        let [left, own, right] = self.pairs[pair][at..][..3] else {
            unreachable!("the slice has three entries")
        };
        let under = match self.pairs.get(pair + 1) {
            Some(next) => next[at].0[0],
            None => self.below.get(at).map_or(0.0, |lanes| lanes.0[0]),
        };
        let over = match pair {
            0 => self.above[at + 2].0[1],
            _ => self.pairs[pair - 1][at + 2].0[1],
        };
        let mut new = entry(under, over, right, left, own, &self.z[pair][at]);
        if at == self.count || self.kept.lead && pair == 0 {
            new.0[0] = own.0[0];
        }
        if at == 0 || self.kept.trail && pair + 1 == P {
            new.0[1] = own.0[1];
        }
        self.pairs[pair][at + 1] = new;
    }

    /// Makes the steps in which all rows have a point.
    #[inline(always)]
    fn steady<const LEAD: bool, const TRAIL: bool>(&mut self) {
        let (begin, steps) = (2 * P - 1, self.count + 1 - 2 * P);
        // Cut the slices so that all pairs have their entries of the same step at the same index.
        let (mut left, mut own) = ([Lanes::default(); P], [Lanes::default(); P]);
        let mut at = 0;
        let mut pairs = self.pairs.each_mut().map(|entries| {
            let entries = &mut entries[begin - 2 * at..][..steps + 2];
            (left[at], own[at]) = (entries[0], entries[1]);
            at += 1;
            &mut entries[1..]
        });
        let z: [_; P] = array::from_fn(|pair| &self.z[pair][begin - 2 * pair..][..steps]);
        let above = &self.above[begin + 2..][..steps];
        let below: &[Lanes] = if TRAIL {
            &[]
        } else {
            &self.below[1..][..steps]
        };
        for step in 0..steps {
            let right: [Lanes; P] = array::from_fn(|pair| pairs[pair][step + 1]);
            let new: [Lanes; P] = array::from_fn(|pair| {
                let under = match pair {
                    _ if pair + 1 < P => right[pair + 1].0[0],
                    _ if TRAIL => 0.0,
                    _ => below[step].0[0],
                };
                let over = match pair {
                    0 => above[step].0[1],
                    _ => left[pair - 1].0[1],
                };
                let mut new = entry(
                    under,
                    over,
                    right[pair],
                    left[pair],
                    own[pair],
                    &z[pair][step],
                );
                if LEAD && pair == 0 {
                    new.0[0] = own[pair].0[0];
                }
                if TRAIL && pair + 1 == P {
                    new.0[1] = own[pair].0[1];
                }
                new
            });
            for (pair, new) in pairs.iter_mut().zip(new) {
                pair[step] = new;
            }
            (left, own) = (new, right);
        }
    }
}
