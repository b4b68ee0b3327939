//! Measures the speed of threads that share a core of the current machine, as a function of their
//! number. The threads run the loop of the study below.
//!
//! The threads are bound to the hardware threads of one core in a round-robin way. Each thread
//! repeatedly passes over its own table with loads, stores and arithmetic. Its speed is its rate
//! relative to the rate of a thread that is alone on the core. If there are more threads than
//! hardware threads, the system lets them take turns, and their total rate stops growing. The
//! measurement of each number of threads alternates with that of one thread alone, several times,
//! and the median is taken.
//!
//! # Source
//! Parker: Efficient user-level event notification. 2013, sect. 4.4 (a kernel of loads, stores and
//! computation, with little interference in caches).

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use raddle_sync::prim::{AtomicBool, Relaxed};
use raddle_topology::{CpuId, Topology};

use crate::nodes::NodesError;
use crate::threads::{Start, spawn_in};

/// The number of words in the table of a thread: 4 KiB, so that eight tables fit into the L1 cache
/// of a core.
const WORDS: usize = 512;

/// Measures the speed of each of 1, 2, … `threads` threads on the core of `cpu`, relative to one
/// thread alone. The first speed is 1.
///
/// Takes about `2 × threads × rounds` times `spell`. Calls `progress` with the completed fraction.
///
/// # Errors
/// [`NodesError::Bind`] if threads cannot be bound to that core, and [`NodesError::Thread`] if the
/// system refuses a thread.
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

/// Returns the total number of passes per second of `threads` threads.
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
        all.announce(workers.iter().all(Result::is_ok));
        let workers: Vec<_> = workers.into_iter().collect::<Result<_, _>>()?;
        start.wait();
        // All threads share one clock, so that a thread that gets the core late has less of it.
        let began = Instant::now();
        thread::sleep(spell);
        let time = began.elapsed();
        // Relaxed: the flag publishes nothing else.
        is_over.store(true, Relaxed);
        let passes = workers
            .into_iter()
            .map(|worker| worker.join().expect("the kernel never panics"));
        let passes: u64 = passes.sum::<Result<_, _>>()?;
        Ok(passes as f64 / time.as_secs_f64())
    })
}

/// Passes over a table until `is_over`, and returns the number of passes.
fn work(is_over: &AtomicBool) -> u64 {
    let mut table: [u64; WORDS] = std::array::from_fn(|index| index as u64);
    let mut sum = 0_u64;
    let mut passes = 0;
    // Relaxed: see the store in `rate`.
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
    fn the_first_speed_is_1_and_the_others_are_positive() {
        let topology = Topology::this_machine().expect("a machine");
        let cpu = topology.allowed_cpus().next().expect("a CPU").id;
        let spell = Duration::from_millis(5);
        let speeds = speeds(topology, cpu, 3, 1, spell, |_| ()).expect("bound");
        assert_eq!(speeds.len(), 3);
        assert!((speeds[0] - 1.0).abs() < f64::EPSILON);
        assert!(speeds.iter().all(|&speed| speed.is_finite() && speed > 0.0));
    }
}
