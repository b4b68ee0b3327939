//! Tests of every lock, on real threads.

use std::thread;

use super::*;
use crate::prim::LIGHT;

const ROUNDS: usize = if LIGHT { 20 } else { 20_000 };

/// Counts with plain additions. A lost addition shows that two threads were inside at once.
fn count<L: Lock>(threads: usize) {
    let counter: Locked<L, usize> = Locked::new(0);
    let tried: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    let mut tried = 0;
                    for _ in 0..ROUNDS {
                        counter.with(|count| *count += 1);
                        tried += usize::from(counter.try_with(|count| *count += 1).is_some());
                    }
                    tried
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no panic"))
            .sum()
    });
    assert_eq!(counter.with(|count| *count), threads * ROUNDS + tried);
}

fn check_lock<L: Lock + lock_api::RawMutex>() {
    for threads in [1, 2, 5] {
        count::<L>(threads);
    }
    let lock = L::default();
    assert!(Lock::try_lock(&lock));
    assert!(!Lock::try_lock(&lock), "the lock is taken");
    // SAFETY: taken above.
    unsafe { Lock::unlock(&lock) };
    assert!(Lock::try_lock(&lock), "the lock is free again");
    // SAFETY: taken above.
    unsafe { Lock::unlock(&lock) };
    let mutex = lock_api::Mutex::<L, _>::new(vec![1]);
    mutex.lock().push(2);
    assert_eq!(mutex.into_inner(), [1, 2]);
}

#[test]
fn pthread_lock_excludes() {
    check_lock::<PthreadLock>();
}

#[test]
fn simple_lock_excludes() {
    check_lock::<SimpleLock>();
}

#[test]
fn ticket_lock_excludes() {
    check_lock::<TicketLock>();
}

#[test]
fn single_try_ticket_lock_excludes() {
    check_lock::<SingleTryTicketLock>();
}

#[test]
fn clh_lock_excludes() {
    check_lock::<ClhLock>();
}

#[test]
fn lock_is_free_again_after_a_panic_under_it() {
    let data: Locked<TicketLock, i32> = Locked::new(1);
    let panicking = std::panic::AssertUnwindSafe(|| data.with(|_| panic!("on purpose")));
    assert!(std::panic::catch_unwind(panicking).is_err());
    assert_eq!(data.try_with(|data| *data), Some(1));
}

#[test]
fn nested_clh_locks_use_a_node_each() {
    let locks: [Locked<ClhLock, i32>; 3] = Default::default();
    for round in 1..=3 {
        locks[0].with(|a| {
            locks[1].with(|b| locks[2].with(|c| (*a, *b, *c) = (round, round, round)));
        });
    }
    assert!(locks.iter().all(|lock| lock.with(|data| *data) == 3));
}
