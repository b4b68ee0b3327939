//! Programs from public reports of problems with rayon, and with programs that use it. The numbers
//! are those of the reports, in the repository of rayon if there is no other name.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;
use std::time::Duration;

use raddle_sync::prim::{AtomicU64, AtomicUsize, Relaxed};
use rayon_core::{
    ScopeFifo, ThreadPool, ThreadPoolBuilder, in_place_scope, join, scope, yield_now,
};

fn pool(threads: usize) -> ThreadPool {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("threads start")
}

/// Reproduces report 446: calls of `install` in each other did not return.
#[test]
fn install_is_nested_deeply() {
    fn nest(pool: &ThreadPool, depth: u32) -> u32 {
        match depth {
            0 => 0,
            _ => 1 + pool.install(|| nest(pool, depth - 1)),
        }
    }
    let (one, other) = (pool(1), pool(1));
    assert_eq!(one.install(|| nest(&one, 1_000)), 1_000);
    // Back and forth between two pools of one thread.
    fn alternate(pools: [&ThreadPool; 2], depth: u32) -> u32 {
        match depth {
            0 => 0,
            _ => 1 + pools[0].install(|| alternate([pools[1], pools[0]], depth - 1)),
        }
    }
    assert_eq!(alternate([&one, &other], 50), 50);
}

/// Reproduces report 390: much time went into waking threads for short calls from outside.
#[test]
fn many_short_calls_arrive() {
    const COUNT: usize = 200_000;
    let (sender, receiver) = mpsc::channel();
    for number in 0..COUNT {
        let sender = sender.clone();
        rayon_core::spawn(move || sender.send(number).expect("the receiver is alive"));
    }
    drop(sender);
    assert_eq!(receiver.iter().count(), COUNT);
}

/// Reproduces report 835: a scope that blocks in its body needs a thread of the pool.
#[test]
fn the_body_of_a_scope_in_place_may_block() {
    let pool = pool(1);
    let (sender, receiver) = mpsc::sync_channel(1);
    let sum = pool.in_place_scope(|scope| {
        for number in 0..100 {
            let sender = sender.clone();
            scope.spawn(move |_| sender.send(number).expect("the receiver is alive"));
        }
        receiver.iter().take(100).sum::<i32>()
    });
    assert_eq!(sum, 4_950);
}

