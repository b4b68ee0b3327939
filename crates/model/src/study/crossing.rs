//! A search for the place at which a rising curve reaches a value. It uses bisection, since some
//! curves have a kink.

use crate::error::ModelError;

/// The end of the search: 2²⁰.
const FAR: f64 = 1_048_576.0;
/// The number of bisection steps.
const HALVINGS: u32 = 80;

/// Returns the place at which `of` reaches `value`, to full precision. Returns `None` if that is
/// not before 2²⁰.
///
/// # Errors
/// Returns the errors of `of`.
pub(super) fn reaches(
    value: f64,
    of: impl Fn(f64) -> Result<f64, ModelError>,
) -> Result<Option<f64>, ModelError> {
    let (mut low, mut high) = (0.0, 1.0);
    while of(high)? < value {
        low = high;
        high *= 2.0;
        if high > FAR {
            return Ok(None);
        }
    }
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if of(middle)? < value {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(Some(high))
}
