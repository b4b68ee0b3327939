//! The exact intersection of a ray with a surface of equal value in one cell.
//!
//! The value in a cell is the trilinear interpolant of its eight voxels. Along a ray it is a cubic
//! polynomial, since each of the three coordinates is linear. The cubic is divided at the roots of
//! its derivative. Each part is monotone, so it has a root if and only if its ends are on different
//! sides of the isovalue. The first such part is searched by Newton's method, within an interval
//! that also shrinks if a step leaves it.
//!
//! # Sides
//! A point is *inside* if its value is at least the isovalue, and *outside* otherwise. This rule
//! decides equality everywhere: for voxels, for points on faces, and for roots. So a cell can
//! contain the surface only if its smallest value is below the isovalue and its largest one is not.
//!
//! **Invariant:** two cells with a common face compute the same value, to the last bit, for a point
//! on that face. So a ray that leaves one cell inside enters the next one inside, and no surface
//! has a hole at the border of two cells.
//!
//! # Source
//! G. Marmitt, A. Kleer, I. Wald, H. Friedrich, P. Slusallek: Fast and Accurate Ray-Voxel
//! Intersection Techniques for Iso-Surface Ray Tracing. Vision, Modeling, and Visualization 2004
//! (division at the roots of the derivative).

use super::voxels::Voxel;

#[cfg(test)]
mod tests;

/// The largest last step towards a root, as a share of the way. At a simple root, the error is not
/// larger.
const STEP_MIN: f64 = 1e-10;
/// The number of steps that are always made.
const STEPS_MIN: usize = 3;
/// The maximum number of steps. Bisection alone needs fewer.
const STEPS_MAX: usize = 40;

/// The values of the eight voxels of a cell: bit 0 of the index is x, bit 1 is y, bit 2 is z.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cell(pub(crate) [f64; 8]);

/// A cubic polynomial, from the coefficient of the cube to the constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cubic(pub(crate) [f64; 4]);

impl Cell {
    /// Reads the cell with a first voxel at an index. `width` and `slice` are the distances to the
    /// next row and the next slice in `voxels`.
    #[inline(always)]
    pub(crate) fn read<T: Voxel>(voxels: &[T], first: usize, [width, slice]: [usize; 2]) -> Self {
        let row = |at: usize| {
            let row = &voxels[at..at + 2];
            (row[0].value(), row[1].value())
        };
        let (a, b) = row(first);
        let (c, d) = row(first + width);
        let (e, f) = row(first + slice);
        let (g, h) = row(first + slice + width);
        Self([a, b, c, d, e, f, g, h])
    }

    /// Returns the smallest and the largest value.
    #[inline(always)]
    pub(crate) fn range(&self) -> [f64; 2] {
        let [a, b, c, d, e, f, g, h] = self.0;
        let smaller = |a: f64, b: f64| if a < b { a } else { b };
        let larger = |a: f64, b: f64| if a > b { a } else { b };
        let low = smaller(
            smaller(smaller(a, b), smaller(c, d)),
            smaller(smaller(e, f), smaller(g, h)),
        );
        let high = larger(
            larger(larger(a, b), larger(c, d)),
            larger(larger(e, f), larger(g, h)),
        );
        [low, high]
    }

    /// Returns the interpolated value at a point, with coordinates from 0 to 1.
    ///
    /// A coordinate of exactly 0 or 1 gives exactly the interpolant of the face.
    #[inline(always)]
    pub(crate) fn value(&self, [x, y, z]: [f64; 3]) -> f64 {
        let [a, b, c, d] = self.along_x(x);
        mix(mix(a, b, y), mix(c, d, y), z)
    }

    /// Returns the values on the four edges along x, at a coordinate.
    #[inline(always)]
    fn along_x(&self, x: f64) -> [f64; 4] {
        let [a, b, c, d, e, f, g, h] = self.0;
        [mix(a, b, x), mix(c, d, x), mix(e, f, x), mix(g, h, x)]
    }

    /// Returns the differences of the values at the ends of the four edges along x.
    #[inline(always)]
    fn slopes_x(&self) -> [f64; 4] {
        let [a, b, c, d, e, f, g, h] = self.0;
        [b - a, d - c, f - e, h - g]
    }

    /// Returns the gradient of the interpolant at a point.
    #[inline(always)]
    pub(crate) fn gradient(&self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        let [a, b, c, d] = self.along_x(x);
        let [e, f, g, h] = self.slopes_x();
        [
            mix(mix(e, f, y), mix(g, h, y), z),
            mix(b - a, d - c, z),
            mix(c, d, y) - mix(a, b, y),
        ]
    }

