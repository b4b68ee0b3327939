//! Tests whether workers are idle while there is work that they could do: skewed loops, first
//! joins, and tasks beside a stolen half.
//!
//! - `skewed-4` to `skewed-1000`: a loop of that many items. The first item takes as long as all
//!   the others together.
//! - `skewed-last`: such a loop of 100 items, of which the last one is long.
//! - `skewed-anywhere`: such a loop of 100 items; in each of ten loops another one is long: the
//!   6th, the 16th, …
//! - `skewed-late`: a loop of 1,000 items, of which the first 20 do nothing.
//! - `first-join`: a join of two halves of 2 ms, right after the start of a new runtime.
//! - `beside`: ten tasks of 1 ms from outside, while a worker waits for a stolen half of 150 ms.
//! - `ramp`: the time from the first of 16 tasks, which need 16 woken workers, until all run.
//! - `ramp-tree`: the time from the start of a tree of joins with 200 leaves until each of 16
//!   workers has started a leaf.
//! - `ramp-loop`: the same time for a loop of 200 items.
//! - `leaf`: the time from the start of a long leaf, when the other worker has just become idle,
//!   until that worker runs the fork beside the leaf.
//!
//! Items and halves compute instead of sleeping. With two workers on two CPUs, an idle worker shows
//! as a longer time. The tasks, leaves and items of the ramps sleep, so these cases do not need 16
//! CPUs. They always use 16 workers, and `leaf` always uses two.
//!
//! Peer: `rayon`.
//!
//! # Memory ordering
//! | label | release side           | acquire side         | what it publishes             |
//! |-------|------------------------|----------------------|-------------------------------|
//! | D1    | `set_flag` stores true | `is_set` loads true  | that the other side has begun |

