//! Lowers the hop-bytes and the price of moves together, by single moves and swaps.

use std::collections::HashMap;

use super::{HOP_BYTE_NS, Prices};
use crate::cpu_set::{CpuId, CpuSet};
use crate::matrix::Matrix;
use crate::place::Distances;

/// If a pass would take more steps than this, a placement is not improved.
const STEPS_MAX: usize = 8 << 20;
/// The maximum number of passes over all parties.
const PASSES_MAX: usize = 16;

/// The input of a search: the traffic, the present placement, and the costs.
pub(super) struct Search<'a> {
    matrix: &'a Matrix,
    distances: &'a Distances,
    prices: &'a Prices<'a>,
    /// The present CPU of each party.
    before: &'a [CpuId],
    /// The CPUs to choose from.
    cpus: Vec<CpuId>,
    /// The partners of each party, with the bytes exchanged in either direction.
    partners: Vec<Vec<(usize, f64)>>,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        matrix: &'a Matrix,
        distances: &'a Distances,
        prices: &'a Prices<'a>,
        before: &'a [CpuId],
        cpus: &CpuSet,
    ) -> Self {
        let mut partners = vec![Vec::new(); matrix.order()];
        for (from, to, bytes) in matrix.entries().filter(|(from, to, _)| from != to) {
            partners[from].push((to, bytes));
            partners[to].push((from, bytes));
        }
        Self {
            matrix,
            distances,
            prices,
            before,
            cpus: cpus.iter().collect(),
            partners,
        }
    }

    /// Returns the cost of a placement in hop-bytes.
    pub(super) fn hop_bytes(&self, cpus: &[CpuId]) -> f64 {
        self.distances
            .cost(self.matrix, cpus)
            .unwrap_or(f64::INFINITY)
    }

    /// Returns the price in nanoseconds of all moves from the present placement.
    pub(super) fn price(&self, cpus: &[CpuId]) -> f64 {
        let moves = self.before.iter().zip(cpus);
        moves.map(|(&from, &to)| self.prices.of(from, to)).sum()
    }

    /// Returns the nanoseconds of traffic and moves together.
    pub(super) fn rate(&self, cpus: &[CpuId]) -> f64 {
        self.hop_bytes(cpus) * HOP_BYTE_NS + self.price(cpus)
    }

    /// Makes moves and swaps as long as they lower the rate.
    ///
    /// Each party in turn goes to the CPU that lowers the rate most. If that CPU has a party, the
    /// two swap.
    pub(super) fn improve(&self, mut cpus: Vec<CpuId>) -> Vec<CpuId> {
        let entries: usize = self.partners.iter().map(Vec::len).sum();
        if self.cpus.len().saturating_mul(entries + cpus.len()) > STEPS_MAX {
            return cpus;
        }
        let mut parties_on: HashMap<CpuId, usize> = HashMap::new();
        for (party, &cpu) in cpus.iter().enumerate() {
            parties_on.insert(cpu, party);
        }
        for _ in 0..PASSES_MAX {
            let mut has_moved = false;
            for party in 0..cpus.len() {
                let gain = |&to: &CpuId| {
                    (
                        self.gain(&cpus, party, to, parties_on.get(&to).copied()),
                        to,
                    )
                };
                let may = |&&to: &&CpuId| {
                    parties_on.contains_key(&to)
                        || self.keeps_core_free(&parties_on, cpus[party], to)
                };
                let best = self.cpus.iter().filter(may).map(gain);
                let best = best.max_by(|left, right| left.0.total_cmp(&right.0));
                let Some((_, to)) = best.filter(|&(gain, _)| gain > 1.0) else {
                    continue;
                };
                let from = cpus[party];
                parties_on.remove(&from);
                if let Some(other) = parties_on.insert(to, party) {
                    cpus[other] = from;
                    parties_on.insert(from, other);
                }
                cpus[party] = to;
                has_moved = true;
            }
            if !has_moved {
                break;
            }
        }
        cpus
    }

    /// Returns true if a party from `from` would have no more neighbours on the core of the free
    /// CPU `to` than it has now.
    fn keeps_core_free(&self, parties_on: &HashMap<CpuId, usize>, from: CpuId, to: CpuId) -> bool {
        let neighbours = |cpu: CpuId| {
            let siblings = self.prices.topology.smt_siblings(cpu);
            let others = siblings.filter(|&other| other != from && parties_on.contains_key(&other));
            others.count()
        };
        neighbours(to) <= neighbours(from)
    }

    /// Returns the nanoseconds saved if `party` moves to `to`, and `other`, the party there, takes
    /// its CPU.
    fn gain(&self, cpus: &[CpuId], party: usize, to: CpuId, other: Option<usize>) -> f64 {
        let from = cpus[party];
        if from == to {
            return 0.0;
        }
        let mut gain = self.gain_of_one(cpus, party, to, other);
        if let Some(other) = other {
            gain += self.gain_of_one(cpus, other, from, Some(party));
        }
        gain
    }

    /// Returns the nanoseconds saved by the move of one party. Traffic with the other party of a
    /// swap is left out, as its distance does not change.
    fn gain_of_one(&self, cpus: &[CpuId], party: usize, to: CpuId, with: Option<usize>) -> f64 {
        let from = cpus[party];
        let distance = |left, right| self.distances.between(left, right).unwrap_or(0.0);
        let saved: f64 = self.partners[party]
            .iter()
            .filter(|&&(partner, _)| Some(partner) != with)
            .map(|&(partner, bytes)| {
                bytes * (distance(from, cpus[partner]) - distance(to, cpus[partner]))
            })
            .sum();
        let price = |cpu| self.prices.of(self.before[party], cpu);
        saved * HOP_BYTE_NS + price(from) - price(to)
    }
}
