//! Where closures lie: in cells, without an allocation a task, or each in a block of its own.

use std::alloc::System;
use std::sync::Mutex;

use raddle_runtime::{Runtime, TaskMemory, scope};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const TASKS: usize = 1_000;

/// Allocations, and blocks that were not freed, of so many tasks.
fn allocations(task_memory: TaskMemory) -> (usize, isize) {
    let runtime = Runtime::builder()
        .workers(1)
        .task_memory(task_memory)
        .build()
        .expect("a worker comes up");
    let sum = Mutex::new(0);
    let run = || {
        scope(|scope| {
            for number in 0..TASKS {
                let sum = &sum;
                scope.spawn(move || *sum.lock().expect("no task panics") += number);
            }
        });
    };
    // Cells come now, and stay.
    runtime.install(run);
    let change = runtime.install(|| {
        let region = Region::new(ALLOCATOR);
        run();
        region.change()
    });
    assert_eq!(
        sum.into_inner().expect("no task panics"),
        TASKS * (TASKS - 1)
    );
    (
        change.allocations,
        change.allocations as isize - change.deallocations as isize,
    )
}

#[test]
fn closures_lie_in_cells_or_in_blocks_of_their_own() {
    let (in_cells, left) = allocations(TaskMemory::Cells);
    assert!(in_cells < TASKS / 10, "{in_cells}");
    assert!(left.abs() < 10, "{left}");
    let (by_malloc, left) = allocations(TaskMemory::Malloc);
    assert!(
        (TASKS..TASKS + TASKS / 10).contains(&by_malloc),
        "{by_malloc}"
    );
    assert!(left.abs() < 10, "{left}");
}
