//! Models of the pools without a runtime: every task that moves between pools or in blocks is taken
//! once, together with everything that was written before it was put.
//!
//! Leaving out any fence of A1 makes a model fail.

use std::sync::Arc;

use loom::model::Builder;
use loom::thread;
use raddle_runtime::pool::probe::{Probe, address, get};
use raddle_runtime::pool::{Look, Put, Seat, Wanted};
use raddle_runtime::{BlockShape, PoolKind};
use raddle_sync::prim::{AtomicBool, Relaxed, Tracked, heavy_fence, light_fence};

fn model(preemptions: usize, check: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 20_000;
    builder.check(check);
}

/// Checks A1: `auto` moves to another pool and marks the old one as unused, while a second worker
/// puts a task and a third one is about to sleep and looks a last time.
///
/// The third worker is notified, or finds the task.
#[test]
fn task_put_after_a_move_is_seen_by_a_worker_about_to_sleep() {
    model(3, || {
        let pool = Arc::new(Probe::new(PoolKind::Auto, 3, BlockShape::new(1, 1)));
        let [mover, putter, sleeper] = [0, 1, 2].map(|worker| pool.seat(worker));
        // Every task that a worker gets ends a turn. The second turn moves to the second candidate.
        let _unseen = mover.put(pool.task());
        get(&*mover).expect("the worker finds its own task");
        let _unseen = mover.put(pool.task());
        let asleep = Arc::new(AtomicBool::new(false));
        let moving = {
            let asleep = Arc::clone(&asleep);
            thread::spawn(move || {
                let mut look = Look::default();
                mover
                    .get(Wanted::Any, &mut look)
                    .expect("the worker finds its own task");
                light_fence();
                // Relaxed: ordered by the fences.
                look.hid && asleep.load(Relaxed)
            })
        };
        let putting = {
            let (pool, asleep) = (Arc::clone(&pool), Arc::clone(&asleep));
            thread::spawn(move || {
                let _notified_below = putter.put(pool.task());
                light_fence();
                // Relaxed: ordered by the fences.
                (asleep.load(Relaxed), putter)
            })
        };
        // Relaxed: as above.
        asleep.store(true, Relaxed);
        heavy_fence();
        let has_seen = pool.has_work();
        let (is_notified, putter) = putting.join().expect("no panic");
        let is_notified = moving.join().expect("no panic") || is_notified;
        let found = get(&*sleeper).or_else(|| get(&*putter));
        assert!(found.is_some(), "no task is lost");
        assert!(has_seen || is_notified, "the sleeper misses the task");
    });
}

/// Checks that a worker that is about to sleep sees and takes a task that another worker keeps
/// private and waits for by its own means, or is notified.
#[test]
fn private_task_is_seen_by_a_worker_about_to_sleep() {
    for kind in [PoolKind::DqTlPrivC, PoolKind::DqBlTlC] {
        model(3, move || {
            let pool = Arc::new(Probe::new(kind, 2, BlockShape::new(2, 1)));
            let [putter, sleeper] = [0, 1].map(|worker| pool.seat(worker));
            let shared = Arc::new((AtomicBool::new(false), Tracked::new(0)));
            let putting = {
                let (pool, shared) = (Arc::clone(&pool), Arc::clone(&shared));
                thread::spawn(move || {
                    shared.1.set(1);
                    assert_eq!(putter.put(pool.task()), Put::Private);
                    light_fence();
                    // Relaxed: ordered by the fences.
                    shared.0.load(Relaxed)
                })
            };
            // Relaxed: as above.
            shared.0.store(true, Relaxed);
            heavy_fence();
            let mut last = Look {
                is_last: true,
                ..Look::default()
            };
            let found = sleeper.get(Wanted::Any, &mut last).is_some();
            if found {
                assert_eq!(shared.1.get(), 1);
            }
            let is_notified = putting.join().expect("no panic");
            assert!(found || is_notified, "the sleeper misses the task");
        });
    }
}

