//! The numbers of threads, and the results of contended locks.

use raddle_sync::lock::{ClhLock, SimpleLock, TicketLock};

use super::*;

#[test]
fn by_default_there_are_as_many_threads_as_cpus_and_twice_as_many() {
    assert_eq!(thread_counts(&[1, 6], false), [6, 12]);
    assert_eq!(thread_counts(&[1], false), [2, 4]);
    assert_eq!(thread_counts(&[1, 3, 5], true), [3, 5]);
}

#[test]
fn every_round_of_every_thread_counts() {
    for threads in [1, 2, 4] {
        assert_eq!(count::<TicketLock>(threads).result, ROUNDS);
        assert_eq!(count::<SimpleLock>(threads).result, ROUNDS);
        assert_eq!(count::<ClhLock>(threads).result, ROUNDS);
        assert_eq!(count::<PthreadLock>(threads).result, ROUNDS);
    }
}
