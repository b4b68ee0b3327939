//! Models of the queue with one producer: each value is taken once and complete, and a slot is
//! filled again only when it is free.

use loom::model::Builder;
use loom::thread;
use raddle_sync::lock::{SimpleLock, TicketLock};
use raddle_sync::single_put::single_put;

fn model(check: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(check);
}

/// Checks P1 and P2: three values go through a ring of two slots, which grows if the taker is late.
#[test]
fn values_are_taken_once_and_in_order() {
    model(|| {
        let (putter, queue) = single_put::<SimpleLock, Box<u32>>();
        let taker = {
            let queue = queue.clone();
            thread::spawn(move || {
                (0..2)
                    .filter_map(|_| queue.take_where(|_| true))
                    .map(|value| *value)
                    .collect::<Vec<_>>()
            })
        };
        for value in 0..3 {
            putter.put(Box::new(value));
        }
        let mut all = taker.join().expect("no panic");
        all.extend(std::iter::from_fn(|| queue.take_where(|_| true)).map(|value| *value));
        assert_eq!(all, [0, 1, 2]);
    });
}

/// Checks P2 and invariant 2: the owner takes as well, while a thief tries to.
#[test]
fn owner_and_thief_take_each_value_once() {
    model(|| {
        let (putter, queue) = single_put::<TicketLock, u32>();
        putter.put(1);
        putter.put(2);
        let thief = {
            let queue = queue.clone();
            thread::spawn(move || queue.try_take_where(|_| true))
        };
        let own = queue.take_where(|&value| value == 2);
        putter.put(3);
        let stolen = thief.join().expect("no panic");
        let mut all: Vec<u32> = std::iter::from_fn(|| queue.take_where(|_| true)).collect();
        all.extend(own);
        all.extend(stolen);
        all.sort_unstable();
        assert_eq!(all, [1, 2, 3]);
    });
}

/// Checks P2: a thread that only looks never sees more values than were ever there.
#[test]
fn the_length_never_exceeds_the_number_of_values() {
    model(|| {
        let (putter, queue) = single_put::<SimpleLock, u32>();
        let taker = {
            let queue = queue.clone();
            thread::spawn(move || queue.take_where(|_| true))
        };
        let observer = {
            let queue = queue.clone();
            thread::spawn(move || queue.len())
        };
        putter.put(1);
        assert!(observer.join().expect("no panic") <= 1);
        taker.join().expect("no panic");
    });
}
