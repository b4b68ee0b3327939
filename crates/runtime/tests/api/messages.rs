//! Messages to given workers: each runs once, on its worker, in the order in which its sender sent
//! it, with every kind of mailbox.

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use raddle_runtime::{IdlePolicy, MailboxKind, Message, Post, Runtime, join, scope, worker_index};

use crate::checks::{PATIENCE, panic_text};
use crate::common::runtime_with;

/// Calls `check` with runtimes of one, two and five workers and every kind of mailbox.
fn on_all(check: impl Fn(Runtime, &str)) {
    for mailbox in MailboxKind::ALL {
        for workers in [1, 2, 5] {
            check(
                runtime_with(workers, |builder| builder.mailbox(mailbox)),
                &format!("{mailbox}, {workers} workers"),
            );
        }
    }
}

const COUNT: usize = 2_000;

/// The report of a message that runs: its sender, its addressee, the worker that runs it, and its
/// number.
type Arrival = (usize, usize, usize, usize);

fn send_all(post: &Post, sender: usize, arrived: &mpsc::Sender<Arrival>) {
    for number in 0..COUNT {
        let arrived = arrived.clone();
        let to = number % post.worker_count();
        post.send(to, move || {
            let here = worker_index().expect("messages run on workers");
            arrived
                .send((sender, to, here, number))
                .expect("the test receives");
        });
    }
}

#[test]
fn each_message_runs_once_on_its_worker_in_the_order_of_its_sender() {
    on_all(|runtime, what| {
        let post = runtime.post();
        let workers = post.worker_count();
        let (arrived, arrivals) = mpsc::channel();
        // Every worker and this thread send to every worker.
        for sender in 0..workers {
            let (own, arrived) = (post.clone(), arrived.clone());
            post.send(sender, move || send_all(&own, sender, &arrived));
        }
        send_all(&post, workers, &arrived);
        drop(arrived);
        let mut next = vec![vec![0; workers]; workers + 1];
        for to in 0..workers {
            next.iter_mut().for_each(|next| next[to] = to);
        }
        for _ in 0..COUNT * (workers + 1) {
            let (sender, to, here, number) = arrivals.recv_timeout(PATIENCE).expect("all arrive");
            assert_eq!(to, here, "{what}");
            assert_eq!(number, next[sender][to], "{what}: from {sender}");
            next[sender][to] += workers;
        }
        assert!(arrivals.recv().is_err(), "{what}: more than were sent");
        assert!(runtime.report().total.messages >= (COUNT * (workers + 1)) as u64);
    });
}

/// A message of `WORDS` words. The last one says that it has been dropped.
#[repr(align(8))]
struct Filled<const WORDS: usize> {
    words: [u64; WORDS],
    dropped: mpsc::Sender<u64>,
}

impl<const WORDS: usize> Drop for Filled<WORDS> {
    fn drop(&mut self) {
        let sum = self.words.iter().sum();
        self.dropped.send(sum).expect("the test receives");
    }
}

impl<const WORDS: usize> Message for Filled<WORDS> {
    fn run(self) {
        // Like a closure, it may panic: the values are dropped all the same.
        assert!(WORDS.is_multiple_of(2), "discarded");
    }
}

/// A value with an alignment that is too large for a cell.
#[repr(align(64))]
struct Aligned(u64);

/// Checks sizes that fit into the slot of a mailbox, sizes that fit into a cell, and sizes that
/// need a block of their own.
#[test]
fn messages_of_all_sizes_arrive_intact_and_are_dropped_once() {
    fn send<const WORDS: usize>(post: &Post, from: usize, to: usize) {
        let (dropped, is_dropped) = mpsc::channel();
        let words = std::array::from_fn(|index| 1 << index);
        let message = Filled::<WORDS> { words, dropped };
        let own = post.clone();
        post.send(from, move || own.send(to, message));
        let sum = is_dropped.recv_timeout(PATIENCE).expect("it is dropped");
        assert!(is_dropped.recv().is_err(), "it is dropped once");
        assert_eq!(sum, (1 << WORDS) - 1, "{WORDS} words");
    }
    on_all(|runtime, what| {
        let post = runtime.post();
        let last = post.worker_count() - 1;
        for (from, to) in [(0, 0), (0, last), (last, 0)] {
            send::<0>(&post, from, to);
            send::<1>(&post, from, to);
            send::<4>(&post, from, to);
            send::<5>(&post, from, to);
            send::<6>(&post, from, to);
            send::<8>(&post, from, to);
            send::<9>(&post, from, to);
            send::<10>(&post, from, to);
            send::<40>(&post, from, to);
            let (reply, replies) = mpsc::channel();
            let (own, value) = (post.clone(), Aligned(7));
            post.send(from, move || {
                let value = value;
                own.send(to, move || {
                    let Aligned(number) = value;
                    let is_aligned = std::ptr::from_ref(&value).is_aligned();
                    reply.send((number, is_aligned)).expect("the test receives");
                });
            });
            assert_eq!(replies.recv_timeout(PATIENCE), Ok((7, true)), "{what}");
        }
    });
}

