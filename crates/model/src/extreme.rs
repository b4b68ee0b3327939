//! How long the last of many takes: the expected largest of normal draws.
//!
#![doc = include_str!(concat!(env!("OUT_DIR"), "/extreme.md"))]

use std::f64::consts::PI;

use crate::error::DomainError;

/// Beyond this many standard deviations, over √2, the density is below 10⁻³⁵.
const RANGE: f64 = 9.0;
/// The integrand is smooth and ends at nothing on both sides, so equal steps converge faster than any power of them.
const STEPS: u32 = 480;
/// The largest number that the range is enough for.
pub const DRAWS_MAX: u32 = 1_000_000;

/// The expected largest of `draws` normal draws, in standard deviations above the mean, `I_n`. Right to 10⁻¹². Cost: 481 terms.
///
/// # Errors
/// [`DomainError`] for no draw, or more than [`DRAWS_MAX`].
///
/// # Examples
/// ```
/// let of_two = raddle_model::extreme::expected_largest(2)?;
/// assert!((of_two - 1.0 / std::f64::consts::PI.sqrt()).abs() < 1e-12);
/// # Ok::<(), raddle_model::DomainError>(())
/// ```
pub fn expected_largest(draws: u32) -> Result<f64, DomainError> {
    if !(1..=DRAWS_MAX).contains(&draws) {
        let expected = format!("a whole number from 1 to {DRAWS_MAX}");
        return Err(DomainError::new("draws", f64::from(draws), expected));
    }
    let count = f64::from(draws);
    let step = 2.0 * RANGE / f64::from(STEPS);
    let term = |index: u32| {
        let w = step.mul_add(f64::from(index), -RANGE);
        // ln(½ erfc(−w)): what is near 1 by its distance from 1.
        let below = match w {
            ..0.0 => (0.5 * libm::erfc(-w)).ln(),
            _ => libm::log1p(-0.5 * libm::erfc(w)),
        };
        w * libm::exp((count - 1.0).mul_add(below, -w * w))
    };
    let sum: f64 = (0..=STEPS).map(term).sum();
    Ok(count * (2.0 / PI).sqrt() * step * sum)
}

#[cfg(test)]
mod tests;
