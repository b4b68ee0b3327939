//! Regression test of a memory leak.
//!
//! The operations of a program and their shared state kept each other alive, and the mover kept the
//! whole runtime alive. Five minutes of random programs took 24 GB.
//!
//! The test counts all allocations of the process. So its cases run one after the other, in one
//! function.

#![cfg(not(any(loom, shuttle)))]

mod common;

use std::alloc::System;
use std::panic::resume_unwind;

use raddle_orwl::{Program, Turns};
use raddle_runtime::Runtime;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

use common::runtime;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const TASKS: usize = 16;

/// Returns the number of bytes that are allocated at present.
fn bytes() -> isize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated as isize - stats.bytes_deallocated as isize
}

/// Runs a ring of tasks. Every second one has a thread. If `ends_early`, one of them panics.
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
                        // It does not call the panic hook, since the test harness would keep its
                        // output.
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

/// Checks that repeated calls of `round` do not use more and more memory.
///
/// The first series of rounds allocates the memory that is reused. Then it measures how much each
/// of several series adds. A leak adds to every series. Memory for waiting threads, the number of
/// which depends on the load of the machine, does not.
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
    // With the bug, each program left 15 KB, and each runtime 2 MB.
    assert!(least < 64 << 10, "{what}: {least} bytes in each series");
}

#[test]
fn programs_leave_no_memory_behind() {
    let one = runtime(2);
    assert_flat("programs on a runtime", || ring(&one, false));
    assert_flat("programs that fail", || ring(&one, true));
    assert_flat("a runtime for each program", || ring(&runtime(2), false));
}
