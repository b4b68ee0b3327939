//! The policies that spread new chares over the workers.
//!
//! # Source
//! Shu, Kalé: Chare kernel: a runtime support system for parallel computations. J. Parallel and
//! Distributed Computing 11, 1991, for averaging over neighbours. Jetley, Kalé, sect. 2, for the
//! set of strategies.

use raddle_runtime::{Setting, choice};
use raddle_sync::CachePadded;
use raddle_sync::prim::{AtomicU32, Relaxed};

use crate::state::{Feature, LocalState};

/// The policy by which new chares that are in no array, called seeds, are spread over the workers.
///
/// Idle workers can take waiting seeds from other workers under every policy. The policy is a
/// [`Setting`] of a runtime: give it to
/// [`Builder::setting`](raddle_runtime::Builder::setting), or set `RADDLE_SEEDS`.
///
/// # Examples
/// ```
/// use raddle_chare::SeedPolicy;
/// use raddle_runtime::Runtime;
/// let runtime = Runtime::builder().workers(2).setting(SeedPolicy::Ring).build()?;
/// # Ok::<(), raddle_runtime::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SeedPolicy {
    /// Each worker keeps its own seeds. Idle workers take from others, the oldest seed first.
    #[default]
    Stealing,
    /// A seed goes to a random worker, which constructs the chare at once.
    Random,
    /// If a worker has more seeds than the average of its neighbourhood, a new one goes to the
    /// neighbour with the fewest. The neighbours are the two next to it in a ring.
    Ring,
    /// Like `Ring`, with up to four neighbours in a square mesh.
    Mesh,
    /// Like `Ring`, with one neighbour for each bit of the worker's index.
    Hypercube,
}

choice! {
    SeedPolicy is "seed policy", named by "`RADDLE_SEEDS`":
    Stealing "stealing", Random "random", Ring "ring", Mesh "mesh", Hypercube "hypercube";
    expected "stealing, random, ring, mesh or hypercube", else UnknownSeedPolicy
}

impl Setting for SeedPolicy {
    const VARIABLE: &'static str = "RADDLE_SEEDS";
    const EXPECTED: &'static str = Self::EXPECTED;
}

/// The destination of a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// Into the own worker's pool.
    Keep,
    /// Into the pool of another worker.
    Hand(usize),
    /// To a worker, which constructs the chare at once.
    Place(usize),
}

/// Returns the neighbours of a worker, without duplicates and without itself. Workers are numbered
/// along the machine's tree, so workers with close numbers are near each other.
pub(super) fn neighbours(policy: SeedPolicy, worker: usize, count: usize) -> Vec<usize> {
    let mut neighbours = match policy {
        SeedPolicy::Ring => vec![(worker + 1) % count, (worker + count - 1) % count],
        SeedPolicy::Mesh => {
            let width = count.isqrt();
            let column = worker % width;
            let mut around = Vec::new();
            around.extend((column > 0).then(|| worker - 1));
            around.extend((column + 1 < width).then_some(worker + 1));
            around.extend(worker.checked_sub(width));
            around.push(worker + width);
            around
        }
        SeedPolicy::Hypercube => (0..usize::BITS - count.leading_zeros())
            .map(|bit| worker ^ (1 << bit))
            .collect(),
        // The policies `Stealing` and `Random` do not use neighbours.
        _ => Vec::new(),
    };
    neighbours.retain(|&neighbour| neighbour < count && neighbour != worker);
    neighbours.sort_unstable();
    neighbours.dedup();
    neighbours
}

/// The number of seeds that wait at each worker.
#[derive(Debug)]
pub(super) struct Loads(Box<[CachePadded<AtomicU32>]>);

impl Loads {
    pub(super) fn new(worker_count: usize) -> Self {
        Self((0..worker_count).map(|_| CachePadded::default()).collect())
    }

    // Relaxed in all methods below: the counts are estimates, and nothing is read through them.

    pub(super) fn count_up(&self, worker: usize) {
        self.0[worker].fetch_add(1, Relaxed);
    }

