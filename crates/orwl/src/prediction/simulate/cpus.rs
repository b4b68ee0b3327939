//! The CPUs of a simulated machine: which operation runs on which CPU, and which ones wait for one.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use raddle_topology::{CpuId, Topology};

use super::Mapping;
use super::moment::Moment;

/// The turns that wait for a CPU: the time since when, the number of the turn, and the operation.
type Waiting = BinaryHeap<Reverse<(Moment, u64, usize)>>;

/// The CPUs, identified by their index in the machine.
pub(super) struct Cpus {
    rule: Rule,
    is_busy: Vec<bool>,
    /// The CPU on which each operation ran last.
    last: Vec<Option<usize>>,
    pub(super) migrations: u64,
}

enum Rule {
    /// The CPU of each operation, and the turns that wait for each CPU.
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

    /// Occupies a CPU for a turn that may begin, and returns the CPU.
    ///
    /// Returns `None` if no suitable CPU is idle. The turn then waits until [`free`](Self::free)
    /// returns its operation.
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

    /// Frees a CPU on which a turn has ended, and returns the operation that runs there next.
    ///
    /// That is the operation that has waited for longest. It occupies the CPU at once.
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
    /// Takes the operation's previous CPU if its stay is not over and that CPU is idle, or else a
    /// pseudo-random idle CPU.
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