use std::hint::spin_loop;
use std::sync::{Arc, Barrier, OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use raddle_sync::prim::{Acquire, AtomicBool, AtomicU64, Relaxed, Release};
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::error::BenchError;
use crate::harness::{Case, Contender, Local, Sample, Unit};
use crate::pools::{RaddlePools, RayonPools, placed_alone};
use crate::suites::Measurement;

/// The names of the cases.
pub(crate) const CASES: [&str; 13] = [
    "skewed-4",
    "skewed-20",
    "skewed-100",
    "skewed-1000",
    "skewed-last",
    "skewed-anywhere",
    "skewed-late",
    "first-join",
    "beside",
    "ramp",
    "ramp-tree",
    "ramp-loop",
    "leaf",
];

/// The time of the long item of a skewed loop, and of all the others together.
const LONG: Duration = Duration::from_millis(10);
const SKEWED: [(&str, usize, Skew); 7] = [
    ("skewed-4", 4, Skew::Long(0)),
    ("skewed-20", 20, Skew::Long(0)),
    ("skewed-100", 100, Skew::Long(0)),
    ("skewed-1000", 1000, Skew::Long(0)),
    ("skewed-last", 100, Skew::Long(99)),
    ("skewed-anywhere", 100, Skew::Anywhere),
    ("skewed-late", 1000, Skew::Late(20)),
];
const SKEWED_REPETITIONS: u64 = 10;
const NEW_RUNTIMES: u64 = 60;
const HALF: Duration = Duration::from_millis(2);
const STOLEN: Duration = Duration::from_millis(150);
const TASKS: u64 = 10;
const TASK: Duration = Duration::from_millis(1);
const RAMPS: u64 = 50;
const RAMP_WORKERS: usize = 16;
/// The number of leaves of the tree, or of items of the loop.
const RAMP_LEAVES: usize = 200;
/// The time of a leaf or of an item.
const RAMP_LEAF: Duration = Duration::from_micros(300);
/// The number of workers of the case `leaf`. With a third worker, an idle one would take the fork
/// before the leaf begins.
const LEAF_WORKERS: usize = 2;
/// The time after which idle workers are asleep.
const REST: Duration = Duration::from_millis(5);
const LEAVES: u64 = 50;
/// The time after which a leaf ends, unless its fork has begun before.
const LEAF_MAX: Duration = Duration::from_millis(50);

/// The distribution of the times over the items of a loop.
#[derive(Clone, Copy)]
enum Skew {
    /// The item with this index takes as long as all the others together.
    Long(usize),
    /// In each loop, another item is the long one.
    Anywhere,
    /// This many items at the start take no time.
    Late(usize),
}

impl Skew {
    /// Returns the time of an item in a loop of `len` items. All of them take twice [`LONG`].
    fn time(self, index: usize, len: usize, repetition: usize) -> Duration {
        let part = |time: Duration, count| time / u32::try_from(count).expect("few items");
        match self {
            Self::Anywhere => {
                let long = (2 * repetition + 1) * len / (2 * SKEWED_REPETITIONS as usize);
                Self::Long(long % len).time(index, len, repetition)
            }
            Self::Long(long) if index == long => LONG,
            Self::Long(_) => part(LONG, len - 1),
            Self::Late(first) if index < first => Duration::ZERO,
            Self::Late(first) => part(2 * LONG, len - first),
        }
    }
}

/// Runs the suite, with two workers unless the caller named other numbers.
///
/// # Errors
/// Those of [`Measurement::compare`].
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    if !measurement.are_workers_asked {
        measurement.workers = vec![2];
    }
    if measurement.workers.contains(&1) {
        (measurement.warn)(
            "idle: left out with 1 worker, since no other worker can be idle".to_owned(),
        );
        measurement.workers.retain(|&count| count > 1);
    }
    for (name, len, skew) in SKEWED {
        if measurement.wants(name) {
            skewed(measurement, name, len, skew)?;
        }
    }
    if measurement.wants("first-join") {
        first_join(measurement)?;
    }
    if measurement.wants("beside") {
        beside(measurement)?;
    }
    if measurement.wants("ramp") {
        ramp(measurement)?;
    }
    if measurement.wants("ramp-tree") {
        let raddle = |leaf: Call<'_>| {
            tree(RAMP_LEAVES, leaf, &|a, b| {
                raddle::join(a, b);
            })
        };
        let rayon = |leaf: Call<'_>| {
            tree(RAMP_LEAVES, leaf, &|a, b| {
                rayon::join(a, b);
            })
        };
        ramp_of_leaves(measurement, "ramp-tree", raddle, rayon)?;
    }
    if measurement.wants("ramp-loop") {
        let raddle = |leaf: Call<'_>| raddle::for_each(0..RAMP_LEAVES, |_| leaf());
        let rayon = |leaf: Call<'_>| {
            (0..RAMP_LEAVES).into_par_iter().for_each(|_| leaf());
        };
        ramp_of_leaves(measurement, "ramp-loop", raddle, rayon)?;
    }
    if measurement.wants("leaf") {
        leaf(measurement)?;
    }
    Ok(())
}

fn case(name: &'static str, repetitions: u64, expected: u64) -> Case<'static> {
    Case {
        suite: "idle",
        name,
        unit: Unit::Microseconds,
        repetitions,
        file: None,
        expected,
        tolerance: 0,
    }
}

/// Computes for the given time.
fn compute(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        spin_loop();
    }
}

/// Adds up the results of `run` for each repetition.
fn sum_of_times(repetitions: u64, mut run: impl FnMut(usize) -> (Duration, u64)) -> Sample {
    (0..repetitions as usize).fold(
        Sample {
            time: Duration::ZERO,
            result: 0,
        },
        |sum, repetition| {
            let (time, result) = run(repetition);
            Sample {
                time: sum.time + time,
                result: sum.result + result,
            }
        },
    )
}

fn timed_once(run: impl FnOnce() -> u64) -> (Duration, u64) {
    let start = Instant::now();
    let result = run();
    (start.elapsed(), result)
}

