//! How fast threads are that share a core, by how many they are: the study's kernel, for the machine at hand.
//!
//! So many threads are bound to the hardware threads of one core, in turns, and each goes again and again through a table of its own with loads, stores and
//! arithmetic. Its rate, over that of one thread that is alone on the core, is its speed. Where more threads share the core than it has hardware
//! threads, the system lets them take turns, and what they get done together does not grow any more. Each number is measured beside
//! one thread alone, several times in turns, and the median counts.
//!
//! # Source
//! Parker: Efficient user-level event notification. 2013, sect. 4.4 (a kernel of loads, stores and computation, with little interference in caches).

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use raddle_sync::prim::{AtomicBool, Relaxed};
use raddle_topology::{CpuId, Topology};

use crate::nodes::NodesError;
use crate::threads::{Start, spawn_in};

/// Words of a thread's table: 4 KiB, so that eight of them fit into a core's first cache.
const WORDS: usize = 512;

/// The speeds of each of 1, 2, … `threads` threads on the core of a CPU, over one alone; the first is 1. Takes `2 × threads × rounds` spells.
///
/// # Errors
/// [`NodesError::Bind`] where threads cannot be bound to that CPU, and [`NodesError::Thread`] where the system refuses them.
pub fn speeds(
    topology: &Topology,
    cpu: CpuId,
    threads: usize,
    rounds: usize,
    spell: Duration,
    mut progress: impl FnMut(f32),
) -> Result<Vec<f64>, NodesError> {
    let is_allowed = |cpu: &CpuId| topology.cpu(*cpu).is_some_and(|cpu| cpu.allowed);
    let core: Vec<CpuId> = topology.smt_siblings(cpu).filter(is_allowed).collect();
    let mut speeds = vec![1.0];
    for count in 2..=threads {
        let mut ratios = Vec::new();
        for _ in 0..rounds.max(1) {
            let alone = rate(topology, &core, 1, spell)?;
            ratios.push(rate(topology, &core, count, spell)? / count as f64 / alone);
        }
        ratios.sort_unstable_by(f64::total_cmp);
        speeds.push(ratios[ratios.len() / 2]);
        progress(count as f32 / threads as f32);
    }
    Ok(speeds)
}

/// Passes a second of so many threads together.
fn rate(
    topology: &Topology,
    core: &[CpuId],
    threads: usize,
    spell: Duration,
) -> Result<f64, NodesError> {
    let is_over = AtomicBool::new(false);
    let (all, start) = (Start::default(), Barrier::new(threads + 1));
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|index| {
                let (all, start, is_over) = (&all, &start, &is_over);
                let cpu = core[index % core.len()];
                spawn_in(scope, "worker", move || {
                    if !all.wait() {
                        return Ok(0);
                    }
                    let bound = topology.bind_this_thread(cpu);
                    start.wait();
                    let passes = work(is_over);
                    bound.map(|()| passes)
                })
            })
            .collect();
        all.tell(workers.iter().all(Result::is_ok));
        let workers: Vec<_> = workers.into_iter().collect::<Result<_, _>>()?;
        start.wait();
        // One clock for all: who gets the core late has had less of it.
        let began = Instant::now();
        thread::sleep(spell);
        let time = began.elapsed();
        // Relaxed: nothing else is told.
        is_over.store(true, Relaxed);
        let passes = workers
            .into_iter()
            .map(|worker| worker.join().expect("the kernel panics nowhere"));
        let passes: u64 = passes.sum::<Result<_, _>>()?;
        Ok(passes as f64 / time.as_secs_f64())
    })
}

/// Goes through a table until it is over; returns how often.
fn work(is_over: &AtomicBool) -> u64 {
    let mut table: [u64; WORDS] = std::array::from_fn(|index| index as u64);
    let mut sum = 0_u64;
    let mut passes = 0;
    // Relaxed, as above.
    while !is_over.load(Relaxed) {
        for index in 0..WORDS {
            let word = table[index];
            sum = sum.wrapping_mul(5).wrapping_add(word);
            table[(index * 7) % WORDS] = word ^ (sum >> 3);
        }
        table = black_box(table);
        passes += 1;
    }
    black_box(sum);
    passes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_several_threads_has_a_speed_and_one_alone_has_1() {
        let topology = Topology::this_machine().expect("a machine");
        let cpu = topology.allowed_cpus().next().expect("a CPU").id;
        let spell = Duration::from_millis(5);
        let speeds = speeds(topology, cpu, 3, 1, spell, |_| ()).expect("bound");
        assert_eq!(speeds.len(), 3);
        assert!((speeds[0] - 1.0).abs() < f64::EPSILON);
        assert!(speeds.iter().all(|&speed| speed.is_finite() && speed > 0.0));
    }
}
