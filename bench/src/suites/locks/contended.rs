//! Locks that several threads want all the time.

use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use raddle_sync::lock::{Lock, Locked, PthreadLock};

use crate::error::BenchError;
use crate::harness::{Case, Contender, Local, Sample};
use crate::probe;
use crate::suites::Measurement;

/// The number of rounds of all threads together. A fair lock that passes from thread to thread
/// through the kernel takes several microseconds for each.
const ROUNDS: u64 = if cfg!(test) { 1_001 } else { 200_000 };

/// Returns the numbers of threads: those that were asked for, without 1, or else the number of CPUs
/// (the largest of `workers`, at least 2) and twice that number.
pub(super) fn thread_counts(workers: &[usize], are_asked: bool) -> Vec<usize> {
    if are_asked {
        return workers.iter().copied().filter(|&count| count > 1).collect();
    }
    let all = workers.iter().copied().max().unwrap_or(1).max(2);
    vec![all, 2 * all]
}

/// Compares a lock with the Pthreads mutex.
///
/// # Errors
/// Those of [`Measurement::compare_on`].
pub(super) fn compare<L: Lock + 'static>(
    measurement: &mut Measurement<'_>,
    name: &'static str,
    thread_counts: &[usize],
) -> Result<(), BenchError> {
    let case = Case {
        repetitions: ROUNDS,
        expected: ROUNDS,
        ..super::case(name)
    };
    let mut own = Local::new("raddle", |request| Ok(count::<L>(request.workers)));
    let mut peers: Vec<Box<dyn Contender>> = vec![Box::new(Local::new("pthread", |request| {
        Ok(count::<PthreadLock>(request.workers))
    }))];
    for &threads in thread_counts {
        measurement.compare_on(threads, &case, &mut own, &mut peers)?;
    }
    Ok(())
}

/// Counts the rounds under a lock, on `threads` threads that begin together.
///
/// The threads are distributed evenly over the CPUs and bound to them. Otherwise the system may put
/// two of them on one CPU, where they run one after the other and do not contend.
///
/// The time is that from the first round of any thread to the last round of any thread.
fn count<L: Lock>(threads: usize) -> Sample {
    let number = Locked::<L, u64>::new(0);
    let barrier = Barrier::new(threads);
    let cpus = probe::cpus();
    let run = |index: usize, rounds: u64| {
        if let Some(&cpu) = cpus.get(index % cpus.len().max(1)) {
            probe::pin(cpu);
        }
        barrier.wait();
        let began = Instant::now();
        for _ in 0..rounds {
            number.with(|number| *number += 1);
        }
        (began, Instant::now())
    };
    let run = &run;
    let times: Vec<(Instant, Instant)> = thread::scope(|scope| {
        let share = |index: usize| ROUNDS * index as u64 / threads as u64;
        let started: Vec<_> = (0..threads)
            .map(|index| scope.spawn(move || run(index, share(index + 1) - share(index))))
            .collect();
        let ended = started.into_iter().map(thread::ScopedJoinHandle::join);
        ended
            .map(|times| times.expect("counting does not panic"))
            .collect()
    });
    let began = times.iter().map(|&(began, _)| began).min();
    let ended = times.iter().map(|&(_, ended)| ended).max();
    let time = began.zip(ended).map(|(began, ended)| ended - began);
    Sample {
        time: time.unwrap_or_default(),
        result: number.with(|number| *number),
    }
}

#[cfg(test)]
mod tests;
