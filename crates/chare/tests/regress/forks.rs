//! Calls that an entry makes in its forks have the same effect as calls that it makes directly, on
//! any worker or thread.
//!
//! Regression: a contribution from a fork went to the part of the worker that ran the fork. The own
//! worker of the element was not informed, so that the reduction never ended. On threads that are
//! not workers, most methods of `Cx` panicked.

use std::future::Future;
use std::pin::pin;
use std::sync::{Mutex, mpsc};
use std::task::{Context, Waker};
use std::thread;

use raddle_chare::reduce::Sum;
use raddle_chare::{Array, ArrayOptions, Chares, Cx, Section, chare};
use raddle_runtime::{Runtime, scope, worker_index};

use crate::FORMS;
use crate::common::runtime;
use crate::panics::panic_text;
use crate::soon::soon;

/// The place where an entry runs a closure.
#[derive(Clone, Copy, Debug)]
enum At {
    /// In a fork that another worker runs.
    OtherWorker,
    /// On a thread that is not a worker.
    Thread,
}

const PLACES: [At; 2] = [At::OtherWorker, At::Thread];

impl At {
    /// Runs `call` at this place and waits for it.
    fn run<R: Send>(self, call: impl FnOnce() -> R + Send) -> R {
        match self {
            Self::Thread => thread::scope(|scope| scope.spawn(call).join().expect("it returns")),
            Self::OtherWorker => on_other_worker(call),
        }
    }
}

/// Calls `call` in a task of a scope that another worker has taken.
fn on_other_worker<R: Send>(call: impl FnOnce() -> R + Send) -> R {
    let own = worker_index();
    let (call, result) = (Mutex::new(Some(call)), Mutex::new(None));
    let take = || {
        if worker_index() == own {
            return thread::yield_now();
        }
        let taken = call.lock().expect("no panic").take();
        if let Some(call) = taken {
            let returned = call();
            *result.lock().expect("no panic") = Some(returned);
        }
    };
    loop {
        scope(|scope| (0..8).for_each(|_| scope.spawn(take)));
        let returned = result.lock().expect("no panic").take();
        if let Some(returned) = returned {
            return returned;
        }
    }
}

struct Voter {
    sum: u32,
}

#[chare]
impl Voter {
    #[message]
    fn go();

    #[entry]
    fn contribute(&mut self, cx: &mut Cx<Self>, at: At) {
        at.run(|| cx.contribute(Sum(1_u32)));
    }
    /// Contributes to three reductions, one of them in a fork.
    #[entry]
    fn contribute_thrice(&mut self, cx: &mut Cx<Self>, at: At) {
        cx.contribute(Sum(1_u32));
        at.run(|| cx.contribute(Sum(10_u32)));
        cx.contribute(Sum(100_u32));
    }
    #[entry]
    fn contribute_then(&mut self, cx: &mut Cx<Self>, at: At, sum: mpsc::Sender<u32>) {
        let then = move |output| sum.send(output).expect("it is awaited");
        at.run(|| cx.contribute_then(Sum(1_u32), then));
    }
    /// Contributes and awaits the result several times, alternately in a fork and directly.
    #[entry]
    async fn reduce(&mut self, cx: &mut Cx<Self>, at: At) -> u32 {
        for _ in 0..3 {
            let in_fork = at.run(|| cx.reduce(Sum(1_u32)));
            self.sum += in_fork.await;
            self.sum += 100 * cx.reduce(Sum(1_u32)).await;
            at.run(|| cx.balance()).await;
        }
        self.sum
    }
    #[entry]
    fn contribute_and_end(&mut self, cx: &mut Cx<Self>, at: At) {
        at.run(|| {
            cx.contribute(Sum(1_u32));
            cx.end();
        });
    }
    #[entry]
    fn contribute_and_panic(&mut self, cx: &mut Cx<Self>, at: At) {
        at.run(|| cx.contribute(Sum(1_u32)));
        panic!("after its contribution");
    }
    #[entry]
    fn contribute_to(&mut self, cx: &mut Cx<Self>, at: At, section: Section<Self>) {
        at.run(|| cx.contribute_to(section, Sum(1_u32)));
    }
    /// Contributes in a fork, waits, and contributes once more on the worker to which it has
    /// migrated.
    #[entry]
    async fn contribute_and_move(&mut self, cx: &mut Cx<Self>, at: At, to: usize) -> usize {
        at.run(|| {
            cx.contribute(Sum(1_u32));
            cx.migrate_to(to);
        });
        cx.next(Self::go).await;
        at.run(|| cx.contribute(Sum(1_u32)));
        at.run(|| cx.worker())
    }
    #[entry]
    fn sum(&self) -> u32 {
        self.sum
    }

