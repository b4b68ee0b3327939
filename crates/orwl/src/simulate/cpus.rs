//! CPUs of a simulated machine: who runs on which, and who waits for one.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use raddle_topology::{CpuId, Topology};

use super::Mapping;
use super::moment::Moment;

/// Who waits: since when, its turn, the operation.
type Waiting = BinaryHeap<Reverse<(Moment, u64, usize)>>;

/// CPUs, called by their places in the machine.
pub(super) struct Cpus {
    rule: Rule,
    is_busy: Vec<bool>,
    /// Where each operation ran last.
    last: Vec<Option<usize>>,
    pub(super) migrations: u64,
}

enum Rule {
    /// The place of each operation; who waits for each CPU.
    Bound(Vec<usize>, Vec<Waiting>),
    Wander(Wander),
}

struct Wander {
    idle: Vec<usize>,
    turns_per_stay: u64,
    seed: u64,
    waiting: Waiting,
}

impl Cpus {
    pub(super) fn new(mapping: &Mapping, topology: &Topology, operation_count: usize) -> Self {
        let numbers = topology.cpus().iter().map(|cpu| cpu.id).zip(0..);
        let numbers: HashMap<CpuId, usize> = numbers.collect();
        let place = |cpu: &CpuId| numbers.get(cpu).copied().unwrap_or(0);
        let cpu_count = topology.cpus().len().max(1);
        let rule = match mapping {
            Mapping::Bound(cpus) => {
                let mut places: Vec<usize> = cpus.iter().map(place).collect();
                places.resize(operation_count, 0);
                Rule::Bound(places, vec![Waiting::new(); cpu_count])
            }
            Mapping::Wanders {
                cpus,
                turns_per_stay,
                seed,
            } => {
                let mut idle: Vec<usize> = cpus.iter().map(place).collect();
                if idle.is_empty() {
                    idle.push(0);
                }
                idle.sort_unstable();
                idle.dedup();
                Rule::Wander(Wander {
                    idle,
                    turns_per_stay: (*turns_per_stay).max(1),
                    seed: *seed,
                    waiting: Waiting::new(),
                })
            }
        };
        Self {
            rule,
            is_busy: vec![false; cpu_count],
            last: vec![None; operation_count],
            migrations: 0,
        }
    }

    /// A CPU for a turn that may begin; or it waits until [`free`](Self::free) brings it up.
    pub(super) fn take(&mut self, now: Moment, turn: u64, operation: usize) -> Option<usize> {
        let waiting = match &mut self.rule {
            Rule::Bound(places, waiting) => {
                let cpu = places[operation];
                if !self.is_busy[cpu] {
                    return Some(self.occupied(cpu, operation));
                }
                &mut waiting[cpu]
            }
            Rule::Wander(wander) => {
                if let Some(cpu) = wander.choose(turn, operation, self.last[operation]) {
                    return Some(self.occupied(cpu, operation));
                }
                &mut wander.waiting
            }
        };
        waiting.push(Reverse((now, turn, operation)));
        None
    }

    /// A turn has ended on a CPU; returns who goes on there: of those that wait, who does for longest.
    pub(super) fn free(&mut self, cpu: usize) -> Option<usize> {
        self.is_busy[cpu] = false;
        let waiting = match &mut self.rule {
            Rule::Bound(_, waiting) => &mut waiting[cpu],
            Rule::Wander(wander) => &mut wander.waiting,
        };
        if let Some(Reverse((_, _, operation))) = waiting.pop() {
            self.occupied(cpu, operation);
            return Some(operation);
        }
        if let Rule::Wander(wander) = &mut self.rule {
            wander.idle.push(cpu);
        }
        None
    }

    fn occupied(&mut self, cpu: usize, operation: usize) -> usize {
        self.is_busy[cpu] = true;
        self.migrations += u64::from(self.last[operation].is_some_and(|last| last != cpu));
        self.last[operation] = Some(cpu);
        cpu
    }
}

impl Wander {
    /// Where it was, while it stays and nobody else is there; else any CPU that is idle.
    fn choose(&mut self, turn: u64, operation: usize, last: Option<usize>) -> Option<usize> {
        let stays = !turn.is_multiple_of(self.turns_per_stay);
        let here = last.filter(|_| stays);
        let here = here.and_then(|last| self.idle.iter().position(|&cpu| cpu == last));
        let chosen = here.or_else(|| {
            let mixed = mix(self.seed ^ mix(operation as u64) ^ mix(turn).rotate_left(17));
            let count = self.idle.len();
            (count > 0).then(|| (mixed % count as u64) as usize)
        });
        chosen.map(|chosen| self.idle.swap_remove(chosen))
    }
}

/// Mixes a number (Steele, Lea, Flood: SplitMix64).
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