/// Reproduces report 1205: a task with a read lock did not go on while others waited for the lock.
#[test]
fn a_task_with_a_lock_goes_on_while_others_wait_for_it() {
    let pool = Arc::new(pool(4));
    let lock = Arc::new(RwLock::new(0_u64));
    let threads: Vec<_> = (0..8)
        .map(|index| {
            let (pool, lock) = (Arc::clone(&pool), Arc::clone(&lock));
            thread::spawn(move || match index % 4 {
                0 => *lock.write().expect("no panics") += 1,
                // The lock is held by a thread that is not in the pool.
                _ => {
                    let value = lock.read().expect("no panics");
                    let (left, right) = pool.install(|| join(|| *value, || *value));
                    assert_eq!(left, right);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("no panics");
    }
}

/// Reproduces report 904 and 779: calls that block keep only their own threads.
#[test]
fn a_call_that_blocks_leaves_the_other_threads() {
    let pool = pool(2);
    let (sender, receiver) = mpsc::channel();
    let receiver = Mutex::new(receiver);
    pool.scope(|scope| {
        scope.spawn(|_| {
            let received = receiver.lock().expect("no panics").recv();
            assert_eq!(received, Ok(7));
        });
        scope.spawn(move |_| {
            let sum: u32 = pool_sum(4);
            assert_eq!(sum, 16);
            sender.send(7).expect("the receiver is alive");
        });
    });
}

fn pool_sum(depth: u32) -> u32 {
    if depth == 0 {
        return 1;
    }
    let (left, right) = join(|| pool_sum(depth - 1), || pool_sum(depth - 1));
    left + right
}

/// Reproduces report 579 and 694, dust 503: the system refuses threads, or the memory of their
/// stacks.
#[test]
fn a_refused_thread_is_an_error() {
    // No system has this much address space.
    let builder = ThreadPoolBuilder::new().num_threads(2);
    let refused = builder.stack_size(1 << 60).build();
    let message = refused.expect_err("the system refuses").to_string();
    assert!(!message.is_empty());
    // A spawn handler that fails in the middle leaves nothing behind.
    let started = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&started);
    let refused = ThreadPoolBuilder::new()
        .num_threads(4)
        .spawn_handler(move |thread| {
            if thread.index() == 2 {
                return Err(std::io::Error::other("no more threads"));
            }
            count.fetch_add(1, Relaxed);
            thread::spawn(|| thread.run());
            Ok(())
        })
        .build();
    let message = refused.expect_err("the handler refuses").to_string();
    assert!(message.contains("no more threads"), "{message}");
    assert_eq!(started.load(Relaxed), 2);
}

/// Reproduces report 724: `spawn` inside a pool uses that pool, and outside the global one.
#[test]
fn a_call_is_spawned_in_the_pool_of_its_thread() {
    let pool = ThreadPoolBuilder::new()
        .num_threads(1)
        .thread_name(|_| "of the pool".to_owned())
        .build()
        .expect("threads start");
    let name = || {
        let (sender, receiver) = mpsc::channel();
        rayon_core::spawn(move || {
            let name = thread::current().name().map(str::to_owned);
            sender.send(name).expect("the receiver is alive");
        });
        receiver
    };
    let inside = pool.install(name).recv().expect("it is sent");
    assert_eq!(inside.as_deref(), Some("of the pool"));
    let outside = name().recv().expect("it is sent");
    assert_ne!(outside.as_deref(), Some("of the pool"));
}

/// Reproduces report 592 on one thread: a call that holds a lock waits in a `join`. The thread
/// takes the second half of that `join`, and not another call that needs the lock.
#[test]
fn a_join_on_one_thread_runs_no_other_call() {
    let pool = pool(1);
    let lock = Mutex::new(());
    let nested = AtomicUsize::new(0);
    pool.install(|| {
        scope(|outer| {
            for _ in 0..10 {
                outer.spawn(|_| match lock.try_lock() {
                    Ok(_locked) => {
                        join(|| (), || ());
                    }
                    Err(_) => {
                        nested.fetch_add(1, Relaxed);
                    }
                });
            }
        });
    });
    assert_eq!(nested.load(Relaxed), 0);
}

/// Reproduces report 819 and 1105: calls of an outer pool use an inner one of fewer threads. While
/// one waits, its thread starts others.
#[test]
fn calls_of_a_pool_use_a_smaller_pool() {
    const COUNT: usize = 64;
    let (outer, inner) = (pool(3), pool(1));
    let done = AtomicUsize::new(0);
    outer.scope(|scope| {
        for number in 0..COUNT {
            let (inner, done) = (&inner, &done);
            scope.spawn(move |_| {
                let (left, right) = inner.install(|| join(|| number, || number));
                assert_eq!(left, right);
                done.fetch_add(1, Relaxed);
            });
        }
    });
    assert_eq!(done.load(Relaxed), COUNT);
}

/// Reproduces report 969: a `join` waited for calls that were spawned in its first half. Here such
/// a call waits for something that comes after the `join`.
#[test]
fn a_join_does_not_wait_for_spawned_calls() {
    for threads in [1, 2] {
        let pool = pool(threads);
        let (sender, receiver) = mpsc::channel();
        let (ended, end) = mpsc::channel();
        pool.install(|| {
            let wait = move || {
                let received = receiver.recv();
                ended.send(received).expect("the test is waiting");
            };
            join(|| rayon_core::spawn(wait), || ());
            sender.send(7).expect("the call is waiting");
        });
        assert_eq!(end.recv(), Ok(Ok(7)));
    }
}

/// Reproduces report 1269: two stages on the same threads, with a channel between them. The first
/// yields while the channel is full, and calls of the second that find it empty queue up again.
#[test]
fn stages_on_the_same_threads_make_progress() {
    const COUNT: u64 = 1_000;
    fn take<'a>(scope: &ScopeFifo<'a>, receiver: &'a Mutex<Receiver<u64>>, sum: &'a AtomicU64) {
        let received = receiver.lock().expect("no panics").try_recv();
        match received {
            Ok(number) => {
                sum.fetch_add(number, Relaxed);
            }
            Err(_) => scope.spawn_fifo(move |scope| take(scope, receiver, sum)),
        }
    }
    for threads in [1, 2] {
        let (sender, receiver) = mpsc::sync_channel(2);
        let (receiver, sum) = (Mutex::new(receiver), AtomicU64::new(0));
        pool(threads).scope_fifo(|scope| {
            scope.spawn_fifo(|_| {
                for number in 0..COUNT {
                    while sender.try_send(number).is_err() {
                        yield_now();
                    }
                }
            });
            for _ in 0..COUNT {
                scope.spawn_fifo(|scope| take(scope, &receiver, &sum));
            }
        });
        assert_eq!(sum.into_inner(), COUNT * (COUNT - 1) / 2);
    }
}

/// Checks the order of a pool with the deprecated option, in a scope and outside of one.
#[test]
#[allow(deprecated, reason = "programs may still use the option")]
fn a_breadth_first_pool_runs_the_oldest_call_first() {
    let builder = ThreadPoolBuilder::new().num_threads(1).breadth_first();
    let pool = builder.build().expect("threads start");
    let (sender, receiver) = mpsc::channel();
    pool.scope(|scope| {
        for number in 0..8 {
            let sender = sender.clone();
            scope.spawn(move |_| sender.send(number).expect("the receiver is alive"));
        }
    });
    pool.install(|| {
        for number in 8..16 {
            let sender = sender.clone();
            rayon_core::spawn(move || sender.send(number).expect("the receiver is alive"));
        }
    });
    drop(sender);
    assert!(receiver.into_iter().eq(0..16));
}

/// Checks that threads which a call starts may use all CPUs, and that the call sees them.
#[test]
fn a_call_sees_all_cpus() {
    let count = || thread::available_parallelism().expect("the system tells");
    let expected = count();
    let pool = pool(2);
    for _ in 0..20 {
        // The threads sleep by now, and the call wakes one of them.
        thread::sleep(Duration::from_millis(2));
        let seen = pool.install(|| (count(), thread::spawn(count).join().expect("no panics")));
        assert_eq!(seen, (expected, expected));
    }
    assert!(
        pool.broadcast(|_| count())
            .iter()
            .all(|&seen| seen == expected)
    );
}

/// Checks that a panic in the body of a scope waits for all calls.
#[test]
fn a_panic_waits_for_all_calls() {
    let done = AtomicUsize::new(0);
    let caught = catch_unwind(AssertUnwindSafe(|| {
        in_place_scope(|scope| {
            for _ in 0..20 {
                scope.spawn(|_| {
                    thread::sleep(Duration::from_millis(1));
                    done.fetch_add(1, Relaxed);
                });
            }
            panic!("in the body");
        });
    }));
    assert!(caught.is_err());
    assert_eq!(done.load(Relaxed), 20);
}