    pub(super) fn count_down(&self, worker: usize) {
        self.0[worker].fetch_sub(1, Relaxed);
    }

    /// Chooses the worker for a new seed of `worker`, which has the neighbours `around`.
    pub(super) fn average(&self, worker: usize, around: &[usize]) -> Choice {
        let load = |worker: usize| self.0[worker].load(Relaxed);
        let own = load(worker);
        let Some(&least) = around.iter().min_by_key(|&&neighbour| load(neighbour)) else {
            return Choice::Keep;
        };
        let all = around
            .iter()
            .map(|&neighbour| u64::from(load(neighbour)))
            .sum::<u64>()
            + u64::from(own);
        let is_above = u64::from(own) * (around.len() as u64 + 1) > all;
        if is_above && load(least) < own {
            Choice::Hand(least)
        } else {
            Choice::Keep
        }
    }
}

/// Picks workers at random: xorshift64*, with one state per worker.
#[derive(Debug, Default)]
pub(super) struct Dice(u64);

impl LocalState for Dice {
    const FEATURE: Feature = Feature::Seeds;
}

impl Dice {
    /// Picks one of `count` workers, for worker `worker`, in an order that depends on the seed of
    /// the runtime.
    pub(super) fn pick(&mut self, seed: u64, worker: usize, count: usize) -> usize {
        let state = &mut self.0;
        if *state == 0 {
            let mixed = seed.wrapping_mul(0xbf58_476d_1ce4_e5b9);
            *state = (0x9e37_79b9_7f4a_7c15 ^ mixed ^ (worker as u64 + 1)).max(1);
        }
        *state ^= *state >> 12;
        *state ^= *state << 25;
        *state ^= *state >> 27;
        let high = state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32;
        ((high * count as u64) >> 32) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_pick_equal_workers_and_others_do_not() {
        let picks = |seed: u64| -> Vec<usize> {
            let mut dice = Dice::default();
            (0..40).map(|_| dice.pick(seed, 3, 16)).collect()
        };
        assert_eq!(picks(7), picks(7));
        assert_ne!(picks(7), picks(8));
        assert!(picks(0).iter().all(|&worker| worker < 16));
    }

    #[test]
    fn neighbours_are_mutual_and_reach_every_worker() {
        for policy in [SeedPolicy::Ring, SeedPolicy::Mesh, SeedPolicy::Hypercube] {
            for count in 1..40 {
                let all: Vec<_> = (0..count)
                    .map(|worker| neighbours(policy, worker, count))
                    .collect();
                let mut reached = vec![false; count];
                let mut front = vec![0];
                while let Some(worker) = front.pop() {
                    if !std::mem::replace(&mut reached[worker], true) {
                        front.extend(&all[worker]);
                    }
                }
                assert!(reached.iter().all(|&is| is), "{policy} of {count}");
                for (worker, around) in all.iter().enumerate() {
                    for &neighbour in around {
                        assert!(
                            all[neighbour].contains(&worker),
                            "{policy}: {worker}, {neighbour}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_seed_leaves_a_worker_with_more_than_the_average() {
        let loads = Loads::new(3);
        assert_eq!(loads.average(0, &[1, 2]), Choice::Keep);
        loads.count_up(0);
        assert_eq!(loads.average(0, &[1, 2]), Choice::Hand(1));
        loads.count_up(1);
        assert_eq!(loads.average(0, &[1, 2]), Choice::Hand(2));
        loads.count_up(2);
        assert_eq!(loads.average(0, &[1, 2]), Choice::Keep);
        loads.count_down(0);
        assert_eq!(loads.average(0, &[1, 2]), Choice::Keep);
        assert_eq!(loads.average(0, &[]), Choice::Keep);
    }

    #[test]
    fn dice_pick_all_workers_about_equally_often() {
        let mut dice = Dice::default();
        let mut counts = [0; 5];
        for _ in 0..5000 {
            counts[dice.pick(0, 0, 5)] += 1;
        }
        assert!(
            counts.iter().all(|&count| (800..1200).contains(&count)),
            "{counts:?}"
        );
    }
}
