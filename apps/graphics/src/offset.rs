//! The offset of a scene that is far from the origin for its size.
//!
//! An `f32` has 24 bits. For a house at its map coordinates (5,400,000 m north of the equator) that
//! leaves a resolution of half a metre. So such a scene is moved near the origin, in `f64`, before
//! its coordinates become `f32`.
//!
//! Each axis has its own offset. It is zero if the distance of the scene's centre from the origin
//! is at most [`FAR`] times the scene's width. Otherwise it is the roundest decimal number within
//! that distance of the centre. So a scene that was moved by a round number gets exactly the
//! coordinates that it had before, and hence the same hits.

use glam::DVec3;

/// The maximum distance of a scene without an offset from the origin, as a multiple of its width.
const FAR: f64 = 4.0;
/// The finest step of an offset, as a power of ten.
const EXPONENT_MIN: i32 = -60;

/// Returns the offset of a scene in a box. Its centre minus the offset is at most `limit` from the
/// origin, along each axis. An empty box and a single point have no offset.
pub(crate) fn of_box([min, max]: [DVec3; 2], limit: f64) -> DVec3 {
    let reach = FAR * (max - min).max_element();
    if !(reach > 0.0 && reach.is_finite()) {
        return DVec3::ZERO;
    }
    let near = reach.min(limit);
    let offset = |middle: f64| match middle.abs() <= reach {
        true => 0.0,
        false => roundest(middle, near),
    };
    DVec3::from_array(((min + max) / 2.0).to_array().map(offset))
}

/// Returns the roundest decimal number at most `reach` away from `value`.
fn roundest(value: f64, reach: f64) -> f64 {
    // A step of at most twice the reach has a multiple that is near enough, apart from rounding.
    let exponent_max = value.abs().log10().ceil() as i32;
    for exponent in (EXPONENT_MIN..=exponent_max).rev() {
        // Powers of ten with a negative exponent are not binary fractions. A division by the
        // inverse rounds only once.
        let near = if exponent >= 0 {
            let step = 10_f64.powi(exponent);
            (value / step).round() * step
        } else {
            let parts = 10_f64.powi(-exponent);
            (value * parts).round() / parts
        };
        if (near - value).abs() <= reach {
            return near;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_roundest_number_within_reach_is_chosen() {
        for (value, reach, expected) in [
            (0.0, 1.0, 0.0),
            (3.0, 4.0, 0.0),
            (500_000.7, 4.0, 500_000.0),
            (512_345.878, 1.6, 512_346.0),
            (-512_345.878, 10.0, -512_350.0),
            (5_000_003.0, 4.0, 5_000_000.0),
            (0.500_03, 1e-4, 0.5),
            (0.123_456, 1e-3, 0.123),
            (1e12, 1e-30, 1e12),
        ] {
            let found = roundest(value, reach);
            assert!(
                (found - expected).abs() <= 1e-12 * value.abs(),
                "{value}: {found}"
            );
        }
        // If no decimal number is near enough, the result is the value itself.
        let odd = 123_456_789.123_456_79;
        assert!((roundest(odd, f64::MIN_POSITIVE) - odd).abs() < 1e-7);
    }
}
