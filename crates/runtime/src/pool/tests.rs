//! The battery that every pool passes, without a runtime around it.

use super::*;
use crate::task::memory::Memory;
use raddle_sync::prim::{AtomicUsize, Relaxed};

/// A task that nobody runs: only where it goes matters.
fn task(memory: &Memory) -> Task {
    Task::new(memory.take_outside())
}

fn address(task: &Task) -> usize {
    std::ptr::from_ref(task.cell()).addr()
}

#[test]
fn names_read_back() {
    for kind in PoolKind::ALL {
        assert_eq!(kind.name().parse(), Ok(kind));
        assert_eq!(kind.build(2).name(), kind.name());
    }
    let error = "stack".parse::<PoolKind>().expect_err("no such pool");
    assert_eq!(
        error.to_string(),
        "no pool named \"stack\"; expected central, distributed or deque"
    );
}

#[test]
fn empty_pool_has_no_work_and_a_put_makes_some() {
    let memory = Memory::new(2);
    for kind in PoolKind::ALL {
        let pool = kind.build(2);
        let (first, second) = (pool.seat(0), pool.seat(1));
        assert!(!pool.has_work());
        assert!(first.get(Wanted::Any, &mut Look::default()).is_none());
        first.put(task(&memory));
        assert!(pool.has_work());
        let found = second
            .get(Wanted::Any, &mut Look::default())
            .expect("the other worker's task");
        assert_eq!(found.stolen_from, (kind != PoolKind::Central).then_some(0));
        assert!(!pool.has_work());
        pool.put_outside(task(&memory));
        assert!(pool.has_work());
        assert!(first.get(Wanted::Any, &mut Look::default()).is_some());
        assert!(!pool.has_work());
    }
}

#[test]
fn own_wanted_task_is_found_and_the_unwanted_stay() {
    let memory = Memory::new(1);
    for kind in PoolKind::ALL {
        let pool = kind.build(1);
        let seat = pool.seat(0);
        let mark = seat.mark();
        let tasks: Vec<usize> = (0..3)
            .map(|_| {
                let task = task(&memory);
                let address = address(&task);
                seat.put(task);
                address
            })
            .collect();
        let middle = |task: &Task| address(task) == tasks[1];
        assert!(
            seat.get(Wanted::Where(&|_| false, mark), &mut Look::default())
                .is_none()
        );
        let found = seat
            .get(Wanted::Where(&middle, mark), &mut Look::default())
            .expect("it is there");
        assert_eq!(address(&found.task), tasks[1]);
        assert!(
            seat.get(Wanted::Where(&middle, mark), &mut Look::default())
                .is_none()
        );
        let left: Vec<usize> = std::iter::from_fn(|| seat.get(Wanted::Any, &mut Look::default()))
            .map(|found| address(&found.task))
            .collect();
        assert_eq!(left, [tasks[2], tasks[0]]);
    }
}

#[test]
fn every_task_comes_out_exactly_once() {
    const WORKERS: usize = 4;
    const PUTS: usize = if raddle_sync::prim::LIGHT { 20 } else { 20_000 };
    let memory = Memory::new(WORKERS);
    for kind in PoolKind::ALL {
        let pool = kind.build(WORKERS);
        let taken = AtomicUsize::new(0);
        let mut seen: Vec<usize> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..WORKERS)
                .map(|index| {
                    let (seat, memory, taken) = (pool.seat(index), &memory, &taken);
                    scope.spawn(move || {
                        let mut seen = Vec::new();
                        let mut put = 0;
                        // Relaxed: joining the threads orders the rest.
                        while taken.load(Relaxed) < WORKERS * PUTS {
                            if put < PUTS {
                                put += 1;
                                seat.put(task(memory));
                            }
                            // Tasks pile up at first, and are taken by all when nobody puts any more.
                            if (put == PUTS || put % 3 != 0)
                                && let Some(found) = seat.get(Wanted::Any, &mut Look::default())
                            {
                                // Relaxed: as above.
                                taken.fetch_add(1, Relaxed);
                                seen.push(address(&found.task));
                            }
                        }
                        seen
                    })
                })
                .collect();
            workers
                .into_iter()
                .flat_map(|worker| worker.join().expect("no panic"))
                .collect()
        });
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), WORKERS * PUTS, "{kind}");
    }
}
