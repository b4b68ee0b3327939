//! Tests that every pool passes, without a runtime around it.

use std::collections::BTreeSet;

use super::probe::{Probe, address, get_wanted as get};
use super::*;
use raddle_sync::prim::{AtomicUsize, Relaxed};

fn probe(kind: PoolKind, worker_count: usize) -> Probe {
    Probe::new(kind, worker_count, BlockShape::default())
}

fn is_central(kind: PoolKind) -> bool {
    kind.name().starts_with("SQ-")
}

#[test]
fn names_are_parsed_in_either_case() {
    for kind in PoolKind::ALL {
        assert_eq!(kind.name().parse(), Ok(kind));
        assert_eq!(kind.name().to_lowercase().parse(), Ok(kind));
        assert_eq!(probe(kind, 2).name(), kind.name());
    }
    assert_eq!("distributed".parse(), Ok(PoolKind::DqTlPrivC));
    let error = "stack".parse::<PoolKind>().expect_err("no such pool");
    let message = error.to_string();
    assert!(message.starts_with("no pool named \"stack\"; expected central, distributed, "));
    assert!(message.ends_with("DQ-BL-CLH-C, deque or auto"), "{message}");
}

#[test]
fn names_are_those_of_the_study_the_deque_and_auto() {
    // Table 1 of the study, and its two further pools of blocks.
    let study = "SQ-PTH SQ-SL SQ-TL SQ-LF DQ-PTH DQ-SL DQ-SL-PRIV DQ-SL-PRIV-C DQ-SL-TRY-PRIV-C \
                 DQ-TL-PRIV-C DQ-SL-SP-PRIV-C DQ-CLH-PRIV-C DQ-LF-PRIV-C DQ-BL-PTH DQ-BL-SL-C \
                 DQ-BL-SL-TRY-C DQ-BL-TL-C DQ-BL-TL-TRY-C DQ-BL-SP-C DQ-BL-SP-TRY-C DQ-BL-CLH-C \
                 deque auto";
    let expected: BTreeSet<&str> = study.split_whitespace().collect();
    let names: BTreeSet<&str> = PoolKind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!(names, expected);
}

#[test]
fn shared_task_is_work_and_another_worker_finds_it() {
    for kind in PoolKind::ALL {
        let setup = Setup::new(2, 0, BlockShape::default());
        let pool = Probe::with_setup(kind, &setup);
        let (first, second) = (pool.seat(0), pool.seat(1));
        assert!(!pool.has_work());
        assert!(get(&*first, Wanted::Any).is_none());
        first.share(pool.task());
        assert!(pool.has_work(), "{kind}");
        let mut look = Look::default();
        let found = second
            .get(Wanted::Any, &mut look)
            .expect("the other worker's task");
        assert_eq!(
            found.stolen_from,
            (!is_central(kind)).then_some(0),
            "{kind}"
        );
        assert_eq!(look.steals_tried, u64::from(!is_central(kind)));
        assert!(!pool.has_work());
        setup.outside.put(pool.task());
        assert!(get(&*second, Wanted::Any).is_some(), "{kind}");
        assert!(setup.outside.is_empty());
    }
}

/// Checks that the other tasks of a block are reported, because they are in no pool for a moment.
/// Once, `auto` moved to another candidate at that moment, marked this one as unused, and the tasks
/// were never found.
#[test]
fn other_tasks_of_a_stolen_block_are_reported_as_briefly_invisible() {
    for kind in PoolKind::ALL {
        let pool = probe(kind, 2);
        let (first, second) = (pool.seat(0), pool.seat(1));
        for _ in 0..20 {
            let _ = first.put(pool.task());
        }
        let comes_in_blocks = kind.name().starts_with("DQ-BL-");
        for seat in [second, first] {
            let mut look = Look::default();
            assert!(seat.get(Wanted::Any, &mut look).is_some(), "{kind}");
            // The second worker has stolen a block. In its place, the first one makes another one
            // public, which is in no pool for a moment either.
            assert_eq!(look.hid, comes_in_blocks, "{kind}");
        }
    }
}

#[test]
fn task_counts_as_work_until_it_is_taken() {
    for kind in PoolKind::ALL {
        let pool = probe(kind, 2);
        let (first, second) = (pool.seat(0), pool.seat(1));
        for round in 0..20 {
            let put = first.put(pool.task());
            assert!(put == Put::Shared || !is_central(kind), "{kind}");
            assert!(pool.has_work(), "{kind}");
            if round % 3 == 0 {
                get(&*second, Wanted::Any);
            }
        }
        while get(&*second, Wanted::Any).is_some() {}
        // The tasks that are left are private to the first worker.
        while get(&*first, Wanted::Any).is_some() {}
        assert!(!pool.has_work(), "{kind}");
    }
}

