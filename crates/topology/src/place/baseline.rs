//! Placements that ignore the matrix, as a baseline for the strategies that use it.
//!
//! Each of them puts as many parties on every core and CPU as the other strategies do, so only the
//! arrangement of the parties differs.

use super::random::Random;
use super::target::{Node, Target};

/// Returns the place of each party: consecutive parties are neighbours in the machine.
pub(super) fn compact(target: &Target<'_>, party_count: usize) -> Vec<u32> {
    let mut order: Vec<usize> = (0..target.place_count()).collect();
    order.sort_by_key(|&place| (target.tree_order(place), place));
    // Each place gets as many parties as possible while the later places can still reach their
    // minimum.
    let least = |places: &[usize]| -> usize {
        places
            .iter()
            .map(|&place| target.place_limits[place].0 as usize)
            .sum()
    };
    let mut cores_left: usize = target
        .core_limits
        .iter()
        .map(|limits| limits.0 as usize)
        .sum();
    let mut places = Vec::with_capacity(party_count);
    for core in order.chunk_by(|&left, &right| target.cores[left] == target.cores[right]) {
        let (core_least, core_most) = target.core_limits[target.cores[core[0]] as usize];
        cores_left -= core_least as usize;
        let mut here = (core_most as usize)
            .min(party_count - places.len() - cores_left.min(party_count - places.len()));
        for (index, &place) in core.iter().enumerate() {
            let rest = least(&core[index + 1..]);
            let count = (target.place_limits[place].1 as usize).min(here - rest.min(here));
            places.extend(std::iter::repeat_n(place as u32, count));
            here -= count;
        }
    }
    places
}

/// Returns the place of each party: consecutive parties are as far apart as possible.
pub(super) fn scatter(target: &Target<'_>, party_count: usize) -> Vec<u32> {
    let mut order = Vec::with_capacity(target.place_count());
    let ranks = target.ranks.iter().max().map_or(0, |rank| rank + 1);
    for rank in 0..ranks {
        order.extend(deal(target, &target.nodes[0], rank));
    }
    order.into_iter().cycle().take(party_count).collect()
}

/// Returns the place of each party: CPUs in turn, in the order of the operating system's numbers.
pub(super) fn round_robin(target: &Target<'_>, party_count: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..target.place_count() as u32).collect();
    order.sort_by_key(|&place| (target.ranks[place as usize], target.cpus[place as usize]));
    order.into_iter().cycle().take(party_count).collect()
}

/// Returns the place of each party: drawn at random.
pub(super) fn random(target: &Target<'_>, party_count: usize, seed: u64) -> Vec<u32> {
    let mut random = Random::new(seed);
    let mut order: Vec<u32> = (0..target.place_count() as u32).collect();
    random.shuffle(&mut order);
    order.sort_by_key(|&place| target.ranks[place as usize]);
    let mut places: Vec<u32> = order.into_iter().cycle().take(party_count).collect();
    random.shuffle(&mut places);
    places
}

/// Lists the places of one rank within their cores, taking the children of each object in turn.
fn deal(target: &Target<'_>, node: &Node, rank: u32) -> Vec<u32> {
    if node.children.is_empty() {
        let is_ranked = target.ranks[node.first] == rank;
        return if is_ranked {
            vec![node.first as u32]
        } else {
            Vec::new()
        };
    }
    let mut hands: Vec<_> = node
        .children
        .iter()
        .map(|&child| deal(target, &target.nodes[child], rank).into_iter())
        .collect();
    let mut dealt = Vec::with_capacity(node.end - node.first);
    while !hands.is_empty() {
        hands.retain_mut(|hand| hand.next().map(|place| dealt.push(place)).is_some());
    }
    dealt
}
