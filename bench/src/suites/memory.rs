//! The cost of per-worker memory that all workers use at once: `private` and `allocation`.
//!
//! - `private`: a worker-private number (`Private`) is incremented. Peers: `array`: the numbers are
//!   side by side in an array, as in the study; `padded`: each number has its own cache lines;
//!   `thread-local`: a plain `Cell`.
//! - `allocation`: a block of 128 bytes is allocated and freed with the worker's free list of task
//!   cells. Peers: `system`: the system's allocator; `system-locked`: the same under a Pthreads
//!   mutex, as in the study.
//!
//! 100,000 blocks are allocated before the first is freed. After that, the system's allocator
//! returns much of the memory to the kernel, whereas the free lists keep it. The time is the
//! average over the workers, which start together.
//!
//! A processor that combines its stores hides most of the false sharing until several other
//! processors request the line.
//!
//! # Source
//! Mei, Zheng, Gioachin, Kalé: Optimizing a parallel runtime system for multicore clusters. 2010,
//! tables 1 (`allocation`) and 2 (`private`).

use std::cell::Cell;
use std::hint::black_box;
use std::sync::{Arc, Barrier, mpsc};
use std::time::Duration;

use raddle::pool::probe::Cells;
use raddle::{Private, PrivateArray, Runtime};
use raddle_sync::lock::{Locked, PthreadLock};

use crate::error::BenchError;
use crate::harness::{Case, Contender, Local, Sample, Unit, timed};
use crate::pools::RaddlePools;
use crate::suites::Measurement;

/// The names of the cases.
pub(crate) const CASES: [&str; 2] = ["private", "allocation"];

/// The number of increments per worker.
const COUNTS: u64 = 20_000_000;
/// The number of blocks that a worker has at a time.
const BLOCKS: usize = 100_000;
/// The number of times that a worker allocates and frees all blocks.
const FILLS: u64 = 10;

/// A block with the size of a task cell.
type Block = [u64; 16];

/// Runs the suite.
///
/// # Errors
/// Those of [`Measurement::compare`].
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    for name in CASES {
        match name {
            _ if !measurement.wants(name) => Ok(()),
            "private" => private(measurement, name),
            _ => allocation(measurement, name),
        }?;
    }
    Ok(())
}

fn private(measurement: &mut Measurement<'_>, name: &'static str) -> Result<(), BenchError> {
    let case = case(name, COUNTS, COUNTS);
    let mut own = on_workers("raddle", |_| {
        let number = Private::new(|| 0);
        move |_| {
            (0..COUNTS).for_each(|_| black_box(&number).with(|number| *number += 1));
            number.with(|number| *number)
        }
    });
    let count_in = |array: PrivateArray| {
        move |_| {
            (0..COUNTS).for_each(|_| black_box(&array).add(1));
            array.get()
        }
    };
    let array = on_workers("array", move |runtime| count_in(PrivateArray::new(runtime)));
    let padded = on_workers("padded", move |runtime| {
        count_in(PrivateArray::padded(runtime))
    });
    let plain = on_workers("thread-local", |_| {
        thread_local! {
            static NUMBER: Cell<u64> = const { Cell::new(0) };
        }
        |_| {
            NUMBER.set(0);
            let count = || NUMBER.with(|number| black_box(number).set(number.get() + 1));
            (0..COUNTS).for_each(|_| count());
            NUMBER.get()
        }
    });
    let mut peers: Vec<Box<dyn Contender>> =
        vec![Box::new(array), Box::new(padded), Box::new(plain)];
    measurement.compare(&case, &mut own, &mut peers)
}

fn allocation(measurement: &mut Measurement<'_>, name: &'static str) -> Result<(), BenchError> {
    let case = case(name, FILLS * BLOCKS as u64, FILLS * BLOCKS as u64);
    let mut own = on_workers("raddle", |runtime| {
        let cells = Cells::new(runtime.worker_count());
        move |worker_index| {
            let free = cells.list(worker_index);
            take_and_give_back(|| free.take(), drop)
        }
    });
    let system = on_workers("system", |_| {
        |_| take_and_give_back(Box::<Block>::new_uninit, drop)
    });
    let locked = on_workers("system-locked", |_| {
        let lock = Locked::<PthreadLock, ()>::default();
        move |_| {
            take_and_give_back(
                || lock.with(|()| Box::<Block>::new_uninit()),
                |block| lock.with(|()| drop(block)),
            )
        }
    });
    let mut peers: Vec<Box<dyn Contender>> = vec![Box::new(system), Box::new(locked)];
    measurement.compare(&case, &mut own, &mut peers)
}

fn case(name: &'static str, repetitions: u64, expected: u64) -> Case<'static> {
    Case {
        suite: "memory",
        name,
        unit: Unit::Nanoseconds,
        repetitions,
        file: None,
        expected,
        tolerance: 0,
    }
}

/// Creates a contender that runs the closure made by `set_up` on all workers at once, with the
/// index of each.
fn on_workers<W>(
    name: &'static str,
    mut set_up: impl FnMut(&Runtime) -> W + 'static,
) -> impl Contender
where
    W: Fn(usize) -> u64 + Send + Sync + 'static,
{
    let mut runtimes = RaddlePools::default();
    Local::new(name, move |request| {
        let runtime = runtimes.of_workers(request.workers)?;
        Ok(on_each(runtime, set_up(runtime)))
    })
}

/// Returns the average time of a worker and the smallest result. The result is 0 unless all workers
/// finish.
fn on_each(runtime: &Runtime, work: impl Fn(usize) -> u64 + Send + Sync + 'static) -> Sample {
    let workers = runtime.worker_count();
    let shared = Arc::new((Barrier::new(workers), work));
    let (done, ended) = mpsc::channel();
    for worker_index in 0..workers {
        let (shared, done) = (Arc::clone(&shared), done.clone());
        runtime.post().send(worker_index, move || {
            let (together, work) = &*shared;
            together.wait();
            let sample = timed(1, || work(worker_index));
            done.send(sample).expect("the caller waits for all workers");
        });
    }
    drop(done);
    let samples: Vec<Sample> = ended.iter().collect();
    let all_ended = samples.len() == workers;
    let least = samples.iter().map(|sample| sample.result).min();
    Sample {
        time: samples.iter().map(|sample| sample.time).sum::<Duration>() / workers as u32,
        result: least.filter(|_| all_ended).unwrap_or(0),
    }
}

/// Allocates [`BLOCKS`] blocks and frees all of them, [`FILLS`] times. Returns the number of
/// allocations.
fn take_and_give_back<T>(take: impl Fn() -> T, give_back: impl Fn(T)) -> u64 {
    let mut blocks = Vec::with_capacity(BLOCKS);
    let mut taken = 0;
    for _ in 0..FILLS {
        blocks.extend((0..BLOCKS).map(|_| black_box(take())));
        taken += blocks.len() as u64;
        blocks.drain(..).for_each(&give_back);
    }
    taken
}

#[cfg(test)]
mod tests;