    /// Returns the value on the way from one point to another as a polynomial of the share of the
    /// way, minus `isovalue`.
    #[inline(always)]
    pub(crate) fn cubic(&self, from: [f64; 3], to: [f64; 3], isovalue: f64) -> Cubic {
        let [x, y, z] = from;
        let (dx, dy, dz) = (to[0] - x, to[1] - y, to[2] - z);
        let [a, _, c, _, e, _, g, _] = self.0;
        let slopes = self.slopes_x();
        // Along x, each pair of voxels gives a line: its value and its slope per share of the way.
        let line = |value: f64, slope: f64| [value + x * slope, dx * slope];
        let lines = [
            line(a, slopes[0]),
            line(c, slopes[1]),
            line(e, slopes[2]),
            line(g, slopes[3]),
        ];
        // Two such lines, mixed by a linear weight, give a square polynomial.
        let square = |a: [f64; 2], b: [f64; 2]| {
            let (value, slope) = (b[0] - a[0], b[1] - a[1]);
            [a[0] + y * value, a[1] + y * slope + dy * value, dy * slope]
        };
        let (low, high) = (square(lines[0], lines[1]), square(lines[2], lines[3]));
        let (e, d, c) = (high[2] - low[2], high[1] - low[1], high[0] - low[0]);
        Cubic([
            dz * e,
            low[2] + z * e + dz * d,
            low[1] + z * d + dz * c,
            low[0] + z * c - isovalue,
        ])
    }
}

impl Cubic {
    /// Returns the value at `s`.
    #[inline(always)]
    pub(crate) fn value(&self, s: f64) -> f64 {
        let [a, b, c, d] = self.0;
        ((a * s + b) * s + c) * s + d
    }

    /// Returns the places from 0 to 1 between which the polynomial is monotone, in order. Unused
    /// places are 1.
    #[inline(always)]
    fn turns(&self) -> [f64; 2] {
        let [a, b, c, _] = self.0;
        // The derivative is 3 a s² + 2 b s + c.
        let discriminant = b * b - 3.0 * a * c;
        if discriminant <= 0.0 {
            return [1.0; 2];
        }
        // Neither of the two quotients loses digits.
        let q = -(b + discriminant.sqrt().copysign(b));
        let inside = |s: f64| if s > 0.0 && s < 1.0 { s } else { 1.0 };
        let (first, second) = (inside(q / (3.0 * a)), inside(c / q));
        [first.min(second), first.max(second)]
    }

    /// Returns the first part of the way from `start` to 1 in which the polynomial changes its
    /// side. It is monotone in that part. `is_inside` and `is_inside_at_end` are the exact sides at
    /// `start` and 1.
    #[inline(always)]
    pub(crate) fn first_part(
        &self,
        start: f64,
        is_inside: bool,
        is_inside_at_end: bool,
    ) -> Option<[f64; 2]> {
        if is_inside == is_inside_at_end && self.stays(is_inside) {
            return None;
        }
        let mut from = start;
        for to in self.turns() {
            if to <= from || to >= 1.0 {
                continue;
            }
            if (self.value(to) >= 0.0) != is_inside {
                return Some([from, to]);
            }
            from = to;
        }
        (is_inside_at_end != is_inside).then_some([from, 1.0])
    }

    /// Returns the first place from `start` to 1 where the polynomial changes its side. The sides
    /// are those of [`first_part`](Self::first_part).
    #[inline(always)]
    pub(crate) fn first_change(
        &self,
        start: f64,
        is_inside: bool,
        is_inside_at_end: bool,
    ) -> Option<f64> {
        let part = self.first_part(start, is_inside, is_inside_at_end)?;
        Some(self.root(part, is_inside))
    }

    /// Returns the root in a part of the way with ends on different sides. The polynomial must be
    /// monotone there, and `is_inside` is the exact side at the first end.
    #[inline(always)]
    pub(crate) fn root(&self, [from, to]: [f64; 2], is_inside: bool) -> f64 {
        let (at_from, at_to) = (self.value(from), self.value(to));
        // Rounding errors may put an end on the wrong side by a little. Then the root is that end.
        if (at_from >= 0.0) != is_inside {
            return from;
        }
        if (at_to >= 0.0) == is_inside {
            return to;
        }
        let [a, b, c, _] = self.0;
        let mut part = [from, to];
        let mut place = from + (to - from) * (at_from / (at_from - at_to));
        let mut step = || {
            let value = self.value(place);
            let is_before = (value >= 0.0) == is_inside;
            part = match is_before {
                true => [place, part[1]],
                false => [part[0], place],
            };
            let slope = (3.0 * a * place + 2.0 * b) * place + c;
            let next = place - value / slope;
            // A step that leaves the part, or is not a number, is replaced by its middle.
            let next = match next >= part[0] && next <= part[1] {
                true => next,
                false => 0.5 * (part[0] + part[1]),
            };
            let last = place;
            place = next;
            [place, (next - last).abs()]
        };
        // Nearly all roots are found by this number of steps, so that the branch is predicted.
        let mut last = [0.0; 2];
        for _ in 0..STEPS_MIN {
            last = step();
        }
        for _ in STEPS_MIN..STEPS_MAX {
            if last[1] <= STEP_MIN {
                break;
            }
            last = step();
        }
        last[0]
    }

    /// Returns true if the polynomial certainly stays on one side from 0 to 1: all its Bernstein
    /// coefficients are on that side.
    #[inline(always)]
    fn stays(&self, is_inside: bool) -> bool {
        let [a, b, c, d] = self.0;
        let (second, third) = (d + c * (1.0 / 3.0), d + (2.0 * c + b) * (1.0 / 3.0));
        let last = a + b + c + d;
        let on_side = |value: f64| (value >= 0.0) == is_inside;
        on_side(d) && on_side(second) && on_side(third) && on_side(last)
    }
}

/// Interpolates between two values. Shares of 0 and 1 give exactly the values.
#[inline(always)]
fn mix(from: f64, to: f64, share: f64) -> f64 {
    (1.0 - share) * from + share * to
}
