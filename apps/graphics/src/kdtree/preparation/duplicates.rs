//! Removes duplicates: of many triangles with identical corners, rays can hit only the first.
//!
//! All duplicates are hit at the same distance, where the lowest index wins. So a tree without the
//! others has the same hits. No plane separates duplicates, and every ray would test all of them.
//!
//! Duplicates begin at the same position along each axis, so they are adjacent in the sorted
//! events. The triangles are compared only where many of them begin at one position. In most meshes
//! there are few such positions, and the search costs one pass over the events of one axis. Up to
//! [`RUN_LEN_MIN`] - 1 duplicates may remain.

use crate::intersect::Corners;
use crate::kdtree::cells::event::{Event, Kind};
use crate::kdtree::cells::names::Name;

/// The minimum number of triangles that begin at one position for them to be compared.
pub(in crate::kdtree) const RUN_LEN_MIN: usize = 16;

/// The marker for a triangle without a new index, and for an empty slot of the hash table.
const GONE: u32 = u32::MAX;

/// Removes all duplicates except the first of each triangle, where there are many. Returns the
/// number of removed triangles.
///
/// `names` must be whole triangles in the order of their indices, and `events` must be sorted.
/// Takes O(events) time, and some nanoseconds for each triangle that is compared.
pub(in crate::kdtree) fn leave_out(
    triangles: &[Corners],
    names: &mut Vec<Name>,
    events: &mut [Vec<Event>; 3],
) -> usize {
    let (mut table, mut is_duplicate) = (Vec::new(), Vec::new());
    for run in events[0].chunk_by(|a, b| a.is_beside(*b)) {
        if run.len() >= RUN_LEN_MIN && run[0].kind() != Kind::End as u32 {
            find_in(run, triangles, names, &mut table, &mut is_duplicate);
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

/// Finds the duplicates among the triangles of some events, which are in the order of their
/// indices.
///
/// `table` is scratch memory for a hash table with open addressing.
fn find_in(
    run: &[Event],
    triangles: &[Corners],
    names: &[Name],
    table: &mut Vec<u32>,
    is_duplicate: &mut Vec<bool>,
) {
    let bits = |reference: u32| {
        let corners = &triangles[names[reference as usize].number()];
        corners.map(|corner| corner.map(f32::to_bits))
    };
    let len = (2 * run.len()).next_power_of_two();
    table.clear();
    table.resize(len, GONE);
    for reference in run.iter().map(|event| event.reference()) {
        let own = bits(reference);
        let mut slot = hash(own.as_flattened()) as usize & (len - 1);
        while table[slot] != GONE && bits(table[slot]) != own {
            slot = (slot + 1) & (len - 1);
        }
        if table[slot] == GONE {
            table[slot] = reference;
        } else {
            is_duplicate.resize(names.len(), false);
            is_duplicate[reference as usize] = true;
        }
    }
}

/// Hashes some words.
///
/// # Source
/// The hash of Firefox and rustc. The result is taken from its high bits, which depend on all
/// words.
fn hash(words: &[u32]) -> u64 {
    let scramble = |hash: u64, &word: &u32| {
        (hash.rotate_left(5) ^ u64::from(word)).wrapping_mul(0x517c_c1b7_2722_0a95)
    };
    words.iter().fold(0, scramble) >> 32
}
