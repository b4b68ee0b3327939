//! Seeded stress: random trees of joins, scopes, loops, handles and panics, on runtimes that come and go.
//!
//! Every tree is also evaluated sequentially; the sums must agree, no run may hang, and memory in use must not grow from
//! round to round. Runs for `RADDLE_STRESS_SECONDS` (5 without it), from seed `RADDLE_STRESS_SEED` (1 without it); a failure
//! prints its round's seed. `RADDLE_STRESS_SECONDS=300 cargo test --release -p raddle-runtime --test stress_runtime`

use std::alloc::System;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use raddle_runtime::{
    IdlePolicy, PoolKind, Runtime, TaskMemory, for_each_mut, join, map, map_reduce, scope,
};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Bytes that may be in use after a round beyond those after the first rounds: lists of threads, slabs of cells.
const GROWTH_BYTES_MAX: isize = 4 << 20;
const WARM_UP_ROUNDS: u64 = 30;

/// A panic that is part of a tree; its value counts.
struct Thrown(u64);

fn variable(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name}: found {text:?}; expected a number")),
        Err(_) => default,
    }
}

/// One step of SplitMix64 (Steele, Lea, Flood 2014).
fn next(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *seed;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// What a node of the tree is; both evaluations take the same branch from the same seed.
enum Node {
    Leaf(u64),
    Join(u64, u64),
    Scope(Vec<u64>),
    Each(Vec<u64>),
    Map(Vec<u64>),
    Reduce(Vec<u64>),
    Throw(u64),
}

fn node(mut seed: u64, depth: u32) -> Node {
    let kind = next(&mut seed) % 16;
    let count = (next(&mut seed) % 6) as usize;
    let mut children = |count: usize| (0..count).map(|_| next(&mut seed)).collect::<Vec<u64>>();
    match kind {
        _ if depth == 0 => Node::Leaf(children(1)[0] % 100),
        0 => Node::Leaf(1),
        1..=7 => {
            let pair = children(2);
            Node::Join(pair[0], pair[1])
        }
        8 | 9 => Node::Scope(children(count)),
        10 | 11 => Node::Each(children(count)),
        12 => Node::Map(children(count)),
        13 => Node::Reduce(children(count)),
        _ => Node::Throw(children(1)[0]),
    }
}

fn sequential(seed: u64, depth: u32) -> u64 {
    let sum = |children: Vec<u64>| {
        children
            .into_iter()
            .map(|seed| sequential(seed, depth - 1))
            .sum()
    };
    match node(seed, depth) {
        Node::Leaf(value) => value,
        Node::Join(left, right) => sequential(left, depth - 1) + sequential(right, depth - 1),
        Node::Scope(children)
        | Node::Each(children)
        | Node::Map(children)
        | Node::Reduce(children) => sum(children),
        Node::Throw(child) => sequential(child, depth - 1) + 1,
    }
}

fn parallel(seed: u64, depth: u32) -> u64 {
    match node(seed, depth) {
        Node::Leaf(value) => value,
        Node::Join(left, right) => {
            let (a, b) = join(|| parallel(left, depth - 1), || parallel(right, depth - 1));
            a + b
        }
        Node::Scope(children) => {
            let sum = Mutex::new(0);
            scope(|scope| {
                for child in children {
                    let sum = &sum;
                    scope.spawn(move || {
                        let value = parallel(child, depth - 1);
                        *sum.lock().expect("nobody panics under it") += value;
                    });
                }
            });
            sum.into_inner().expect("nobody panics under it")
        }
        Node::Each(mut children) => {
            for_each_mut(&mut children, |_, child| {
                *child = parallel(*child, depth - 1)
            });
            children.iter().sum()
        }
        Node::Map(children) => map(0..children.len(), |index| {
            parallel(children[index], depth - 1)
        })
        .iter()
        .sum(),
        Node::Reduce(children) => map_reduce(
            0..children.len(),
            || 0,
            |index| parallel(children[index], depth - 1),
            |a, b| a + b,
        ),
        Node::Throw(child) => caught(seed, || {
            let value = parallel(child, depth - 1);
            // Thrown from either side of a join, or from a task, with forks of the same stack open.
            match seed % 3 {
                0 => join(|| throw(value), || parallel(child, 0)).1,
                1 => join(|| parallel(child, 0), || throw(value)).0,
                _ => scope(|scope| {
                    scope.spawn(|| throw(value));
                    0
                }),
            }
        }),
    }
}

/// Panics without the message on the terminal: there are thousands.
fn throw(value: u64) {
    resume_unwind(Box::new(Thrown(value)));
}

fn caught(seed: u64, call: impl FnOnce() -> u64) -> u64 {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(_) => panic!("seed {seed}: the panic was lost"),
        Err(panic) => panic.downcast::<Thrown>().expect("only ours are thrown").0 + 1,
    }
}

