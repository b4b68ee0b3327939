//! Memory that programs left behind for ever: all operations kept what they share, which kept all operations, and what looks at them the whole runtime. Five
//! minutes of random programs took 24 GB.
//!
//! All that is allocated is counted, so that the tests run one after the other, in one function.

#![cfg(not(any(loom, shuttle)))]

use std::alloc::System;
use std::panic::resume_unwind;

use raddle_orwl::{Program, Turns};
use raddle_runtime::Runtime;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const TASKS: usize = 16;

fn bytes() -> isize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated as isize - stats.bytes_deallocated as isize
}

/// A ring of tasks, every second one with a thread; ended early by one of them where that is asked for.
fn ring(runtime: &Runtime, ends_early: bool) {
    let mut program = Program::new("ring");
    let cells: Vec<_> = (0..TASKS)
        .map(|cell| program.location(format!("cell {cell}"), 0_u64))
        .collect();
    for at in 0..TASKS {
        let (own, next) = (&cells[at], &cells[(at + 1) % TASKS]);
        if at % 2 == 0 {
            program.task(format!("task {at}"), |task| {
                let (mut own, mut next) = (task.writes_each_turn(own), task.reads_each_turn(next));
                move || {
                    own.section(|own| next.section(|next| *own += *next));
                    if ends_early && at == 0 {
                        // Without the hook, whose words the test would keep.
                        resume_unwind(Box::new("it ends early"));
                    }
                }
            });
        } else {
            program.async_task(format!("task {at}"), |task| {
                let (mut own, mut next) = (task.writes_each_turn(own), task.reads_each_turn(next));
                let mut turns = task.turns();
                async move {
                    while turns.next() {
                        *own.enter().await += *next.enter().await;
                    }
                }
            });
        }
    }
    assert_eq!(program.run_on(runtime, Turns(3)).is_err(), ends_early);
}

fn runtime() -> Runtime {
    Runtime::builder()
        .workers(2)
        .build()
        .expect("two workers come up")
}

/// Repeats `round` until it has what it keeps, and then measures how much each of several series
/// of as many rounds adds.
///
/// A leak adds to every series. What the number of waiting threads adds, which depends on the load
/// of the machine, does not.
#[track_caller]
fn assert_flat(what: &str, mut round: impl FnMut()) {
    const ROUNDS: usize = 30;
    const SERIES: usize = 4;
    let mut run = || {
        (0..ROUNDS).for_each(|_| round());
        bytes()
    };
    let mut before = run();
    let grown = (0..SERIES).map(|_| {
        let after = run();
        after - std::mem::replace(&mut before, after)
    });
    let least = grown.min().expect("there are several series");
    // Each program had left 15 KB, and each runtime 2 MB.
    assert!(least < 64 << 10, "{what}: {least} bytes in each series");
}

#[test]
fn programs_leave_nothing_behind() {
    let one = runtime();
    assert_flat("programs on a runtime", || ring(&one, false));
    assert_flat("programs that fail", || ring(&one, true));
    assert_flat("a runtime for each program", || ring(&runtime(), false));
}