fn skewed(
    measurement: &mut Measurement<'_>,
    name: &'static str,
    len: usize,
    skew: Skew,
) -> Result<(), BenchError> {
    let item = move |index, repetition| compute(skew.time(index, len, repetition));
    let case = case(name, SKEWED_REPETITIONS, SKEWED_REPETITIONS);
    let (mut raddle_pools, mut rayon_pools) = (RaddlePools::default(), RayonPools::default());
    let mut raddle = Local::new("raddle", move |request| {
        raddle_pools.install(request.workers, || {
            sum_of_times(request.repetitions, |repetition| {
                timed_once(|| {
                    raddle::for_each(0..len, |index| item(index, repetition));
                    1
                })
            })
        })
    });
    let rayon = Local::new("rayon", move |request| {
        rayon_pools.install(request.workers, || {
            sum_of_times(request.repetitions, |repetition| {
                let indices = (0..len).into_par_iter();
                timed_once(|| {
                    indices.for_each(|index| item(index, repetition));
                    1
                })
            })
        })
    });
    measurement.compare(&case, &mut raddle, &mut [Box::new(rayon)])
}

fn first_join(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    let case = case("first-join", NEW_RUNTIMES, NEW_RUNTIMES);
    let half = || compute(HALF);
    let mut raddle = Local::new("raddle", move |request| {
        sum_of_new(request.repetitions, || {
            let builder = placed_alone(raddle::Builder::default()).workers(request.workers);
            let runtime = builder
                .build()
                .map_err(|error| BenchError::contender("raddle", error))?;
            Ok(timed_once(|| {
                runtime.install(|| raddle::join(half, half));
                1
            }))
        })
    });
    let rayon = Local::new("rayon", move |request| {
        sum_of_new(request.repetitions, || {
            let builder = rayon::ThreadPoolBuilder::new().num_threads(request.workers);
            let pool = builder
                .build()
                .map_err(|error| BenchError::contender("rayon", error))?;
            Ok(timed_once(|| {
                pool.install(|| rayon::join(half, half));
                1
            }))
        })
    });
    measurement.compare(&case, &mut raddle, &mut [Box::new(rayon)])
}

/// Adds up the results of runs that each start a runtime, which may fail.
fn sum_of_new(
    repetitions: u64,
    mut run: impl FnMut() -> Result<(Duration, u64), BenchError>,
) -> Result<Sample, BenchError> {
    let mut sum = Sample {
        time: Duration::ZERO,
        result: 0,
    };
    for _ in 0..repetitions {
        let (time, result) = run()?;
        sum.time += time;
        sum.result += result;
    }
    Ok(sum)
}

/// Spins until the flag is set, so that the measured time contains no wake-up of this thread.
fn await_flag(flag: &AtomicBool) {
    while !is_set(flag) {
        spin_loop();
    }
}

fn is_set(flag: &AtomicBool) -> bool {
    // ORDERING(D1): Acquire, the other side's actions.
    flag.load(Acquire)
}

fn set_flag(flag: &AtomicBool) {
    // ORDERING(D1): Release, this side's actions.
    flag.store(true, Release);
}

fn beside(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    let case = case("beside", 1, TASKS);
    let (mut raddle_pools, mut rayon_pools) = (RaddlePools::default(), RayonPools::default());
    let mut raddle = Local::new("raddle", move |request| {
        let runtime = raddle_pools.of_workers(request.workers)?;
        let stolen = AtomicBool::new(false);
        Ok(thread::scope(|threads| {
            let joining = threads.spawn(|| {
                runtime.install(|| {
                    raddle::join(
                        || await_flag(&stolen),
                        || {
                            set_flag(&stolen);
                            compute(STOLEN);
                        },
                    )
                })
            });
            await_flag(&stolen);
            let (time, result) = timed_once(|| {
                let tasks: Vec<_> = (0..TASKS)
                    .map(|_| runtime.spawn(|| compute(TASK)))
                    .collect();
                tasks
                    .into_iter()
                    .map(|task| {
                        task.wait();
                        1
                    })
                    .sum()
            });
            joining.join().expect("the join ends");
            Sample { time, result }
        }))
    });
    let rayon = Local::new("rayon", move |request| {
        let pool = rayon_pools.of_workers(request.workers)?;
        let stolen = AtomicBool::new(false);
        Ok(thread::scope(|threads| {
            let joining = threads.spawn(|| {
                pool.install(|| {
                    rayon::join(
                        || await_flag(&stolen),
                        || {
                            set_flag(&stolen);
                            compute(STOLEN);
                        },
                    )
                })
            });
            await_flag(&stolen);
            let (time, result) = timed_once(|| {
                let (done, each) = mpsc::channel();
                for _ in 0..TASKS {
                    let done = done.clone();
                    pool.spawn(move || {
                        compute(TASK);
                        let _ = done.send(());
                    });
                }
                drop(done);
                each.into_iter().count() as u64
            });
            joining.join().expect("the join ends");
            Sample { time, result }
        }))
    });
    measurement.compare(&case, &mut raddle, &mut [Box::new(rayon)])
}

