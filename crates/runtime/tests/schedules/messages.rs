//! Messages: each runs once, on its worker, in the order in which its sender sent it, or is dropped
//! with its runtime.

use std::sync::Arc;

use raddle_runtime::model::explore::{Scenario, beside, explore};
use raddle_runtime::{Post, worker_index};
use raddle_sync::prim::{Mutex, yield_now};

/// The messages that ran on each worker: sender and number.
type Log = Arc<Vec<Mutex<Vec<(usize, usize)>>>>;

const EACH: usize = 3;

fn send_all(post: &Post, sender: usize, log: &Log) {
    for number in 0..EACH {
        for to in 0..post.worker_count() {
            let log = Arc::clone(log);
            post.send(to, move || {
                assert_eq!(worker_index(), Some(to));
                log[to].lock().expect("no panic").push((sender, number));
            });
        }
    }
}

#[test]
fn messages_of_one_sender_arrive_in_order() {
    explore(|setting: Scenario| {
        let runtime = setting.runtime();
        let post = runtime.post();
        let workers = post.worker_count();
        let log: Log = Arc::new((0..workers).map(|_| Mutex::new(Vec::new())).collect());
        let (other, other_log) = (post.clone(), Arc::clone(&log));
        let outside = move || send_all(&other, 0, &other_log);
        let here = || {
            for worker in 0..workers {
                let (own, log) = (post.clone(), Arc::clone(&log));
                post.send(worker, move || send_all(&own, 1 + worker, &log));
            }
        };
        beside(outside, here);
        let all = EACH * (1 + workers);
        for arrived in &*log {
            let count = || arrived.lock().expect("no panic").len();
            while count() < all {
                yield_now();
            }
            let arrived = arrived.lock().expect("no panic");
            for sender in 0..=workers {
                let of_sender = arrived.iter().filter(|(from, _)| *from == sender);
                assert!(of_sender.map(|(_, number)| *number).eq(0..EACH));
            }
        }
    });
}

/// Reproduces a bug: a worker first looks for urgent messages and then into its mailbox. An urgent
/// message that arrived in between ran after a message that its sender had sent later.
#[test]
fn urgent_messages_run_before_later_messages_of_their_sender() {
    explore(|setting: Scenario| {
        let runtime = setting.runtime();
        let post = runtime.post();
        let from = post.worker_count() - 1;
        let done: Arc<Mutex<Vec<usize>>> = Arc::default();
        let note = {
            let done = Arc::clone(&done);
            move |what| {
                let done = Arc::clone(&done);
                move || done.lock().expect("no panic").push(what)
            }
        };
        let sender = post.clone();
        post.send(from, move || {
            for round in 0..2 {
                sender.send_urgent(0, note(2 * round));
                sender.send(0, note(2 * round + 1));
            }
        });
        while done.lock().expect("no panic").len() < 4 {
            yield_now();
        }
        let done = done.lock().expect("no panic");
        let place = |what| done.iter().position(|&it| it == what);
        assert!(place(0) < place(1) && place(0) < place(2), "{done:?}");
        assert!(place(1) < place(3) && place(2) < place(3), "{done:?}");
    });
}

#[test]
fn calls_sent_too_late_do_not_outlive_their_runtime() {
    explore(|setting: Scenario| {
        let runtime = setting.runtime();
        let (held, post) = (Arc::new(()), runtime.post());
        let (early, late) = (Arc::clone(&held), Arc::clone(&held));
        post.put(move || drop(early));
        beside(move || post.put(move || drop(late)), || drop(runtime));
        assert_eq!(Arc::strong_count(&held), 1);
    });
}

#[test]
fn messages_do_not_outlive_their_runtime() {
    explore(|setting: Scenario| {
        let runtime = setting.runtime();
        let (held, post) = (Arc::new(()), runtime.post());
        let (inside, own) = (Arc::clone(&held), post.clone());
        post.send(0, move || {
            for to in 0..own.worker_count() {
                let inside = Arc::clone(&inside);
                own.send(to, move || drop(inside));
            }
        });
        let (late, inside) = (post.clone(), Arc::clone(&held));
        beside(move || late.send(0, move || drop(inside)), || drop(runtime));
        drop(post);
        assert_eq!(Arc::strong_count(&held), 1);
    });
}
