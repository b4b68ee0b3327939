//! Models of the biased value: the owner and two other threads never have it at the same time, and
//! see each other's changes.

use loom::model::Builder;
use loom::sync::Arc;
use loom::thread;
use raddle_sync::biased::biased;

/// Checks B1, B2 and B3: loom checks every access to the value.
#[test]
fn one_thread_at_a_time_has_the_value() {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(|| {
        let (owner, others) = biased(0);
        let others = Arc::new(others);
        let other = {
            let others = Arc::clone(&others);
            thread::spawn(move || others.with(|value| *value += 1))
        };
        owner.with(|value| *value += 10);
        owner.with(|value| *value += 100);
        other.join().expect("no panic");
        assert_eq!(others.with(|value| *value), 111);
    });
}

#[test]
fn two_others_and_the_owner_do_not_have_it_at_once() {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(1);
    builder.max_branches = 20_000;
    builder.check(|| {
        let (owner, others) = biased(0);
        let others = Arc::new(others);
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let others = Arc::clone(&others);
                thread::spawn(move || others.with(|value| *value += 1))
            })
            .collect();
        owner.with(|value| *value += 10);
        for thread in threads {
            thread.join().expect("no panic");
        }
        assert_eq!(owner.with(|value| *value), 12);
    });
}
