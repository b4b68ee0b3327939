//! Seeded stress test: random trees of joins, scopes, loops, handles and panics, on runtimes that
//! start and end.
//!
//! Every tree is also evaluated sequentially. The sums must agree, no run may hang, and the memory
//! in use must not grow from round to round. A failure prints the seed of its round.
//!
//! | variable                | meaning                   | default |
//! |-------------------------|---------------------------|---------|
//! | `RADDLE_STRESS_SECONDS` | the duration of the test  | 5       |
//! | `RADDLE_STRESS_SEED`    | the first seed            | 1       |
//!
//! A longer run:
//! `RADDLE_STRESS_SECONDS=300 cargo test --release -p raddle-runtime --test stress_runtime`

#![cfg(not(any(loom, shuttle)))]

mod counting;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use raddle_runtime::{
    IdlePolicy, PoolKind, Runtime, TaskMemory, for_each_mut, join, map, map_reduce, scope,
};

/// The number of bytes by which the memory in use may exceed the memory in use after the warm-up:
/// lists of threads, slabs of cells.
const GROWTH_BYTES_MAX: isize = 4 << 20;
const WARM_UP_ROUNDS: u64 = 30;

/// A panic that is part of a tree. Its value is part of the sum.
struct Thrown(u64);

fn variable(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name}: found {text:?}; expected a number")),
        Err(_) => default,
    }
}

/// Returns the next number of SplitMix64 (Steele, Lea, Flood 2014).
fn next(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *seed;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A node of the tree. Both evaluations derive the same node from the same seed.
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
                        *sum.lock().expect("no panic under the lock") += value;
                    });
                }
            });
            sum.into_inner().expect("no panic under the lock")
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
            // Panics on either side of a join, or in a task, while forks of this stack are open.
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

/// Panics without a message on the terminal, since there are thousands of panics.
fn throw(value: u64) {
    resume_unwind(Box::new(Thrown(value)));
}

fn caught(seed: u64, call: impl FnOnce() -> u64) -> u64 {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(_) => panic!("seed {seed}: the panic was lost"),
        Err(panic) => panic.downcast::<Thrown>().expect("only this test panics").0 + 1,
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
    let runtime = Arc::new(build().expect("the runtime starts"));
    let other = Arc::new(build().expect("the runtime starts"));
    let trees: Vec<u64> = (0..8).map(|_| next(&mut state)).collect();
    let depth = 6;
    let expected: Vec<u64> = trees.iter().map(|&tree| sequential(tree, depth)).collect();
    // Evaluates the trees from outside: as tasks with handles, and from two threads at once.
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
    // Two runtimes enter each other, and workers wait for calls that enter their own runtime.
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
    // Drops the runtime while work is in progress. It waits for that work.
    let late = runtime.spawn(move || parallel(trees[0], depth));
    drop(runtime);
    assert!(
        late.is_done(),
        "seed {seed}: a runtime ended before its task"
    );
    assert_eq!(blocking.wait(), 1);
}

#[test]
#[expect(
    clippy::print_stdout,
    reason = "a long run reports its number of rounds"
)]
fn random_work_on_runtimes_that_start_and_end() {
    let time = Duration::from_secs(variable("RADDLE_STRESS_SECONDS", 5));
    let mut seed = variable("RADDLE_STRESS_SEED", 1);
    let start = Instant::now();
    for _ in 0..WARM_UP_ROUNDS {
        round(next(&mut seed));
    }
    let region = counting::start();
    let mut rounds = WARM_UP_ROUNDS;
    while start.elapsed() < time {
        round(next(&mut seed));
        rounds += 1;
        let change = region.change();
        // These two counters already include the changes by reallocations.
        let growth = change.bytes_allocated.cast_signed() - change.bytes_deallocated.cast_signed();
        assert!(
            growth < GROWTH_BYTES_MAX,
            "{growth} bytes more in use after {rounds} rounds"
        );
    }
    println!("{rounds} rounds, {:?} since the warm-up", region.change());
}
