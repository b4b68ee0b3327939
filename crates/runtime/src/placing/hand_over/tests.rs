//! The CPUs of a real thread that is confined as a worker.

use std::sync::Barrier;
use std::thread::{self, available_parallelism};

use super::*;

fn cpu_count() -> usize {
    available_parallelism().map_or(0, usize::from)
}

#[test]
fn only_a_worker_that_sleeps_is_confined_until_it_wakes_up() {
    let (workers, step, all) = (HandOver::new(1), Barrier::new(2), cpu_count());
    thread::scope(|scope| {
        scope.spawn(|| {
            workers.begin(0);
            step.wait();
            // The other thread has tried to confine this one.
            step.wait();
            assert_eq!(cpu_count(), all, "it is awake");
            workers.fall_asleep(0);
            step.wait();
            step.wait();
            assert_eq!(cpu_count(), 1, "it sleeps");
            workers.wake_up(0);
            assert_eq!(cpu_count(), all, "it has woken up");
            step.wait();
            step.wait();
            assert_eq!(cpu_count(), all, "it was woken for another reason");
        });
        step.wait();
        workers.hand_over(0);
        step.wait();
        step.wait();
        // The second time changes nothing.
        workers.hand_over(0);
        workers.hand_over(0);
        step.wait();
        step.wait();
        workers.hand_over(0);
        step.wait();
    });
}

#[test]
fn workers_that_do_not_exist_or_have_not_begun_are_left_alone() {
    let workers = HandOver::new(1);
    workers.fall_asleep(0);
    workers.hand_over(0);
    workers.hand_over(7);
    workers.fall_asleep(7);
    workers.wake_up(7);
    workers.wake_up(0);
}
