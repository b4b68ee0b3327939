//! Properties of all programs: random programs are compared with the definition of their order and
//! with runs on the real runtime.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use raddle_runtime::Runtime;
use raddle_sync::fifo::Access::{self, Read, Write};
use raddle_sync::prim::{AtomicU64, Mutex, Relaxed};
use raddle_topology::{CpuId, Topology};

use super::super::graph::Graph;
use super::super::{MachineSpeed, Mapping};
use crate::{Program, Sketch, Turns};

const TURNS: u64 = 6;
const CPUS: u32 = 6;
const INFINITE: MachineSpeed = MachineSpeed {
    core: f64::INFINITY,
    node: f64::INFINITY,
    link: f64::INFINITY,
};
const SLOW: MachineSpeed = MachineSpeed {
    core: 4.0,
    node: 6.0,
    link: 1.0,
};

/// A random program.
#[derive(Clone, Debug)]
struct Case {
    /// The number of values that each location keeps.
    depths: Vec<usize>,
    /// The work of each operation in nanoseconds, and its locations with their access.
    operations: Vec<(u32, Vec<(usize, Access)>)>,
}

fn cases() -> impl Strategy<Value = Case> {
    let used = (0_usize..4, any::<bool>())
        .prop_map(|(at, writes)| (at, if writes { Write } else { Read }));
    let uses = prop::collection::vec(used, 1..4).prop_map(|mut uses| {
        uses.sort_by_key(|&(at, _)| at);
        uses.dedup_by_key(|&mut (at, _)| at);
        uses
    });
    let operations = prop::collection::vec((1_u32..50, uses), 1..7);
    (prop::collection::vec(1_usize..4, 4), operations)
        .prop_map(|(depths, operations)| Case { depths, operations })
}

impl Case {
    fn sketch(&self) -> Sketch {
        let mut sketch = Sketch::new("random");
        let locations: Vec<_> = self
            .depths
            .iter()
            .map(|&depth| sketch.location(30, depth))
            .collect();
        for (index, (work, uses)) in self.operations.iter().enumerate() {
            let uses: Vec<_> = uses
                .iter()
                .map(|&(at, access)| (locations[at], access))
                .collect();
            sketch.operation(index.to_string(), f64::from(*work), 40.0, &uses);
        }
        sketch
    }

    /// Computes the end of the program if only the order of turns matters.
    ///
    /// It goes through the turns in the order of declaration. Each follows the turns that used the
    /// same values before.
    fn critical_path(&self) -> f64 {
        let mut own_end = vec![0.0_f64; self.operations.len()];
        // For each value that is kept: the times when it was last written and last read.
        let mut values: Vec<_> = self
            .depths
            .iter()
            .map(|&depth| vec![(0.0_f64, 0.0_f64); depth])
            .collect();
        for turn in 0..TURNS as usize {
            let mut is_written = vec![false; self.depths.len()];
            for (operation, (work, uses)) in self.operations.iter().enumerate() {
                let mut begin = own_end[operation];
                let mut slots = Vec::new();
                for &(at, access) in uses {
                    is_written[at] |= access == Write;
                    let depth = self.depths[at];
                    let version = if is_written[at] {
                        turn
                    } else {
                        turn + depth - 1
                    };
                    let (written, read) = values[at][version % depth];
                    begin = begin
                        .max(written)
                        .max(if access == Write { read } else { 0.0 });
                    slots.push((at, version % depth, access));
                }
                let end = begin + f64::from(*work);
                own_end[operation] = end;
                for (at, slot, access) in slots {
                    let (written, read) = &mut values[at][slot];
                    let last = if access == Write { written } else { read };
                    *last = last.max(end);
                }
            }
        }
        own_end.into_iter().fold(0.0, f64::max)
    }
}