/// Measures the time from the first of [`RAMP_WORKERS`] tasks until all of them run. `spawn` spawns
/// one task.
fn time_of_ramp(mut spawn: impl FnMut(Box<dyn FnOnce() + Send>)) -> (Duration, u64) {
    let barrier = Arc::new(Barrier::new(RAMP_WORKERS));
    let (done, each) = mpsc::channel();
    thread::sleep(REST);
    let start = Instant::now();
    for _ in 0..RAMP_WORKERS {
        let (barrier, done) = (Arc::clone(&barrier), done.clone());
        spawn(Box::new(move || {
            // The last task to arrive is the leader. It reports the time.
            let _ = done.send(barrier.wait().is_leader().then(|| start.elapsed()));
        }));
    }
    drop(done);
    let time = each.into_iter().flatten().sum();
    (time, 1)
}

fn ramp(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    let case = case("ramp", RAMPS, RAMPS);
    let (mut raddle_pools, mut rayon_pools) = (RaddlePools::default(), RayonPools::default());
    let mut raddle = Local::new("raddle", move |request| {
        let runtime = raddle_pools.of_workers(request.workers)?;
        let run = |_| time_of_ramp(|task| drop(runtime.spawn(task)));
        Ok(sum_of_times(request.repetitions, run))
    });
    let rayon = Local::new("rayon", move |request| {
        let pool = rayon_pools.of_workers(request.workers)?;
        let run = |_| time_of_ramp(|task| pool.spawn(task));
        Ok(sum_of_times(request.repetitions, run))
    });
    let mut peers: [Box<dyn Contender>; 1] = [Box::new(rayon)];
    measurement.compare_on(RAMP_WORKERS, &case, &mut raddle, &mut peers)
}

/// A closure that several workers may call.
type Call<'a> = &'a (dyn Fn() + Sync);

/// Runs a tree of joins with `leaf_count` leaves.
fn tree(leaf_count: usize, leaf: Call<'_>, join: &(dyn Fn(Call<'_>, Call<'_>) + Sync)) {
    if leaf_count == 1 {
        return leaf();
    }
    let left = leaf_count / 2;
    join(&|| tree(left, leaf, join), &|| {
        tree(leaf_count - left, leaf, join);
    });
}

