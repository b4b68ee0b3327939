//! stub
use super::seating::Seating;
use super::traffic::Traffic;
pub(super) fn sweep(_traffic: &Traffic, seating: Seating<'_>, _budget: i64) -> Vec<u32> {
    seating.places
}
