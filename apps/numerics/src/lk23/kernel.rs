//! The loop itself: one sweep over a rectangle, several rows at once.
//!
//! A point waits for the one to its left: a multiplication, two additions, a subtraction, a multiplication and an addition, one after
//! the other. A row alone is therefore a chain that leaves a processor idle most of the time. A *strip* is several rows, each a
//! column behind the one above it: as many chains, of which none waits for another within a step. What a row has on its right in a step is what
//! the row above has below it, and what it made in the last step is what the row below has above it: a point loads its five coefficients
//! and one value.
//!
//! Two rows are a *pair*, the two lanes of a vector of the least processor there is. Coefficients are kept in the order in which a pair
//! wants them: entry `k` of a pair has those of column `k` of its upper row and of column `k - 1` of its lower row.
//!
//! Every point is computed by the same operations in the same order as in the plain loop, so that all results are equal to the last bit.

use std::array;
use std::ops::Range;

/// `zr`, `zb`, `zu`, `zv`, `zz` of a point.
pub type Coefficients = [f64; 5];

/// Two lanes, where a vector wants them: what lies so needs no load of its own.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(16))]
pub(super) struct Lanes([f64; 2]);

/// Those of a point of the upper row, and of the one to its lower left.
pub(super) type PairCoefficients = [Lanes; 5];

/// How far a point goes to what its neighbours want of it.
const RELAXATION: f64 = 0.175;

/// A point, from its neighbours' values and its own.
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

/// The point at an index, in rows of `width`. Where the lane is known, its coefficients are loaded one by one; else by way of the stack.
#[inline(always)]
fn point_at(za: &mut [f64], width: usize, at: usize, z: &PairCoefficients, lane: usize) {
    let (below, above, right, left) = (za[at + width], za[at - width], za[at + 1], za[at - 1]);
    za[at] = point(
        below,
        above,
        right,
        left,
        za[at],
        z.map(|lanes| lanes.0[lane]),
    );
}

/// Coefficients of rows and columns in the order in which pairs want them.
#[derive(Clone, Debug, Default)]
pub(super) struct Paired {
    z: Vec<PairCoefficients>,
    /// Entries of a pair of rows.
    width: usize,
}

impl Paired {
    /// Those that `of` says of a row and a column, each counted from 0.
    pub(super) fn new(
        rows: usize,
        columns: usize,
        of: impl Fn(usize, usize) -> Coefficients,
    ) -> Self {
        let width = columns + 1;
        let mut z = vec![PairCoefficients::default(); rows.div_ceil(2) * width];
        for row in 0..rows {
            for column in 0..columns {
                let entry = &mut z[row / 2 * width + column + row % 2];
                for (lanes, number) in entry.iter_mut().zip(of(row, column)) {
                    lanes.0[row % 2] = number;
                }
            }
        }
        Self { z, width }
    }

    /// The entries of a pair, from one on.
    fn pair(&self, upper: usize, first: usize, count: usize) -> &[PairCoefficients] {
        &self.z[upper / 2 * self.width + first..][..count]
    }
}

/// Values in rows that lie one behind the other, and coefficients.
///
/// The coefficients of the value in row `r` and column `c` are those of row `r - 1` and column `c - 1`.
pub(super) struct Plane<'a> {
    pub(super) za: &'a mut [f64],
    /// Values in a row.
    pub(super) width: usize,
    pub(super) z: &'a Paired,
}