#[test]
fn own_wanted_task_is_found_anywhere_and_unwanted_tasks_stay() {
    for kind in PoolKind::ALL {
        for position in 0..14 {
            let pool = probe(kind, 1);
            let seat = pool.seat(0);
            let mark = seat.mark();
            let mut tasks: Vec<usize> = Vec::new();
            for _ in 0..14 {
                let task = pool.task();
                tasks.push(address(&task));
                let _ = seat.put(task);
            }
            let chosen = |task: &Task| address(task) == tasks[position];
            assert!(get(&*seat, Wanted::Where(&|_| false, mark)).is_none());
            let found = get(&*seat, Wanted::Where(&chosen, mark)).expect("it is there");
            assert_eq!(address(&found), tasks[position], "{kind}");
            assert!(get(&*seat, Wanted::Where(&chosen, mark)).is_none());
            let mut left: Vec<usize> = std::iter::from_fn(|| get(&*seat, Wanted::Any))
                .map(|task| address(&task))
                .collect();
            left.push(tasks[position]);
            left.sort_unstable();
            tasks.sort_unstable();
            assert_eq!(left, tasks, "{kind}");
        }
    }
}

#[test]
fn taking_a_wanted_task_does_not_look_at_all_blocks() {
    // With a look at each of the blocks, this would take a hundred times as long.
    const COUNT: usize = 200_000;
    for kind in [PoolKind::DqBlTlC, PoolKind::DqBlSpC] {
        let pool = probe(kind, 1);
        let seat = pool.seat(0);
        let mark = seat.mark();
        for _ in 0..COUNT {
            let _ = seat.put(pool.task());
        }
        let wanted = || get(&*seat, Wanted::Where(&|_| true, mark));
        let taken = (0..COUNT).filter_map(|_| wanted()).count();
        assert_eq!(taken, COUNT, "{kind}");
    }
}

#[test]
fn worker_that_finds_no_wanted_task_leaves_no_task_private() {
    for kind in PoolKind::ALL {
        let pool = probe(kind, 2);
        let (first, second) = (pool.seat(0), pool.seat(1));
        let mark = first.mark();
        for _ in 0..7 {
            let _ = first.put(pool.task());
        }
        let mut look = Look::default();
        let before = pool.has_work();
        assert!(
            first
                .get(Wanted::Where(&|_| false, mark), &mut look)
                .is_none()
        );
        assert!(
            look.hid || before,
            "{kind}: sleeping workers are notified of tasks that became public"
        );
        let taken = std::iter::from_fn(|| get(&*second, Wanted::Any)).count();
        assert_eq!(taken, 7, "{kind}");
    }
}

#[test]
fn last_search_finds_private_tasks_of_other_workers() {
    for kind in PoolKind::ALL {
        let pool = probe(kind, 2);
        let (first, second) = (pool.seat(0), pool.seat(1));
        for _ in 0..7 {
            let _ = first.put(pool.task());
        }
        let last = |wanted| {
            let mut look = Look {
                is_last: true,
                ..Look::default()
            };
            second.get(wanted, &mut look)
        };
        let mark = second.mark();
        assert!(last(Wanted::Where(&|_| false, mark)).is_none(), "{kind}");
        assert!(last(Wanted::Where(&|_| true, mark)).is_some(), "{kind}");
        let left = std::iter::from_fn(|| last(Wanted::Any)).count();
        assert_eq!(left, 6, "{kind}");
        assert!(!pool.has_work(), "{kind}");
    }
}

#[test]
fn thief_takes_a_block_and_leaves_the_private_ones() {
    let pool = Probe::new(PoolKind::DqBlTlC, 2, BlockShape::new(3, 1));
    let (first, second) = (pool.seat(0), pool.seat(1));
    for _ in 0..8 {
        let _ = first.put(pool.task());
    }
    // One block is public, one is full and private, and two tasks are in the third.
    for _ in 0..3 {
        assert!(get(&*second, Wanted::Any).is_some());
    }
    assert!(get(&*second, Wanted::Any).is_none());
    let _ = first.put(pool.task());
    assert!(pool.has_work(), "there is space for the next block");
    assert_eq!(std::iter::from_fn(|| get(&*first, Wanted::Any)).count(), 6);
}

// Regression: a worker that had put all of its tasks at once shared only the first two blocks.
#[test]
fn blocks_become_public_while_the_owner_takes_tasks() {
    for kind in PoolKind::ALL {
        if !kind.name().starts_with("DQ-BL-") {
            continue;
        }
        let pool = Probe::new(kind, 2, BlockShape::new(4, 2));
        let (owner, thief) = (pool.seat(0), pool.seat(1));
        for _ in 0..100 {
            let _ = owner.put(pool.task());
        }
        let mut counts = [0; 2];
        for _ in 0..50 {
            counts[0] += usize::from(get(&*owner, Wanted::Any).is_some());
            counts[1] += usize::from(get(&*thief, Wanted::Any).is_some());
        }
        // In the end, some tasks are in a block that is not full.
        assert!(counts[0] == 50 && counts[1] >= 45, "{kind}: {counts:?}");
    }
}