fn round(seed: u64) {
    let mut state = seed;
    let workers = 1 + (next(&mut state) % 8) as usize;
    let pool = PoolKind::ALL[(next(&mut state) % PoolKind::ALL.len() as u64) as usize];
    let idle = [IdlePolicy::Adaptive, IdlePolicy::Park][(next(&mut state) % 2) as usize];
    let task_memory = TaskMemory::ALL[(next(&mut state) % 2) as usize];
    let build = || {
        Runtime::builder()
            .task_memory(task_memory)
            .workers(workers)
            .pool(pool)
            .idle(idle)
            .build()
    };
    let runtime = Arc::new(build().expect("a runtime"));
    let other = Arc::new(build().expect("a runtime"));
    let trees: Vec<u64> = (0..8).map(|_| next(&mut state)).collect();
    let depth = 6;
    let expected: Vec<u64> = trees.iter().map(|&tree| sequential(tree, depth)).collect();
    // From outside, as tasks with handles, and from two threads at once.
    let handles: Vec<_> = trees
        .iter()
        .map(|&tree| runtime.spawn(move || parallel(tree, depth)))
        .collect();
    std::thread::scope(|threads| {
        for half in trees.chunks(4) {
            let runtime = &runtime;
            threads.spawn(move || {
                for &tree in half {
                    let value = runtime.install(|| parallel(tree, depth));
                    assert_eq!(
                        value,
                        sequential(tree, depth),
                        "seed {seed}, {workers} workers, {pool}"
                    );
                }
            });
        }
    });
    let blocking = runtime.spawn_blocking(|| 1);
    // Two runtimes that enter each other, and workers that wait for calls which enter their own.
    std::thread::scope(|threads| {
        for (first, second) in [(&runtime, &other), (&other, &runtime)] {
            let tree = trees[1];
            threads.spawn(move || {
                let value =
                    first.install(|| second.install(|| first.install(|| parallel(tree, depth))));
                assert_eq!(
                    value,
                    sequential(tree, depth),
                    "seed {seed}, {workers} workers, {pool}"
                );
                let inner = Arc::clone(first);
                let value = first.install(|| {
                    let call = move || inner.install(|| parallel(tree, depth));
                    first.spawn_blocking(call).wait()
                });
                assert_eq!(
                    value,
                    sequential(tree, depth),
                    "seed {seed}, {workers} workers, {pool}"
                );
            });
        }
    });
    for (handle, expected) in handles.into_iter().zip(expected) {
        assert_eq!(
            handle.wait(),
            expected,
            "seed {seed}, {workers} workers, {pool}"
        );
    }
    // Dropped with work under way: it waits for it.
    let late = runtime.spawn(move || parallel(trees[0], depth));
    drop(runtime);
    assert!(
        late.is_done(),
        "seed {seed}: a runtime went before its task"
    );
    assert_eq!(blocking.wait(), 1);
}

#[test]
#[expect(
    clippy::print_stdout,
    reason = "how many rounds there were is what a long run is for"
)]
fn random_work_on_runtimes_that_come_and_go() {
    let time = Duration::from_secs(variable("RADDLE_STRESS_SECONDS", 5));
    let mut seed = variable("RADDLE_STRESS_SEED", 1);
    let start = Instant::now();
    for _ in 0..WARM_UP_ROUNDS {
        round(next(&mut seed));
    }
    let region = Region::new(ALLOCATOR);
    let mut rounds = WARM_UP_ROUNDS;
    while start.elapsed() < time {
        round(next(&mut seed));
        rounds += 1;
        let change = region.change();
        // What a reallocation adds or takes is in these two already.
        let growth = change.bytes_allocated.cast_signed() - change.bytes_deallocated.cast_signed();
        assert!(
            growth < GROWTH_BYTES_MAX,
            "{growth} bytes more in use after {rounds} rounds"
        );
    }
    println!("{rounds} rounds, {:?} since the warm-up", region.change());
}