/// Checks that a worker that is about to sleep sees the first task of a compensating thread, or is
/// notified. The compensating thread takes its seat, creates its part of the pool, and puts that
/// task meanwhile.
///
/// The model fails if the putter leaves out its fence, or if the part becomes visible only after
/// its first task.
#[test]
fn first_task_of_a_compensating_thread_is_seen_by_a_worker_about_to_sleep() {
    for kind in [PoolKind::Deque, PoolKind::DqTlPrivC, PoolKind::DqBlTlC] {
        model(3, move || {
            let pool = Probe::with_compensating(kind, 1, 1, BlockShape::new(1, 1));
            let pool = Arc::new(pool);
            let sleeper = pool.seat(0);
            let shared = Arc::new((AtomicBool::new(false), Tracked::new(0)));
            let putting = {
                let (pool, shared) = (Arc::clone(&pool), Arc::clone(&shared));
                thread::spawn(move || {
                    let compensating = pool.seat(1);
                    shared.1.set(1);
                    compensating.share(pool.task());
                    light_fence();
                    // Relaxed: ordered by the fences.
                    (shared.0.load(Relaxed), compensating)
                })
            };
            // Relaxed: as above.
            shared.0.store(true, Relaxed);
            heavy_fence();
            let has_seen = pool.has_work();
            let mut found = get(&*sleeper);
            if found.is_some() {
                assert_eq!(shared.1.get(), 1);
            }
            let (is_notified, _compensating) = putting.join().expect("no panic");
            assert!(has_seen || is_notified, "the sleeper misses the task");
            found = found.or_else(|| get(&*sleeper));
            assert!(found.is_some(), "no task is lost");
        });
    }
}

/// Tasks put before and after a move are taken once, with everything that was written before.
#[test]
fn tasks_around_a_move_are_taken_once() {
    model(3, || {
        let pool = Arc::new(Probe::new(PoolKind::Auto, 2, BlockShape::new(2, 1)));
        hand_over(&pool, 3);
    });
}

/// Checks that a block that becomes public is taken as a whole, by its owner or by a thief.
#[test]
fn blocks_are_handed_over_with_their_tasks() {
    for kind in [
        PoolKind::DqBlPth,
        PoolKind::DqBlSlC,
        PoolKind::DqBlTlTryC,
        PoolKind::DqBlClhC,
        PoolKind::DqBlSpC,
        PoolKind::DqBlSpTryC,
    ] {
        model(3, move || {
            let pool = Arc::new(Probe::new(kind, 2, BlockShape::new(2, 1)));
            hand_over(&pool, 2);
        });
    }
}

/// Lets one worker put `count` tasks and get what it can, while another worker gets up to two.
/// Checks that each task is taken once.
fn hand_over(pool: &Arc<Probe>, count: usize) {
    let tasks: Vec<_> = (0..count).map(|_| pool.task()).collect();
    let contents = tasks.iter().map(|task| (address(task), Tracked::new(0)));
    let contents: Arc<Vec<_>> = Arc::new(contents.collect());
    let (first, second) = (pool.seat(0), pool.seat(1));
    let thief = {
        let contents = Arc::clone(&contents);
        thread::spawn(move || {
            let stolen = take(&*second, &contents) + take(&*second, &contents);
            (stolen, second)
        })
    };
    for (task, (_, content)) in tasks.into_iter().zip(&*contents) {
        content.set(1);
        let _unseen = first.put(task);
    }
    let own = take(&*first, &contents);
    let (stolen, second) = thief.join().expect("no panic");
    let left = std::iter::repeat_with(|| take(&*first, &contents) + take(&*second, &contents));
    let left: u32 = left.take_while(|&taken| taken > 0).sum();
    assert_eq!((own + stolen + left) as usize, count);
    let all: u32 = contents.iter().map(|(_, content)| content.get()).sum();
    assert_eq!(all as usize, 2 * count, "each task is taken once");
}

/// Gets a task if there is one, and increments its content. Returns the number of tasks, 0 or 1.
fn take(seat: &dyn Seat, contents: &[(usize, Tracked)]) -> u32 {
    let Some(task) = get(seat) else { return 0 };
    let found = contents.iter().find(|(other, _)| *other == address(&task));
    let (_, content) = found.expect("the task is one of those put");
    content.set(content.get() + 1);
    1
}
