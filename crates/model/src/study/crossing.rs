//! Where a rising curve reaches a value: by bisection, since some of them have a kink.

use crate::error::ModelError;

/// Beyond this it is not looked for: 2²⁰.
const FAR: f64 = 1_048_576.0;
const HALVINGS: u32 = 80;

/// Where `of` reaches `value`, to the last digits, if it does so before 2²⁰.
///
/// # Errors
/// Those of `of`.
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