#[test]
fn message_wakes_its_sleeping_worker() {
    for idle in [IdlePolicy::Adaptive, IdlePolicy::Park] {
        let runtime = runtime_with(3, |builder| builder.idle(idle));
        let post = runtime.post();
        let (passed, ended) = mpsc::channel();
        // A message goes round and round, with pauses in which all workers fall asleep.
        fn pass(post: &Post, left: usize, passed: mpsc::Sender<usize>) {
            let next = post.clone();
            post.send(left % 3, move || {
                if left.is_multiple_of(100) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                match left {
                    0 => passed.send(0).expect("the test receives"),
                    _ => pass(&next, left - 1, passed),
                }
            });
        }
        pass(&post, 3_000, passed);
        assert_eq!(ended.recv_timeout(PATIENCE), Ok(0));
    }
}

#[test]
fn message_may_fork_and_spawn_and_panic() {
    on_all(|runtime, what| {
        let post = runtime.post();
        let (sum, sums) = mpsc::channel();
        post.send(0, || {
            std::panic::resume_unwind(Box::new("no thread waits for it"))
        });
        for to in 0..post.worker_count() {
            let sum = sum.clone();
            post.send(to, move || {
                let (a, b) = join(|| 1, || 2);
                let c = Mutex::new(0);
                scope(|scope| scope.spawn(|| *c.lock().expect("no panic") = 3));
                let c = c.into_inner().expect("no panic");
                sum.send(a + b + c).expect("the test receives");
            });
        }
        drop(sum);
        let all: Vec<i32> = sums.iter().collect();
        assert_eq!(all, vec![6; post.worker_count()], "{what}");
    });
}

#[test]
fn tasks_run_between_endless_messages() {
    fn again(post: &Post) {
        let next = post.clone();
        post.send(0, move || again(&next));
    }
    on_all(|runtime, what| {
        let post = runtime.post();
        again(&post);
        for number in 0..100 {
            assert_eq!(runtime.spawn(move || number).wait(), number, "{what}");
        }
        assert_eq!(runtime.install(|| join(|| 1, || 2)), (1, 2), "{what}");
        // The runtime ends although messages are left.
    });
}

#[test]
fn messages_left_when_a_runtime_ends_are_dropped() {
    on_all(|runtime, what| {
        let kept = Arc::new(());
        let post = runtime.post();
        for to in 0..post.worker_count() {
            let own = post.clone();
            let inside = Arc::clone(&kept);
            post.send(to, move || {
                for _ in 0..100 {
                    let inside = Arc::clone(&inside);
                    let again = own.clone();
                    // A message in a mailbox that itself keeps the mailboxes alive.
                    own.send(to, move || again.send(to, move || drop(inside)));
                }
            });
        }
        drop(runtime);
        let late = Arc::clone(&kept);
        post.send(0, move || drop(late));
        drop(post);
        assert_eq!(Arc::strong_count(&kept), 1, "{what}");
    });
}

#[test]
fn message_to_a_missing_worker_panics_with_a_clear_text() {
    let runtime = runtime_with(2, |builder| builder.mailbox(MailboxKind::LockFree));
    let post = runtime.post();
    let text = panic_text(|| post.send(2, || ()));
    assert_eq!(text, "there is no worker 2: there are 2");
}

/// Reproduces a bug: mailboxes from which one message is taken at a time kept urgent messages
/// behind older ones.
#[test]
fn urgent_messages_overtake_all_waiting_messages() {
    on_all(|runtime, which| {
        let post = runtime.post();
        let to = post.worker_count() - 1;
        let (arrived, arrivals) = mpsc::channel();
        let (open, gate) = mpsc::channel::<()>();
        let (start, started) = mpsc::channel();
        post.send(to, move || {
            start.send(()).expect("the test receives");
            gate.recv().expect("the gate is opened");
        });
        started.recv_timeout(PATIENCE).expect("the message runs");
        let report = |number: u32| {
            let arrived = arrived.clone();
            move || arrived.send(number).expect("the test receives")
        };
        for number in 1..=5 {
            post.send(to, report(number));
        }
        post.send_urgent(to, report(100));
        post.send_urgent(to, report(101));
        open.send(()).expect("the message waits");
        let order: Vec<u32> = (0..7)
            .map(|_| arrivals.recv_timeout(PATIENCE).expect("all arrive"))
            .collect();
        assert_eq!(order, [100, 101, 1, 2, 3, 4, 5], "{which}");
    });
}
