//! The loop itself: one sweep over a rectangle, several rows at once.
//!
//! A point waits for the one to its left: a multiplication, two additions, a subtraction, a multiplication and an addition, one after
//! the other. A row alone is therefore a chain that leaves a processor idle most of the time. A *strip* is `R` rows, each a
//! column behind the one above it: `R` chains, of which none waits for another within a step. What a row has on its right in a step is what the row
//! above has below it, and what it made in the last step is what the row below has above it: a point loads its five coefficients and
//! one value.
//!
//! Every point is computed by the same operations in the same order as in the plain loop, so that all results are equal to the last bit.

use std::array;
use std::ops::Range;

/// `zr`, `zb`, `zu`, `zv`, `zz` of a point.
pub type Coefficients = [f64; 5];

/// How far a point goes to what its neighbours want of it.
pub(super) const RELAXATION: f64 = 0.175;

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

/// Values and coefficients in rows that lie one behind the other.
///
/// The coefficients of the value in row `r` and column `c` are in row `r - 1` and column `c - 1` of theirs.
pub(super) struct Plane<'a> {
    pub(super) za: &'a mut [f64],
    /// Values in a row.
    pub(super) width: usize,
    pub(super) z: &'a [Coefficients],
    /// Points with coefficients in a row.
    pub(super) z_width: usize,
}

impl Plane<'_> {
    /// Sweeps over a rectangle, which has a row of values above and below it, and a column to its left and right.
    pub(super) fn sweep(&mut self, rows: Range<usize>, columns: Range<usize>) {
        if columns.is_empty() {
            return;
        }
        let mut row = rows.start;
        while row + 8 <= rows.end {
            self.strip::<8>(row, columns.clone());
            row += 8;
        }
        if row + 4 <= rows.end {
            self.strip::<4>(row, columns.clone());
            row += 4;
        }
        while row < rows.end {
            self.strip::<1>(row, columns.clone());
            row += 1;
        }
    }

    /// Sweeps over `R` rows.
    #[inline(never)]
    fn strip<const R: usize>(&mut self, row: usize, columns: Range<usize>) {
        let count = columns.len();
        if count < R {
            (row..row + R).for_each(|row| self.strip::<1>(row, columns.clone()));
            return;
        }
        let framed = columns.start - 1..columns.end + 1;
        let mut values = self.za[(row - 1) * self.width..].chunks_exact_mut(self.width);
        let mut next = || &mut values.next().expect("there is a row below")[framed.clone()];
        let above = &*next();
        let mut rows: [&mut [f64]; R] = array::from_fn(|_| next());
        let below = &*next();
        let z: [&[Coefficients]; R] = array::from_fn(|index| {
            let first = (row - 1 + index) * self.z_width + columns.start - 1;
            &self.z[first..][..count]
        });
        let mut strip = Strip {
            above,
            rows: &mut rows,
            below,
            z: &z,
        };
        for step in 0..R - 1 {
            strip.step(step, 0..step + 1);
        }
        strip.steady(count);
        for step in count..count + R - 1 {
            strip.step(step, step + 1 - count..R);
        }
    }
}

/// Rows that are swept at once, each with a value more at both ends, and what is above and below them.
struct Strip<'a, 'b, const R: usize> {
    above: &'a [f64],
    rows: &'a mut [&'b mut [f64]; R],
    below: &'a [f64],
    z: &'a [&'b [Coefficients]; R],
}

impl<const R: usize> Strip<'_, '_, R> {
    /// One point of each of some rows: row `i` is `i` columns behind. For the ends, where not all rows are under way.
    fn step(&mut self, step: usize, rows: Range<usize>) {
        for row in rows {
            let column = step - row + 1;
            let above = if row == 0 {
                self.above[column]
            } else {
                self.rows[row - 1][column]
            };
            let below = if row + 1 == R {
                self.below[column]
            } else {
                self.rows[row + 1][column]
            };
            let values = &mut *self.rows[row];
            let (left, own, right) = (values[column - 1], values[column], values[column + 1]);
            values[column] = point(below, above, right, left, own, self.z[row][column - 1]);
        }
    }

    /// All steps in which each row has a point.
    #[inline(always)]
    fn steady(&mut self, count: usize) {
        let steps = count + 1 - R;
        // Cut so that each has its point of step `s` at the same index.
        let above = &self.above[R..][..steps];
        let below = &self.below[1..][..steps];
        let mut left = [0.0; R];
        let mut own = [0.0; R];
        let z: [&[Coefficients]; R] = array::from_fn(|row| &self.z[row][R - 1 - row..][..steps]);
        let mut from = 0;
        let rows: [&mut [f64]; R] = self.rows.each_mut().map(|values| {
            let first = R - 1 - from;
            (left[from], own[from]) = (values[first], values[first + 1]);
            from += 1;
            &mut values[first + 1..][..steps + 1]
        });
        for step in 0..steps {
            let mut below = below[step];
            for row in (0..R).rev() {
                let right = rows[row][step + 1];
                let above = if row == 0 { above[step] } else { left[row - 1] };
                let new = point(below, above, right, left[row], own[row], z[row][step]);
                rows[row][step] = new;
                left[row] = new;
                own[row] = right;
                below = right;
            }
        }
    }
}
