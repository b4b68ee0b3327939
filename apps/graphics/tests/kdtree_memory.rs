//! A builder by messages keeps a bounded number of bytes per triangle, regardless of the number of
//! builds.

mod common;

use std::alloc::System;

use raddle_graphics::kdtree::messages::{
    MessageBuilder, MessageOptions, NodeGrain, SharedArrays, WorkerTasks,
};
use raddle_graphics::kdtree::{Parameters, Prepared};
use raddle_graphics::scene::{Scene, generate};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

use self::common::runtime;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The limit in the documentation of the builder.
const BYTES_PER_TRIANGLE_MAX: f64 = 300.0;
/// Memory of messages and chares, which does not depend on the mesh.
const BYTES_FIXED: f64 = 4e6;

fn in_use() -> f64 {
    // Blocks that grew or shrank count in both.
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated as f64 - stats.bytes_deallocated as f64
}

// Regression: buffers moved from worker to worker and accumulated, since a request for a small
// buffer could get a large one. After 150 builds they took 800 bytes per triangle, and 1,200 with
// plain arrays.
// This must be the only test in the file: concurrent tests would be counted too.
#[test]
fn builds_do_not_accumulate_memory() {
    let mesh = generate(Scene::Knot, 60_000);
    let prepared = Prepared::new(&mesh).unwrap();
    let triangles = prepared.triangle_count() as f64;
    for worker_tasks in WorkerTasks::ALL {
        for arrays in SharedArrays::ALL {
            for triangles_per_task in [None, Some(1_000)] {
                let options = MessageOptions {
                    grain: NodeGrain::Tasks(64),
                    worker_tasks,
                    arrays,
                    triangles_per_task,
                    ..MessageOptions::default()
                };
                let runtime = runtime(3);
                let before = in_use();
                let builder = MessageBuilder::new(&runtime, options);
                // An accumulation of memory is visible after four builds.
                for _ in 0..8 {
                    let built = builder.build(prepared.clone(), &Parameters::default(), |_| ());
                    drop(built.unwrap());
                }
                let kept = in_use() - before;
                assert!(
                    kept <= BYTES_PER_TRIANGLE_MAX * triangles + BYTES_FIXED,
                    "{options:?}: {:.0} bytes per triangle",
                    kept / triangles
                );
            }
        }
    }
}
