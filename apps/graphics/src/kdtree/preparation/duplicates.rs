//! Leaving out duplicates: of many triangles with the very same corners rays can hit only the
//! first.
//!
//! All of them are hit at the same distance, where the lowest index wins. So a tree without the
//! others has the same hits. No plane tells duplicates apart, and every ray would test all of them.
//!
//! Duplicates begin at the same place along each axis. So they stand together in the sorted events,
//! and only where many do the triangles are looked at: in most meshes few do, and this costs one
//! pass over the events of one axis. Fewer than [`RUN_LEN_MIN`] duplicates may stay.

use crate::intersect::Corners;
use crate::kdtree::cells::event::{Event, Kind};
use crate::kdtree::cells::names::Name;

/// The number of triangles beginning at one place from which on they are compared.
pub(in crate::kdtree) const RUN_LEN_MIN: usize = 16;

/// Stands in place of the new index of what is left out.
const GONE: u32 = u32::MAX;

/// Leaves out all duplicates but the first of each triangle, where there are many. Returns their
/// number.
///
/// `names` are whole triangles in the order of their indices, `events` are sorted. Cost: O(events),
/// some nanoseconds more for each triangle that is looked at.
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

/// Finds the duplicates among the triangles of some events, which come in the order of their
/// indices.
///
/// `table` is scratch memory: a hash table with open addressing.
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

/// Scrambles some words into one.
///
/// # Source
/// The hash of Firefox and rustc, with its high bits brought down, as they depend on all words.
fn hash(words: &[u32]) -> u64 {
    let scramble = |hash: u64, &word: &u32| {
        (hash.rotate_left(5) ^ u64::from(word)).wrapping_mul(0x517c_c1b7_2722_0a95)
    };
    words.iter().fold(0, scramble) >> 32
}