impl Plane<'_> {
    /// Sweeps over a rectangle, which has a row of values above and below it, and a column to its left and right.
    pub(super) fn sweep(&mut self, rows: Range<usize>, columns: Range<usize>) {
        let mut row = rows.start;
        // Pairs begin with the first row of coefficients.
        if row.is_multiple_of(2) && row < rows.end {
            self.single(row, columns.clone());
            row += 1;
        }
        while row + 8 <= rows.end {
            self.strip::<4>(row, columns.clone());
            row += 8;
        }
        let pairs = (rows.end - row) / 2;
        match pairs {
            3 => self.strip::<3>(row, columns.clone()),
            2 => self.strip::<2>(row, columns.clone()),
            1 => self.strip::<1>(row, columns.clone()),
            _ => {}
        }
        row += 2 * pairs;
        if row < rows.end {
            self.single(row, columns);
        }
    }

    /// Sweeps over one row, which may be half of a pair.
    fn single(&mut self, row: usize, columns: Range<usize>) {
        match row % 2 {
            0 => self.single_of::<1>(row, columns),
            _ => self.single_of::<0>(row, columns),
        }
    }

    #[inline(never)]
    fn single_of<const LANE: usize>(&mut self, row: usize, columns: Range<usize>) {
        let z = self
            .z
            .pair(row - 1, columns.start - 1 + LANE, columns.len());
        let (before, rest) = self.za.split_at_mut(row * self.width);
        let (own, after) = rest.split_at_mut(self.width);
        let above = &before[(row - 1) * self.width + columns.start..][..columns.len()];
        let below = &after[columns.start..][..columns.len()];
        let own = &mut own[columns.start - 1..][..columns.len() + 2];
        let mut left = own[0];
        for (column, ((z, &above), &below)) in z.iter().zip(above).zip(below).enumerate() {
            left = point(
                below,
                above,
                own[column + 2],
                left,
                own[column + 1],
                z.map(|lanes| lanes.0[LANE]),
            );
            own[column + 1] = left;
        }
    }

    /// Sweeps over `P` pairs of rows.
    #[inline(never)]
    fn strip<const P: usize>(&mut self, row: usize, columns: Range<usize>) {
        let (height, count) = (2 * P, columns.len());
        if count < height {
            (row..row + height).for_each(|row| self.single(row, columns.clone()));
            return;
        }
        // Both ends point by point, where not all rows are under way.
        for step in 0..height - 1 {
            self.ragged(row, columns.start + step, 0..step + 1);
        }
        self.steady::<P>(row, columns.start, count + 1 - height);
        for step in count..count + height - 1 {
            self.ragged(row, columns.start + step, step + 1 - count..height);
        }
    }

    /// A step of some rows of the strip that begins with row `row`, which is at column `column` if it has a point.
    #[inline(always)]
    fn ragged(&mut self, row: usize, column: usize, rows: Range<usize>) {
        let (width, z_width) = (self.width, self.z.width);
        let first = row * width + column;
        let z = &self.z.z[(row - 1) / 2 * z_width + column - 1..];
        for pair in rows.start / 2..rows.end.div_ceil(2) {
            // A row further down, a column further to the left; both lanes of a pair have one entry.
            let entry = &z[pair * (z_width - 2)];
            let at = first + 2 * pair * (width - 1);
            if rows.start <= 2 * pair {
                point_at(self.za, width, at, entry, 0);
            }
            if 2 * pair + 1 < rows.end {
                point_at(self.za, width, at + width - 1, entry, 1);
            }
        }
    }

    /// All steps in which each row of a strip has a point; the first row begins at column `column + 2 P - 1`.
    #[inline(always)]
    fn steady<const P: usize>(&mut self, row: usize, column: usize, steps: usize) {
        let last = 2 * P - 1;
        let mut values = self.za[(row - 1) * self.width..].chunks_exact_mut(self.width);
        let mut next = || values.next().expect("there is a row below");
        let above = &next()[column + last..][..steps];
        let (mut left, mut own) = ([[0.0; 2]; P], [[0.0; 2]; P]);
        // Cut so that each row has its point of step `s` at the same index.
        let mut rows: [[&mut [f64]; 2]; P] = array::from_fn(|pair| {
            array::from_fn(|lane| {
                let values = &mut next()[column + last - 2 * pair - lane - 1..];
                (left[pair][lane], own[pair][lane]) = (values[0], values[1]);
                &mut values[1..][..steps + 1]
            })
        });
        let below = &next()[column..][..steps];
        let z: [&[PairCoefficients]; P] = array::from_fn(|pair| {
            let first = column - 1 + last - 2 * pair;
            self.z.pair(row - 1 + 2 * pair, first, steps)
        });
        for step in 0..steps {
            let right: [[f64; 2]; P] =
                array::from_fn(|pair| array::from_fn(|lane| rows[pair][lane][step + 1]));
            let new: [[f64; 2]; P] = array::from_fn(|pair| {
                let under = if pair + 1 == P {
                    below[step]
                } else {
                    right[pair + 1][0]
                };
                let over = if pair == 0 {
                    above[step]
                } else {
                    left[pair - 1][1]
                };
                let below = [right[pair][1], under];
                let above = [over, left[pair][0]];
                let z = &z[pair][step];
                array::from_fn(|lane| {
                    let z = z.map(|lanes| lanes.0[lane]);
                    let (right, left) = (right[pair][lane], left[pair][lane]);
                    point(below[lane], above[lane], right, left, own[pair][lane], z)
                })
            });
            for (rows, new) in rows.iter_mut().zip(&new) {
                rows[0][step] = new[0];
                rows[1][step] = new[1];
            }
            (left, own) = (new, right);
        }
    }
}
