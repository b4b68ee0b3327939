//! A program may forget a guard, which is safe, and then move or drop the lock, which is still
//! held.
//!
//! A Pthreads mutex was destroyed while locked in that way, and moved after it had been used. POSIX
//! forbids both. The mutex now stays where it was created, and only a pointer to it moves.
//!
//! An MCS lock, since removed, kept the address of a node within itself while it was held. After a
//! move of the lock, the next thread that locked it wrote to the old address.

#![cfg(not(any(loom, shuttle)))]

use std::sync::{Arc, mpsc};
use std::time::Duration;

use lock_api::{Mutex, RawMutex};
use raddle_sync::lock::{ClhLock, PthreadLock, SimpleLock, SingleTryTicketLock, TicketLock};

const LONG: Duration = Duration::from_secs(30);

fn check<L: RawMutex + Send + Sync + 'static>() {
    let mutex: Box<Mutex<L, u32>> = Box::new(Mutex::new(1));
    std::mem::forget(mutex.lock());
    let moved = Arc::new(*mutex);
    assert!(moved.try_lock().is_none(), "it stays locked when it moves");
    let (sender, receiver) = mpsc::channel();
    let other = Arc::clone(&moved);
    let waiter = std::thread::spawn(move || sender.send(*other.lock()));
    // Gives the waiter time to enter the queue.
    std::thread::sleep(Duration::from_millis(5));
    assert!(receiver.try_recv().is_err(), "the lock was not released");
    // SAFETY: this thread holds the lock, and its guard was forgotten.
    unsafe { moved.force_unlock() };
    assert_eq!(receiver.recv_timeout(LONG), Ok(1), "the waiter has it now");
    let sent = waiter.join().expect("no panic");
    assert!(sent.is_ok());
    let dropped: Mutex<L, u32> = Mutex::new(2);
    std::mem::forget(dropped.lock());
    drop(dropped);
}

#[test]
fn lock_with_a_forgotten_guard_may_be_moved_and_dropped() {
    check::<ClhLock>();
    check::<TicketLock>();
    check::<SingleTryTicketLock>();
    check::<SimpleLock>();
    check::<PthreadLock>();
}

#[test]
fn a_pthreads_mutex_does_not_move_with_its_lock() {
    assert!(size_of::<PthreadLock>() < size_of::<libc::pthread_mutex_t>());
}
