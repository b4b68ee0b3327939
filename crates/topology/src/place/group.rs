//! stub
use super::target::Target;
use super::traffic::Traffic;
pub(super) fn group(traffic: &Traffic, target: &Target<'_>) -> Vec<u32> {
    super::baseline::compact(target, traffic.order())
}
