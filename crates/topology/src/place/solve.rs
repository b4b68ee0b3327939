//! From a matrix and places to who sits where: candidates, refinement, and the best of all.

use super::options::Strategy;
use super::seating::{Loads, Seating};
use super::target::Target;
use super::traffic::Traffic;
use super::{baseline, exact, group, halve, refine, sweep};
use crate::error::PlaceError;

/// How much work refinement may do for each candidate, in visits of a table's entry: some milliseconds.
const REFINE_BUDGET: i64 = 4_000_000;

/// The same for placements that are too large for a table, in visits of an entry of the matrix.
const SWEEP_BUDGET: i64 = 30_000_000;

/// Groups from the leaves up are tried for so many parties, and so many pairs that talk, at most.
const GROUPED_PARTIES_MAX: usize = 20_000;
const GROUPED_ENTRIES_MAX: usize = 2_000_000;

/// How many candidates are refined.
const REFINED_CANDIDATES: usize = 3;

/// A placement and where it came from.
#[derive(Clone, Debug)]
pub(super) struct Solution {
    pub(super) places: Vec<u32>,
    /// Twice rounded, so only for comparisons among solutions.
    pub(super) cost: f64,
    pub(super) origin: &'static str,
}

/// Places parties by a strategy.
pub(super) fn solve(
    strategy: Strategy,
    traffic: &Traffic,
    target: &Target<'_>,
    loads: Option<&Loads>,
) -> Result<Solution, PlaceError> {
    let party_count = traffic.order();
    let rated = |places: Vec<u32>, origin: &'static str| Solution {
        cost: Seating::new(target, loads, places.clone()).cost(traffic),
        places,
        origin,
    };
    Ok(match strategy {
        Strategy::Compact => rated(baseline::compact(target, party_count), "in order"),
        Strategy::Scatter => rated(baseline::scatter(target, party_count), "spread out"),
        Strategy::RoundRobin => rated(baseline::round_robin(target, party_count), "in turn"),
        Strategy::Random { seed } => rated(baseline::random(target, party_count, seed), "by lot"),
        Strategy::TreeMatch => by_traffic(traffic, target, loads),
        Strategy::Exact => {
            let start = by_traffic(traffic, target, loads);
            let places = exact::best(traffic, target, loads, start.places)?;
            rated(places, "by trying")
        }
    })
}

/// Makes candidates, refines the best of them and returns the best of all.
fn by_traffic(traffic: &Traffic, target: &Target<'_>, loads: Option<&Loads>) -> Solution {
    let party_count = traffic.order();
    let mut candidates: Vec<Solution> = Vec::new();
    let mut add = |places: Vec<u32>, origin: &'static str| {
        if candidates.iter().any(|known| known.places == places) {
            return;
        }
        let mut seating = Seating::new(target, loads, places);
        if seating.repair(traffic) {
            candidates.push(Solution {
                cost: seating.cost(traffic),
                places: seating.places,
                origin,
            });
        }
    };
    add(baseline::scatter(target, party_count), "spread out");
    add(baseline::compact(target, party_count), "in order");
    add(baseline::round_robin(target, party_count), "in turn");
    if let Some(loads) = loads {
        add(loads.balanced(target), "balanced");
    }
    add(halve::halve(traffic, target), "halved with the machine");
    if party_count <= GROUPED_PARTIES_MAX && traffic.entry_count() <= GROUPED_ENTRIES_MAX {
        add(group::group(traffic, target), "grouped from the leaves up");
    }
    // Stable, so that of equals the one that is spread most wins.
    candidates.sort_by(|left, right| left.cost.total_cmp(&right.cost));
    let small = refine::fits(party_count, target.place_count());
    let mut refined: Vec<Solution> = Vec::new();
    let chosen = if small { REFINED_CANDIDATES } else { 1 };
    for (seed, candidate) in candidates.iter().take(chosen).enumerate() {
        let seating = Seating::new(target, loads, candidate.places.clone());
        let places = if small {
            refine::refine(traffic, seating, REFINE_BUDGET, seed as u64)
        } else {
            sweep::sweep(traffic, seating, SWEEP_BUDGET)
        };
        if places == candidate.places {
            continue;
        }
        refined.push(Solution {
            cost: Seating::new(target, loads, places.clone()).cost(traffic),
            places,
            origin: candidate.origin,
        });
    }
    refined.extend(candidates);
    let best = refined
        .into_iter()
        .reduce(|best, other| if other.cost < best.cost { other } else { best });
    // There is always a candidate: the baselines keep every limit, and the balanced one all loads.
    best.unwrap_or_else(|| Solution {
        places: baseline::compact(target, party_count),
        cost: f64::INFINITY,
        origin: "in order",
    })
}