/// Measures the time from the start of `run`, while all workers but one sleep, until each of the
/// [`RAMP_WORKERS`] has begun a leaf or `run` has ended. `worker` returns the index of the current
/// worker.
fn time_of_leaves(
    run: impl Fn(Call<'_>),
    worker: impl Fn() -> Option<usize> + Sync,
) -> (Duration, u64) {
    let (seen, time) = (AtomicU64::new(0), OnceLock::new());
    thread::sleep(REST);
    let start = Instant::now();
    run(&|| {
        // Compensating threads do not count.
        if let Some(worker) = worker().filter(|&worker| worker < RAMP_WORKERS) {
            // Relaxed: the bits publish nothing else.
            let all = seen.fetch_or(1 << worker, Relaxed) | 1 << worker;
            if all.count_ones() as usize == RAMP_WORKERS {
                time.get_or_init(|| start.elapsed());
            }
        }
        thread::sleep(RAMP_LEAF);
    });
    (*time.get_or_init(|| start.elapsed()), 1)
}

fn ramp_of_leaves(
    measurement: &mut Measurement<'_>,
    name: &'static str,
    raddle_run: impl Fn(Call<'_>) + Sync,
    rayon_run: impl Fn(Call<'_>) + Sync,
) -> Result<(), BenchError> {
    let case = case(name, RAMPS, RAMPS);
    let (mut raddle_pools, mut rayon_pools) = (RaddlePools::default(), RayonPools::default());
    let mut raddle = Local::new("raddle", |request: &_| {
        raddle_pools.install(request.workers, || {
            let run = |_| time_of_leaves(&raddle_run, raddle::worker_index);
            sum_of_times(request.repetitions, run)
        })
    });
    let rayon = Local::new("rayon", |request: &_| {
        rayon_pools.install(request.workers, || {
            let run = |_| time_of_leaves(&rayon_run, rayon::current_thread_index);
            sum_of_times(request.repetitions, run)
        })
    });
    let mut peers: [Box<dyn Contender + '_>; 1] = [Box::new(rayon)];
    measurement.compare_on(RAMP_WORKERS, &case, &mut raddle, &mut peers)
}

/// The closures of the case `leaf`.
struct Leaf<'run> {
    /// A task that keeps the other worker busy until the fork is available beside the leaf.
    busy: &'run (dyn Fn() + Sync),
    /// Waits until the task has begun on the other worker.
    await_busy: &'run (dyn Fn() + Sync),
    leaf: &'run (dyn Fn() + Sync),
    fork: &'run (dyn Fn() + Sync),
}

/// Measures the time from the start of a long leaf, when the other worker has just become idle,
/// until that worker runs the fork beside it.
fn time_of_leaf(run: impl FnOnce(&Leaf<'_>)) -> (Duration, u64) {
    let [is_busy, is_forked, has_begun] = [const { AtomicBool::new(false) }; 3];
    let (start, time) = (OnceLock::new(), OnceLock::new());
    run(&Leaf {
        busy: &|| {
            set_flag(&is_busy);
            await_flag(&is_forked);
        },
        await_busy: &|| await_flag(&is_busy),
        leaf: &|| {
            let begin = *start.get_or_init(Instant::now);
            set_flag(&is_forked);
            while !is_set(&has_begun) && begin.elapsed() < LEAF_MAX {
                spin_loop();
            }
        },
        fork: &|| {
            let begin = start.get().expect("the leaf has begun, or has ended");
            time.get_or_init(|| begin.elapsed());
            set_flag(&has_begun);
        },
    });
    (*time.get().expect("the fork has run"), 1)
}

fn leaf(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    let case = case("leaf", LEAVES, LEAVES);
    let (mut raddle_pools, mut rayon_pools) = (RaddlePools::default(), RayonPools::default());
    let mut raddle = Local::new("raddle", move |request| {
        raddle_pools.install(request.workers, || {
            let run = |leaf: &Leaf<'_>| {
                raddle::scope(|scope| {
                    scope.spawn(|| (leaf.busy)());
                    (leaf.await_busy)();
                    raddle::join(|| (leaf.leaf)(), || (leaf.fork)());
                });
            };
            sum_of_times(request.repetitions, |_| time_of_leaf(run))
        })
    });
    let rayon = Local::new("rayon", move |request| {
        rayon_pools.install(request.workers, || {
            let run = |leaf: &Leaf<'_>| {
                rayon::scope(|scope| {
                    scope.spawn(|_| (leaf.busy)());
                    (leaf.await_busy)();
                    rayon::join(|| (leaf.leaf)(), || (leaf.fork)());
                });
            };
            sum_of_times(request.repetitions, |_| time_of_leaf(run))
        })
    });
    let mut peers: [Box<dyn Contender>; 1] = [Box::new(rayon)];
    measurement.compare_on(LEAF_WORKERS, &case, &mut raddle, &mut peers)
}
