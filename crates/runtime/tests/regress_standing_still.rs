//! A task that waited in a way of its own (a channel, a flag) for one that it had made stood still for ever on pools with something
//! private, and so on the default pool, as soon as that moved to one of these. Whoever is about to sleep looks there now.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use raddle_runtime::{IdlePolicy, PoolKind, Runtime, scope};

const LONG: Duration = Duration::from_secs(30);

fn on_all(check: impl Fn(Runtime, &str)) {
    for pool in PoolKind::ALL {
        for idle in IdlePolicy::ALL {
            let runtime = Runtime::builder()
                .workers(2)
                .pool(pool)
                .idle(idle)
                .build()
                .expect("two workers come up");
            check(runtime, &format!("{pool}, {idle}"));
        }
    }
}

#[test]
fn task_may_wait_in_its_own_way_for_one_that_it_made() {
    on_all(|runtime, what| {
        for round in 0..20 {
            let (said, hears) = mpsc::channel();
            runtime.scope(move |scope| {
                // The other worker is awake, or asleep.
                if round & 3 == 0 {
                    thread::sleep(Duration::from_micros(200));
                }
                scope.spawn(move || said.send(round).expect("somebody listens"));
                assert_eq!(hears.recv_timeout(LONG), Ok(round), "{what}");
            });
        }
    });
}

/// The worker that could help is in a scope itself, and wants what the one that stands still keeps.
#[test]
fn worker_that_waits_in_a_scope_finds_it_too() {
    on_all(|runtime, what| {
        for round in 0..20 {
            let (said, hears) = mpsc::channel();
            runtime.scope(|outer| {
                outer.spawn(move || {
                    scope(move |inner| {
                        inner.spawn(move || said.send(round).expect("somebody listens"));
                        assert_eq!(hears.recv_timeout(LONG), Ok(round), "{what}");
                    });
                });
                // From here on this worker waits, if the other one has taken the task.
                thread::sleep(Duration::from_micros(100));
            });
        }
    });
}
