//! The combined result of several workers.

use super::*;

fn runtime() -> Runtime {
    let runtime = Runtime::builder().workers(3).build();
    runtime.expect("a small runtime starts")
}

#[test]
fn the_smallest_result_of_all_workers_counts() {
    let sample = on_each(&runtime(), |worker_index| 7 - worker_index as u64);
    assert_eq!(sample.result, 5);
}

#[test]
fn a_worker_that_does_not_finish_makes_the_result_wrong() {
    let sample = on_each(&runtime(), |worker_index| {
        if worker_index == 1 {
            std::panic::resume_unwind(Box::new("on purpose"));
        }
        7
    });
    assert_eq!(sample.result, 0);
}

#[test]
fn every_allocated_block_is_freed() {
    let out = Cell::new(0_u64);
    let taken = take_and_give_back(|| out.set(out.get() + 1), |()| out.set(out.get() - 1));
    assert_eq!((taken, out.get()), (FILLS * BLOCKS as u64, 0));
}
