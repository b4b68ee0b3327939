//! Models of the locks. One thread at a time is inside, and sees the changes of the previous one.
//! The fair locks keep the order of arrival.
//!
//! The data under a lock is a loom cell, which reports two threads inside at once, and a write that
//! is not visible to the next thread.

use loom::model::Builder;
use loom::sync::Arc;
use loom::thread;
use raddle_sync::lock::{ClhLock, Lock, Locked, SimpleLock, SingleTryTicketLock, TicketLock};

fn model(bound: usize, check: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(bound);
    builder.check(check);
}

/// Takes the lock in `threads` threads, including the main one, `rounds` times each.
fn excludes<L: Lock + 'static>(threads: usize, rounds: usize) {
    model(3, move || {
        let count: Arc<Locked<L, usize>> = Arc::default();
        let work = move |count: &Locked<L, usize>| {
            for _ in 0..rounds {
                count.with(|count| *count += 1);
            }
        };
        let others: Vec<_> = (1..threads)
            .map(|_| {
                let count = Arc::clone(&count);
                thread::spawn(move || work(&count))
            })
            .collect();
        work(&count);
        for other in others {
            other.join().expect("no panic");
        }
        assert_eq!(count.with(|count| *count), threads * rounds);
    });
}

/// Checks that a lock excludes two threads, of which one waits for the lock and the other only
/// tries to take it.
fn excludes_try_lock<L: Lock + 'static>() {
    model(3, || {
        let count: Arc<Locked<L, usize>> = Arc::default();
        let other = {
            let count = Arc::clone(&count);
            thread::spawn(move || {
                (0..2)
                    .filter(|_| count.try_with(|count| *count += 1).is_some())
                    .count()
            })
        };
        count.with(|count| *count += 1);
        count.with(|count| *count += 1);
        let tried = other.join().expect("no panic");
        assert_eq!(count.with(|count| *count), 2 + tried);
    });
}

/// Checks that a thread that arrives while another one is seen to wait gets the lock after that
/// one.
fn keeps_order<L: Lock + 'static>(is_contended: fn(&L) -> bool) {
    // Counts the executions in which a thread was seen to wait.
    let seen = std::sync::Arc::new(std::sync::Mutex::new(0));
    let seen_inside = std::sync::Arc::clone(&seen);
    model(1, move || {
        let lock: Arc<L> = Arc::default();
        let order: Arc<Locked<SimpleLock, Vec<u8>>> = Arc::default();
        let arrive = |name: u8| {
            let (lock, order) = (Arc::clone(&lock), Arc::clone(&order));
            thread::spawn(move || {
                lock.lock();
                order.with(|order| order.push(name));
                // SAFETY: locked above.
                unsafe { lock.unlock() };
            })
        };
        lock.lock();
        let first = arrive(1);
        thread::yield_now();
        let second = is_contended(&lock).then(|| arrive(2));
        // SAFETY: locked above.
        unsafe { lock.unlock() };
        first.join().expect("no panic");
        if let Some(second) = second {
            second.join().expect("no panic");
            assert_eq!(order.with(|order| order.clone()), [1, 2]);
            *seen_inside.lock().expect("no panic") += 1;
        }
    });
    assert_ne!(*seen.lock().expect("no panic"), 0, "no thread ever waited");
}

/// Checks L1.
#[test]
fn simple_lock_excludes() {
    excludes::<SimpleLock>(2, 2);
    excludes_try_lock::<SimpleLock>();
}

/// Checks L2.
#[test]
fn ticket_lock_excludes() {
    excludes::<TicketLock>(2, 2);
    excludes_try_lock::<TicketLock>();
}

#[test]
fn ticket_lock_keeps_the_order_of_arrival() {
    keeps_order::<TicketLock>(TicketLock::is_contended);
}

/// Checks L2.
#[test]
fn single_try_ticket_lock_excludes() {
    excludes::<SingleTryTicketLock>(2, 2);
    excludes_try_lock::<SingleTryTicketLock>();
}

/// Checks L3 and L4.
#[test]
fn clh_lock_excludes() {
    excludes::<ClhLock>(2, 2);
    excludes_try_lock::<ClhLock>();
}

#[test]
fn clh_lock_keeps_the_order_of_arrival() {
    // SAFETY: the holder calls it.
    keeps_order::<ClhLock>(|lock| unsafe { lock.is_contended() });
}
