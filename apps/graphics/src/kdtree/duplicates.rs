//! Leaving out duplicates: of many triangles with the very same corners rays can hit only the first.
//!
//! All of them are hit at the same distance, where the lowest index wins. So a tree without the others has
//! the same hits. No plane tells duplicates apart, and every ray would test all of them.
//!
//! Duplicates begin at the same place along each axis. So they stand together in the sorted events, and only
//! where many do the triangles are looked at: in most meshes few do, and this costs one pass over the
//! events of one axis. Fewer than [`RUN_LEN_MIN`] duplicates stay.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use super::arena::Name;
use super::event::{Event, Kind};
use crate::intersect::Corners;

/// Triangles are looked at where so many begin at one place.
pub(super) const RUN_LEN_MIN: usize = 16;

/// Stands in place of the new index of what is left out.
const GONE: u32 = u32::MAX;

/// Leaves out all duplicates but the first of each triangle, where there are many. Returns their number.
///
/// `names` are whole triangles in the order of their indices, `events` are sorted.
/// Cost: O(events), and O(n log n) for the triangles that are looked at.
pub(super) fn leave_out(
    triangles: &[Corners],
    names: &mut Vec<Name>,
    events: &mut [Vec<Event>; 3],
) -> usize {
    let mut is_duplicate = Vec::new();
    for run in events[0].chunk_by(|a, b| a.is_beside(*b)) {
        if run.len() >= RUN_LEN_MIN && run[0].kind() != Kind::End as u32 {
            find_in(run, triangles, names, &mut is_duplicate);
        }
    }
    if is_duplicate.is_empty() {
        return 0;
    }
    let before = names.len();
    let mut kept = Vec::with_capacity(before);
    let renumbered: Vec<u32> = (0..before)
        .map(|index| {
            if is_duplicate[index] {
                return GONE;
            }
            kept.push(names[index]);
            kept.len() as u32 - 1
        })
        .collect();
    for events in events {
        events.retain_mut(|event| {
            let index = renumbered[event.reference() as usize];
            let is_kept = index != GONE;
            if is_kept {
                *event = event.with_reference(index);
            }
            is_kept
        });
    }
    *names = kept;
    before - names.len()
}

/// Finds the duplicates among the triangles of some events.
fn find_in(run: &[Event], triangles: &[Corners], names: &[Name], is_duplicate: &mut Vec<bool>) {
    let bits = |reference: u32| {
        let corners = &triangles[names[reference as usize].number()];
        corners.map(|corner| corner.map(f32::to_bits))
    };
    // Not seeded: every builder shall find the same. Equal hashes only bring triangles together.
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    let mut hashed: Vec<(u64, u32)> = run
        .iter()
        .map(|event| (hasher.hash_one(bits(event.reference())), event.reference()))
        .collect();
    hashed.sort_unstable();
    for alike in hashed.chunk_by(|a, b| a.0 == b.0) {
        // Usually all are equal to the first. Another triangle with this hash begins anew.
        let mut first = alike[0].1;
        for &(_, reference) in &alike[1..] {
            if bits(reference) == bits(first) {
                is_duplicate.resize(names.len(), false);
                is_duplicate[reference as usize] = true;
            } else {
                first = reference;
            }
        }
    }
}