    /// Returns everything that a context reports, in the entry and in a fork.
    #[entry]
    fn look(&mut self, cx: &mut Cx<Self>, at: At) -> [String; 2] {
        let look = |cx: &Cx<Self>| {
            let own = (cx.worker(), cx.worker_count(), cx.node(), cx.node_count());
            format!("{own:?} {:?} {:?} {:?}", cx.index(), cx.this(), cx.array())
        };
        let here = look(cx);
        [here, at.run(|| look(cx))]
    }
    /// Creates chares and arrays and ends the program.
    #[entry]
    async fn make(&mut self, cx: &mut Cx<Self>, at: At) -> (u32, u32) {
        let (one, many) = at.run(|| {
            let one = cx.chare(|_| Self { sum: 5 });
            let many = voters(&cx.runtime(), 3, cx.worker_count());
            (one, many)
        });
        at.run(|| many.all().contribute(at));
        let made = (one.sum().await, many.reduction().await);
        at.run(|| cx.exit());
        made
    }
    /// Polls futures that only the entry may await, and returns the messages of the panics.
    #[entry]
    async fn wait_elsewhere(&mut self, cx: &mut Cx<Self>, at: At) -> [String; 2] {
        let next = at.run(|| poll(cx.next(Self::go)));
        let scan = at.run(|| poll(cx.scan(Sum(1_u32))));
        [next, scan]
    }
    /// Performs a scan after a fork has failed to do so.
    #[entry]
    async fn scan_elsewhere(&mut self, cx: &mut Cx<Self>, at: At) -> u32 {
        at.run(|| poll(cx.scan(Sum(1_u32))));
        cx.scan(Sum(1_u32)).await
    }
}

/// Polls a future once, and returns the message with which it panics.
fn poll(future: impl Future) -> String {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    panic_text(|| future.as_mut().poll(&mut context).is_pending())
}

/// Creates elements on all workers but the last. The last worker can run forks while all others
/// execute entries.
fn voters(chares: &impl Chares, count: usize, worker_count: usize) -> Array<Voter> {
    let options = ArrayOptions::new(count).placed(move |index| index % (worker_count - 1));
    chares.array_with(options, |_| Voter { sum: 0 })
}

fn four_voters(runtime: &Runtime) -> Array<Voter> {
    voters(runtime, 4, runtime.worker_count())
}

/// Runs a test for each place, with two workers and with three.
fn for_each_place(test: fn(&Runtime, At)) {
    soon(move || {
        for workers in [2, 3] {
            for at in PLACES {
                test(&runtime(workers), at);
            }
        }
    });
}

#[test]
fn a_contribution_of_a_fork_counts() {
    for_each_place(|runtime, at| {
        let voters = four_voters(runtime);
        for _ in 0..5 {
            voters.all().contribute(at);
            assert_eq!(voters.reduction::<u32>().wait(), 4, "{at:?}");
        }
        let (sum, sums) = mpsc::channel();
        voters.all().contribute_then(at, sum);
        assert_eq!(sums.recv(), Ok(4));
    });
}

#[test]
fn contributions_are_numbered_in_the_order_of_the_calls() {
    for_each_place(|runtime, at| {
        let voters = four_voters(runtime);
        voters.all().contribute_thrice(at);
        let sums: [u32; 3] = [(); 3].map(|()| voters.reduction().wait());
        assert_eq!(sums, [4, 40, 400], "{at:?}");
    });
}

#[test]
fn an_async_entry_awaits_what_its_forks_contribute_to() {
    for_each_place(|runtime, at| {
        let voters = four_voters(runtime);
        let sums = [0, 1, 2, 3].map(|index| voters.at(index).reduce(at));
        assert_eq!(sums.map(|sum| sum.wait()), [3 * 404; 4], "{at:?}");
    });
}

#[test]
fn contributions_of_an_element_that_ends_or_panics_count() {
    for_each_place(|runtime, at| {
        let voters = four_voters(runtime);
        voters.all().contribute_and_end(at);
        assert_eq!(voters.reduction::<u32>().wait(), 4, "{at:?}");
        let voters = four_voters(runtime);
        let sum = voters.reduction::<u32>();
        (0..3).for_each(|index| voters.at(index).contribute(at));
        voters.at(3).contribute_and_panic(at);
        runtime.quiescence().try_wait().expect_err("one panics");
        while !sum.is_here() {
            thread::yield_now();
        }
        assert_eq!(sum.try_wait(), Ok(4), "{at:?}");
    });
}

