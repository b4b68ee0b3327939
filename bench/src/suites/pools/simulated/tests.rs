//! Small programs with known schedules.

use super::*;

/// Creates a root of 1 s with two children of `left` and `right` seconds.
fn fork(left: u64, right: u64) -> Vec<Task> {
    vec![task(1, Some(1)), task(left, None), task(right, None)]
}

fn task(seconds: u64, first_child: Option<usize>) -> Task {
    Task {
        len: 1,
        time: Duration::from_secs(seconds),
        first_child,
    }
}

/// Creates a complete binary tree of tasks of 1 s.
fn tree(levels: u32) -> Vec<Task> {
    let inner: usize = (1 << (levels - 1)) - 1;
    let child = |index| (index < inner).then_some(2 * index + 1);
    (0..2 * inner + 1)
        .map(|index| task(1, child(index)))
        .collect()
}

fn seconds(tasks: &[Task], workers: usize, pool: Pool) -> u64 {
    makespan(tasks, workers, pool).as_secs()
}

#[test]
fn one_worker_takes_the_time_of_all_tasks() {
    for pool in Pool::ALL {
        assert_eq!(seconds(&tree(6), 1, pool), 63, "{pool:?}");
    }
}

#[test]
fn two_workers_share_two_children() {
    for pool in [
        Pool::Central,
        Pool::Distributed(Private::Unreachable),
        Pool::Distributed(Private::Reachable),
        Pool::Blocks(Private::Reachable),
    ] {
        assert_eq!(seconds(&fork(3, 5), 2, pool), 6, "{pool:?}");
    }
}

#[test]
fn an_incomplete_private_block_stays_with_its_worker_as_in_the_study() {
    let blocks = Pool::Blocks(Private::Unreachable);
    assert_eq!(seconds(&fork(3, 5), 2, blocks), 9);
}

#[test]
fn no_pool_beats_the_critical_path_or_the_work() {
    let tasks = tree(7);
    for pool in Pool::ALL {
        for workers in [2, 4, 200] {
            let took = seconds(&tasks, workers, pool);
            assert!(took >= 7, "{pool:?}, {workers} workers: {took} s");
            assert!(
                took * workers as u64 >= 127,
                "{pool:?}, {workers} workers: {took} s"
            );
            assert!(took <= 127, "{pool:?}, {workers} workers: {took} s");
        }
    }
    assert_eq!(seconds(&tasks, 200, Pool::Central), 7);
}

#[test]
fn a_full_block_becomes_public_while_there_is_space() {
    let mut stores = Stores::new(Pool::Blocks(Private::Unreachable), 2);
    (0..13).for_each(|task| stores.put(0, task));
    assert_eq!(stores.stores[0].public.len(), PUBLIC_BLOCKS);
    // The thief takes the oldest block, and keeps the rest of it.
    assert_eq!(stores.get(1), Some(3));
    assert_eq!(stores.stores[1].private, [vec![0, 1, 2]]);
    // The owner takes its newest tasks.
    assert_eq!(stores.get(0), Some(12));
    assert_eq!(stores.get(0), Some(11));
}