#[test]
fn shapes_survive_printing_and_parsing() {
    let shape = BlockShape::new(8, 3);
    assert_eq!(shape.to_string().parse(), Ok(shape));
    for bad in ["", "4", "4x", "0x2", "4x0", "4x-1", "4x2x1"] {
        let error = bad.parse::<BlockShape>().expect_err("no shape");
        assert!(error.to_string().ends_with("such as 4x2"), "{error}");
    }
}

#[test]
fn victims_are_all_other_workers_in_a_different_order_for_each() {
    let setup = Setup::new(16, 0, BlockShape::default());
    let mut orders = BTreeSet::new();
    for worker_index in 0..16 {
        let victims = setup.victims(worker_index);
        let all: BTreeSet<usize> = victims.iter().chain([worker_index]).collect();
        assert!(all.into_iter().eq(0..16));
        orders.insert(victims.iter().next());
    }
    assert!(
        orders.len() > 8,
        "workers without work begin in different places"
    );
}

#[test]
fn equal_seeds_give_equal_orders_of_victims_and_others_do_not() {
    let orders = |seed: u64| -> Vec<Vec<usize>> {
        let setup = Setup::new(16, 0, BlockShape::default()).with_seed(seed);
        let order = |worker_index: usize| setup.victims(worker_index).iter().collect();
        (0..16).map(order).collect()
    };
    assert_eq!(orders(7), orders(7));
    let different: BTreeSet<Vec<Vec<usize>>> = (0..50).map(orders).collect();
    assert_eq!(different.len(), 50);
}

#[test]
fn compensating_threads_are_victims_once_they_have_started() {
    let setup = Setup::new(2, 3, BlockShape::default());
    let order = |worker_index: usize| setup.victims(worker_index).iter().collect::<Vec<_>>();
    assert_eq!(order(0), [1]);
    // Relaxed: one thread.
    setup.present().store(4, Relaxed);
    assert_eq!((order(0), order(1)), (vec![1, 2, 3], vec![0, 2, 3]));
    let mut of_compensating = order(3);
    of_compensating.sort_unstable();
    assert_eq!(of_compensating, [0, 1, 2]);
}

/// Checks that the tasks of a compensating thread are found. It has its part of a pool once it has
/// taken its seat. Threads may be counted that have not taken theirs yet.
#[test]
fn tasks_of_a_compensating_thread_are_found_next_to_threads_without_a_seat() {
    for kind in PoolKind::ALL {
        let pool = Probe::with_compensating(kind, 2, 3, BlockShape::default());
        let first = pool.seat(0);
        let mut last_look = Look {
            is_last: true,
            ..Look::default()
        };
        assert!(!pool.has_work(), "{kind}");
        assert!(first.get(Wanted::Any, &mut last_look).is_none(), "{kind}");
        let compensating = pool.seat(3);
        compensating.share(pool.task());
        assert!(pool.has_work(), "{kind}");
        let found = first.get(Wanted::Any, &mut last_look);
        let found = found.expect("the compensating thread's task");
        let stolen_from = (!is_central(kind)).then_some(3);
        assert_eq!(found.stolen_from, stolen_from, "{kind}");
        assert!(!pool.has_work(), "{kind}");
    }
}

/// Workers put, share and take tasks in many orders. In the end every task has been taken once.
#[test]
fn every_task_is_taken_exactly_once() {
    const WORKERS: usize = 4;
    const PUTS: usize = if raddle_sync::prim::LIGHT { 20 } else { 5_000 };
    for kind in PoolKind::ALL {
        let pool = probe(kind, WORKERS);
        let taken = AtomicUsize::new(0);
        let mut seen: Vec<usize> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..WORKERS)
                .map(|index| {
                    let (pool, seat, taken) = (&pool, pool.seat(index), &taken);
                    scope.spawn(move || work(pool, &*seat, taken, WORKERS * PUTS, PUTS))
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
        assert!(!pool.has_work());
    }
}

fn work(pool: &Probe, seat: &dyn Seat, taken: &AtomicUsize, all: usize, puts: usize) -> Vec<usize> {
    let mut seen = Vec::new();
    let (mut put, mut turn) = (0, 0_usize);
    // Relaxed: joining the threads orders the rest.
    while taken.load(Relaxed) < all {
        turn += 1;
        if put < puts {
            put += 1;
            match turn % 5 {
                0 => seat.share(pool.task()),
                _ => drop(seat.put(pool.task())),
            }
        }
        // Tasks pile up at first. All workers take them once no worker puts any more.
        if put < puts && turn.is_multiple_of(3) {
            continue;
        }
        let picky = |task: &Task| address(task).is_multiple_of(128 * 3);
        let wanted = match turn % 4 {
            0 => Wanted::Where(&picky, seat.mark()),
            _ => Wanted::Any,
        };
        if let Some(task) = get(seat, wanted) {
            // Relaxed: as above.
            taken.fetch_add(1, Relaxed);
            seen.push(address(&task));
        } else if put == puts {
            std::thread::yield_now();
        }
    }
    seen
}
