//! Assigns places to parties: makes candidates, refines them, and selects the best of all.

use super::assignment::{Assignment, Loads};
use super::options::Strategy;
use super::target::Target;
use super::traffic::Traffic;
use super::{baseline, exact, group, halve, refine, sweep};
use crate::error::PlaceError;

/// The budget of refinement per candidate, in visited table entries: some milliseconds.
const REFINE_BUDGET: i64 = 4_000_000;

/// The budget of a sweep, for placements too large for a table, in visited matrix entries.
const SWEEP_BUDGET: i64 = 30_000_000;

/// The largest number of parties for which groups are formed bottom-up.
const GROUPED_PARTIES_MAX: usize = 20_000;
/// The largest number of traffic entries for which groups are formed bottom-up.
const GROUPED_ENTRIES_MAX: usize = 2_000_000;

/// The number of candidates that are refined, if a table fits.
const REFINED_CANDIDATES: usize = 3;

/// A placement and its origin.
#[derive(Clone, Debug)]
pub(super) struct Solution {
    pub(super) places: Vec<u32>,
    /// The cost in single-precision traffic, good only for comparing solutions.
    pub(super) cost: f64,
    /// A phrase that says how it was made.
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
        cost: Assignment::new(target, loads, places.clone()).cost(traffic),
        places,
        origin,
    };
    Ok(match strategy {
        Strategy::Compact => rated(baseline::compact(target, party_count), "in order"),
        Strategy::Scatter => rated(baseline::scatter(target, party_count), "spread out"),
        Strategy::RoundRobin => rated(baseline::round_robin(target, party_count), "in turn"),
        Strategy::Random { seed } => {
            rated(baseline::random(target, party_count, seed), "at random")
        }
        Strategy::TreeMatch => by_traffic(traffic, target, loads),
        Strategy::Exact => {
            let start = by_traffic(traffic, target, loads);
            let places = exact::best(traffic, target, loads, start.places)?;
            rated(places, "by exact search")
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
        let mut assignment = Assignment::new(target, loads, places);
        if assignment.repair(traffic) {
            candidates.push(Solution {
                cost: assignment.cost(traffic),
                places: assignment.places,
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
    // The sort is stable: on ties the more spread-out candidate wins.
    candidates.sort_by(|left, right| left.cost.total_cmp(&right.cost));
    let small = refine::fits(party_count, target.place_count());
    let mut refined: Vec<Solution> = Vec::new();
    let chosen = if small { REFINED_CANDIDATES } else { 1 };
    for (seed, candidate) in candidates.iter().take(chosen).enumerate() {
        let assignment = Assignment::new(target, loads, candidate.places.clone());
        let places = if small {
            refine::refine(traffic, assignment, REFINE_BUDGET, seed as u64)
        } else {
            sweep::sweep(traffic, assignment, SWEEP_BUDGET)
        };
        if places == candidate.places {
            continue;
        }
        refined.push(Solution {
            cost: Assignment::new(target, loads, places.clone()).cost(traffic),
            places,
            origin: candidate.origin,
        });
    }
    refined.extend(candidates);
    let best = refined
        .into_iter()
        .reduce(|best, other| if other.cost < best.cost { other } else { best });
    // This never happens: without loads the baselines keep every limit, and with loads the balanced
    // placement does.
    best.unwrap_or_else(|| Solution {
        places: baseline::compact(target, party_count),
        cost: f64::INFINITY,
        origin: "in order",
    })
}
