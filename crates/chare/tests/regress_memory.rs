//! Memory that grew without bound in programs whose chares come and go: numbers that came back were used by some of those who made chares
//! and not by others, workers remembered the keys of elements that had ended, and arrays that were destroyed stayed in all tables.
//!
//! All that is allocated is counted, so that the tests run one after the other, in one function.

#![cfg(not(any(loom, shuttle)))]

use std::alloc::System;

use raddle_chare::{Array, Chares, Cx, chare};
use raddle_runtime::Runtime;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn bytes() -> isize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated as isize - stats.bytes_deallocated as isize
}

struct Mayfly;

#[chare]
impl Mayfly {
    #[entry]
    fn end(&mut self, cx: &mut Cx<Self>) {
        cx.end();
    }
}

struct Keyed;

#[chare(index = u64)]
impl Keyed {
    #[entry]
    fn hear(&mut self) {}
}

struct Driver;

#[chare]
impl Driver {
    #[entry]
    fn make(&mut self, cx: &mut Cx<Self>) {
        for _ in 0..EACH {
            cx.chare(|_| Mayfly).end();
        }
    }

    #[entry]
    fn put_in_and_remove(&mut self, array: Array<Keyed>, from: u64) {
        for key in from..from + EACH {
            array.insert(key, |_| Keyed);
            array.at(key).hear();
            array.remove(key);
        }
    }
}

/// So many come and go before it is quiet.
const EACH: u64 = 200;

/// Repeats `round` until it has what it keeps, and then as often again.
#[track_caller]
fn assert_flat(runtime: &Runtime, what: &str, mut round: impl FnMut(u64)) {
    const ROUNDS: u64 = 120;
    let mut run = |rounds: std::ops::Range<u64>| {
        for number in rounds {
            round(number);
            runtime.quiescence().wait();
        }
        bytes()
    };
    let before = run(0..ROUNDS);
    let after = run(ROUNDS..2 * ROUNDS);
    // How many are there at a time is chance. Each of the 24 000 that came and went had left 16 bytes or more.
    let grown = after - before;
    assert!(grown < 128 << 10, "{what}: {grown} bytes");
}

#[test]
fn what_has_ended_leaves_nothing() {
    for workers in [1, 2] {
        let runtime = Runtime::builder().workers(workers).build();
        let runtime = runtime.expect("it comes up");
        let driver = runtime.chare(|_| Driver);
        let keyed = runtime.sparse_array::<Keyed>();
        assert_flat(&runtime, "chares made by a thread", |_| {
            for _ in 0..EACH {
                runtime.chare(|_| Mayfly).end();
            }
        });
        assert_flat(&runtime, "chares made by a chare", |_| driver.make());
        assert_flat(&runtime, "elements with the same keys", |_| {
            driver.put_in_and_remove(keyed, 0);
        });
        assert_flat(&runtime, "elements with new keys", |round| {
            driver.put_in_and_remove(keyed, round * EACH);
        });
        assert_flat(&runtime, "elements put in by a thread", |round| {
            for key in round * EACH..(round + 1) * EACH {
                keyed.insert(key, |_| Keyed);
                keyed.remove(key);
            }
        });
        assert_flat(&runtime, "arrays and groups", |_| {
            for _ in 0..EACH / 20 {
                runtime.array(3, |_| Mayfly).destroy();
                runtime.group(|_| Mayfly).destroy();
            }
        });
    }
}
