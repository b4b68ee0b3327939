//! A quick test of whether rays may cross a surface in a cell.
//!
//! It computes the Bernstein coefficients of the polynomial along each ray with single precision,
//! for four rays at a time. If all of them are on one side of the isovalue, and not close to it,
//! the ray certainly does not cross the surface in this cell.

use glam::Vec4;

use crate::volume::packet::Ends;

#[cfg(test)]
mod tests;

/// The factor from the error of the ends to that of the coefficients, in parts of the range of the
/// cell. Each coefficient is a mean of values in the cell, which change by at most the range along
/// each of the three axes.
const MARGIN_FACTOR: f32 = 8.0;

/// The values of the voxels of a cell above the isovalue, mirrored like the coordinates of the
/// rays. Bit 0 of the index is x, bit 1 is y, bit 2 is z.
#[derive(Debug, Clone, Copy)]
pub(super) struct Corners {
    values: [f32; 8],
    margin: f32,
}

impl Corners {
    /// `error` is the error of the ends of rays.
    #[inline(always)]
    pub(super) fn new(values: [f32; 8], error: f32) -> Self {
        let (low, high) = (
            Vec4::from_slice(&values[..4]),
            Vec4::from_slice(&values[4..]),
        );
        let range = low.max(high).max_element() - low.min(high).min_element();
        Self {
            values,
            margin: MARGIN_FACTOR * error * range,
        }
    }

    /// Returns a bit for each of four rays that may cross the surface between two points.
    #[inline(always)]
    pub(super) fn crossed_by(&self, ends: &Ends) -> u32 {
        let [[x0, y0, z0], [x1, y1, z1]] = *ends;
        let at = |x: Vec4, low: usize| {
            let (low, high) = (self.values[low], self.values[low + 1]);
            Vec4::splat(low) + x * Vec4::splat(high - low)
        };
        let mix = |low: Vec4, high: Vec4, share: Vec4| low + share * (high - low);
        // The face at z = 0, and the one at z = 1: the values at both ends, and the sum of those
        // with one coordinate of either end.
        let face = |low: usize| {
            let (a, b) = (at(x0, low), at(x0, low + 2));
            let (c, d) = (at(x1, low), at(x1, low + 2));
            let mixed = mix(a, b, y1) + mix(c, d, y0);
            [mix(a, b, y0), mixed, mix(c, d, y1)]
        };
        let (low, high) = (face(0), face(4));
        let first = mix(low[0], high[0], z0);
        let second = mix(low[1], high[1], z0) + mix(low[0], high[0], z1);
        let third = mix(low[1], high[1], z1) + mix(low[2], high[2], z0);
        let last = mix(low[2], high[2], z1);
        // The second and third coefficient are sums of three values.
        let third_of = Vec4::splat(1.0 / 3.0);
        let (second, third) = (second * third_of, third * third_of);
        let lowest = first.min(last).min(second.min(third));
        let highest = first.max(last).max(second.max(third));
        let margin = Vec4::splat(self.margin);
        // Comparisons with NaN are false, so such a ray is kept.
        let is_above = lowest.cmpgt(margin).bitmask();
        let is_below = highest.cmplt(-margin).bitmask();
        !(is_above | is_below) & 0xF
    }
}