#[test]
fn a_contribution_of_a_fork_to_a_section_counts_in_every_form() {
    for_each_place(|runtime, at| {
        let voters = voters(runtime, 6, runtime.worker_count());
        for form in FORMS {
            let section = voters.section_with(form, [5, 1, 2, 0, 3]);
            section.all().contribute_to(at, section);
            assert_eq!(section.reduction::<u32>().wait(), 5, "{at:?}, {form:?}");
        }
    });
}

#[test]
fn contributions_of_forks_count_after_their_element_migrated() {
    for_each_place(|runtime, at| {
        let voters = four_voters(runtime);
        let to = runtime.worker_count() - 1;
        let moved = [0, 1, 2, 3].map(|index| voters.at(index).contribute_and_move(at, to));
        assert_eq!(voters.reduction::<u32>().wait(), 4, "{at:?}");
        runtime.quiescence().wait();
        voters.all().go();
        assert_eq!(moved.map(|worker| worker.wait()), [to; 4], "{at:?}");
        assert_eq!(voters.reduction::<u32>().wait(), 4, "{at:?}");
    });
}

#[test]
fn a_constructor_may_contribute_in_a_fork() {
    for_each_place(|runtime, at| {
        let voters = runtime.sparse_array::<Voter>();
        voters.insert(7, move |cx| {
            at.run(|| cx.contribute(Sum(1_u32)));
            Voter { sum: 0 }
        });
        assert_eq!(voters.reduction::<u32>().wait(), 1, "{at:?}");
        voters.all().contribute(at);
        assert_eq!(voters.reduction::<u32>().wait(), 1, "{at:?}");
    });
}

#[test]
fn a_context_reports_the_same_in_a_fork() {
    for_each_place(|runtime, at| {
        for index in 0..4 {
            let [here, there] = four_voters(runtime).at(index).look(at).wait();
            assert_eq!(here, there, "{at:?}");
        }
        let alone = runtime.node_group(|_| Voter { sum: 3 });
        assert_eq!(alone.here().sum().wait(), 3);
    });
}

#[test]
fn a_fork_may_create_chares_and_end_the_program() {
    for_each_place(|runtime, at| {
        let made = four_voters(runtime).at(0).make(at);
        runtime.until_exit();
        assert_eq!(made.wait(), (5, 3), "{at:?}");
    });
}

#[test]
fn a_fork_that_waits_for_a_message_panics() {
    for_each_place(|runtime, at| {
        let texts = four_voters(runtime).at(0).wait_elsewhere(at).wait();
        for text in texts {
            assert!(text.contains("outside of its `async` entries"), "{text}");
        }
    });
}

#[test]
fn a_fork_that_cannot_scan_takes_part_in_no_scan() {
    for_each_place(|runtime, at| {
        let voters = four_voters(runtime);
        let first = voters.at(0).scan_elsewhere(at);
        let others = [1, 2, 3].map(|index| voters.at(index).scan_elsewhere(at));
        assert_eq!(first.wait(), 0);
        assert_eq!(others.map(|reply| reply.wait()), [1, 2, 3]);
    });
}

/// Stores the numbers that it receives.
struct Log(Vec<(usize, u32)>);

#[chare]
impl Log {
    #[entry]
    fn note(&mut self, fork: usize, number: u32) {
        self.0.push((fork, number));
    }
    #[entry]
    fn take(&mut self) -> Vec<(usize, u32)> {
        std::mem::take(&mut self.0)
    }
    /// Sends 100 messages from each of six forks, to itself or to another one.
    #[entry]
    fn send(&mut self, to: LogProxy) {
        scope(|scope| {
            for fork in 0..6 {
                scope.spawn(move || {
                    for number in 0..100 {
                        to.note(fork, number);
                        thread::yield_now();
                    }
                });
            }
        });
    }
}

// Each fork is a separate sender with regard to the order of messages.
#[test]
fn messages_of_one_fork_arrive_in_order_without_loss() {
    soon(|| {
        for workers in [1, 2, 4] {
            let runtime = runtime(workers);
            let logs = runtime.array(2, |_| Log(Vec::new()));
            for to in [0, 1] {
                logs.at(0).send(logs.at(to));
                runtime.quiescence().wait();
                let log = logs.at(to).take().wait();
                for fork in 0..6 {
                    let of_fork = log.iter().filter(|note| note.0 == fork);
                    let numbers: Vec<_> = of_fork.map(|note| note.1).collect();
                    assert!(numbers.iter().copied().eq(0..100), "{to}: {numbers:?}");
                }
                assert_eq!(log.len(), 600);
            }
        }
    });
}