fn time(sketch: &Sketch, speed: MachineSpeed, cpus: &[u32]) -> Duration {
    let topology = Topology::synthetic("numa:2 core:3 pu:1").expect("it is well formed");
    let cpus = cpus.iter().map(|&cpu| CpuId(cpu)).collect();
    sketch
        .simulate(&topology, speed, &Mapping::Bound(cpus), TURNS)
        .time
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn with_a_cpu_for_each_and_infinite_bandwidth_the_time_is_the_critical_path(case in cases()) {
        let cpus: Vec<u32> = (0..CPUS).collect();
        let expected = Duration::from_nanos(case.critical_path() as u64);
        prop_assert_eq!(time(&case.sketch(), INFINITE, &cpus), expected);
    }

    #[test]
    fn no_run_is_faster_than_order_cpus_and_memory_allow(
        case in cases(),
        cpus in prop::collection::vec(0..CPUS, 6),
    ) {
        let found = time(&case.sketch(), SLOW, &cpus);
        prop_assert!(found >= Duration::from_nanos(case.critical_path() as u64));
        for cpu in 0..CPUS {
            let here = case.operations.iter().zip(&cpus).filter(|(_, at)| **at == cpu);
            let work: u64 = here.map(|((work, _), _)| u64::from(*work).max(10)).sum();
            prop_assert!(found >= Duration::from_nanos(TURNS * work), "CPU {}", cpu);
        }
    }

    #[test]
    fn with_infinite_bandwidth_only_the_sharing_of_cpus_matters(
        case in cases(),
        cpus in prop::collection::vec(0..CPUS, 6),
        others in Just((0..CPUS).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let sketch = case.sketch();
        let elsewhere: Vec<u32> = cpus.iter().map(|&cpu| others[cpu as usize]).collect();
        prop_assert_eq!(time(&sketch, INFINITE, &cpus), time(&sketch, INFINITE, &elsewhere));
    }

    #[test]
    fn operations_that_wander_have_all_turns_and_are_not_faster_than_the_order(
        case in cases(),
        seed in any::<u64>(),
    ) {
        let topology = Topology::synthetic("numa:2 core:3 pu:1").expect("it is well formed");
        let cpus = (0..CPUS).map(CpuId).collect();
        let wanders = Mapping::Wanders { cpus, turns_per_stay: 2, seed };
        let sketch = case.sketch();
        let expected = Duration::from_nanos(case.critical_path() as u64);
        // There are as many CPUs as operations, so no operation waits for one.
        prop_assert_eq!(sketch.simulate(&topology, INFINITE, &wanders, TURNS).time, expected);
        prop_assert!(sketch.simulate(&topology, SLOW, &wanders, TURNS).time >= expected);
    }
}

/// The begin and end of each turn of an operation, as ticks of a clock that all operations share.
type Stamps = Arc<Mutex<Vec<(u64, u64)>>>;

fn run(case: &Case, runtime: &Runtime) -> Vec<Stamps> {
    let mut program = Program::new("random");
    let depths = case.depths.iter().enumerate();
    let locations: Vec<_> = depths
        .map(|(at, &depth)| program.fifo(at.to_string(), depth, |_| 0_u64))
        .collect();
    let clock = Arc::new(AtomicU64::new(0));
    let mut all = Vec::new();
    for (index, (_, uses)) in case.operations.iter().enumerate() {
        let (clock, stamps) = (Arc::clone(&clock), Stamps::default());
        all.push(Arc::clone(&stamps));
        program.async_task(index.to_string(), |task| {
            let (mut reads, mut writes) = (Vec::new(), Vec::new());
            for &(at, access) in uses {
                match access {
                    Read => reads.push(task.reads_each_turn(&locations[at])),
                    Write => writes.push(task.writes_each_turn(&locations[at])),
                }
            }
            let mut turns = task.turns();
            async move {
                while turns.next() {
                    let (mut read, mut written) = (Vec::new(), Vec::new());
                    for handle in &mut reads {
                        read.push(handle.enter().await);
                    }
                    for handle in &mut writes {
                        written.push(handle.enter().await);
                    }
                    // Relaxed: only the order of the ticks matters. The sections order the rest.
                    let begin = clock.fetch_add(1, Relaxed);
                    std::hint::black_box((&read, &written));
                    let end = clock.fetch_add(1, Relaxed);
                    stamps.lock().expect("no task panics").push((begin, end));
                }
            }
        });
    }
    program
        .run_on(runtime, Turns(TURNS))
        .expect("nothing panics");
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_real_runtime_keeps_the_order_that_is_simulated(case in cases()) {
        let runtime = Runtime::builder().workers(2).build().expect("the runtime starts");
        let stamps = run(&case, &runtime);
        let stamps: Vec<Vec<(u64, u64)>> = stamps
            .iter()
            .map(|stamps| stamps.lock().expect("no task panics").clone())
            .collect();
        for (operation, waits) in Graph::of(&case.sketch()).waits.iter().enumerate() {
            prop_assert_eq!(stamps[operation].len() as u64, TURNS);
            for turn in 0..TURNS {
                for &(other, back) in waits.iter().filter(|&&(_, back)| back <= turn) {
                    let (begin, _) = stamps[operation][turn as usize];
                    let (_, end) = stamps[other][(turn - back) as usize];
                    prop_assert!(
                        end < begin,
                        "turn {} of {}, {} of {}",
                        turn,
                        operation,
                        turn - back,
                        other
                    );
                }
            }
        }
    }
}
