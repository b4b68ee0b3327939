//! The memory of closures: in cells, without an allocation per task, or in one block per task.

#![cfg(not(any(loom, shuttle)))]

mod counting;

use std::sync::Mutex;

use raddle_runtime::{Runtime, TaskMemory, scope};

const TASKS: usize = 1_000;

/// Returns the number of allocations of [`TASKS`] tasks, and the number of blocks not freed.
fn allocations(task_memory: TaskMemory) -> (usize, isize) {
    let runtime = Runtime::builder()
        .workers(1)
        .task_memory(task_memory)
        .build()
        .expect("the runtime starts");
    let sum = Mutex::new(0);
    let run = || {
        scope(|scope| {
            for number in 0..TASKS {
                let sum = &sum;
                scope.spawn(move || *sum.lock().expect("no task panics") += number);
            }
        });
    };
    // The first run allocates the cells, which stay.
    runtime.install(run);
    let change = runtime.install(|| {
        let region = counting::start();
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
fn closures_use_cells_or_one_block_per_task() {
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
