//! Quiescence is reported when no message is under way any more, never before, and always in the
//! end.

use std::sync::Arc;

use raddle_chare::{Array, ArrayOptions, Chares, Cx, NodeGroup, chare, model};
use raddle_runtime::Runtime;
use raddle_runtime::model::explore::{beside, explore_some};
use raddle_sync::prim::{AtomicUsize, SeqCst, yield_now};

/// The number of processed messages.
type Done = Arc<AtomicUsize>;

/// Passes work on to other elements.
struct Runner {
    nodes: NodeGroup<Counter>,
}

/// Counts its messages.
struct Counter;

#[chare]
impl Counter {
    #[entry]
    fn count(&mut self, done: Done) {
        done.fetch_add(1, SeqCst);
    }

    /// Lets other threads run first.
    #[entry]
    fn count_slowly(&mut self, done: Done) {
        yield_now();
        done.fetch_add(1, SeqCst);
    }

    /// Makes the two other elements count one after the other, then counts one.
    #[entry]
    fn scatter(&self, cx: &mut Cx<Self>, count: usize, done: Done) {
        for number in 0..count {
            let other = cx.array().at(1 + number % 2);
            other.count(Arc::clone(&done));
        }
        done.fetch_add(1, SeqCst);
    }

    /// Returns the count at quiescence.
    #[entry]
    async fn wait(&self, cx: &mut Cx<Self>, done: Done) -> usize {
        cx.quiescence().await;
        done.load(SeqCst)
    }
}

#[chare]
impl Runner {
    /// Counts one and makes the next element count `left`, in all available ways of sending.
    #[entry]
    fn run(&self, cx: &mut Cx<Self>, left: usize, done: Done) {
        let (array, next) = (cx.array(), 1 - cx.index() % 2);
        match left {
            0 => {}
            1 => cx.chare(|_| Counter).count(Arc::clone(&done)),
            2 => self.nodes.here().count(Arc::clone(&done)),
            3 => {
                let nodes = self.nodes;
                array.insert_on(0, 2, move |_| Self { nodes });
                array.at(2).run(0, Arc::clone(&done));
            }
            4 => {
                cx.migrate_to((cx.worker() + 1) % cx.worker_count());
                let to_self = cx.this().with_priority(1);
                to_self.run(0, Arc::clone(&done));
            }
            _ => array.all().run(0, Arc::clone(&done)),
        }
        if left > 0 {
            array.at(next).run(left - 1, Arc::clone(&done));
        }
        done.fetch_add(1, SeqCst);
    }
}

/// Creates two elements of an array that has space for a third.
fn runners(runtime: &Runtime) -> Array<Runner> {
    let workers = runtime.worker_count();
    let nodes = runtime.node_group(|_| Counter);
    let placed = ArrayOptions::new(3).placed(move |index| index % workers);
    let array = runtime.array_with(placed, move |_| Runner { nodes });
    array.remove(2);
    runtime.quiescence().wait();
    array
}

#[test]
fn quiescence_is_reported_after_all_work_is_done() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let runners = runners(&runtime);
        let done = Done::default();
        runners.at(0).run(4, Arc::clone(&done));
        runtime.quiescence().wait();
        assert_eq!(done.load(SeqCst), 9);
        runtime.quiescence().wait();
    });
}

#[test]
fn each_thread_receives_its_own_quiescence() {
    explore_some(96, |setting| {
        let runtime = Arc::new(crate::runtime(&setting));
        let runners = runners(&runtime);
        let wait = move |runtime: &Runtime, index: usize| {
            let done = Done::default();
            runners.at(index).run(2, Arc::clone(&done));
            runtime.quiescence().wait();
            assert_eq!(done.load(SeqCst), 5);
        };
        let other = Arc::clone(&runtime);
        beside(move || wait(&other, 0), || wait(&runtime, 1));
    });
}

#[test]
fn entries_that_wait_for_quiescence_do_not_prevent_it() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let runners = runners(&runtime);
        let waiting = runtime.array(2, |_| Counter);
        let done = Done::default();
        runners.at(0).run(2, Arc::clone(&done));
        let replies = [0, 1].map(|index| waiting.at(index).wait(Arc::clone(&done)));
        runtime.quiescence().wait();
        assert_eq!(done.load(SeqCst), 5);
        for reply in replies {
            assert_eq!(reply.wait(), 5);
        }
    });
}

// The worker that detects quiescence reports it to the waits that began before, not to later ones.
#[test]
fn a_new_wait_is_not_ended_by_earlier_quiescence() {
    explore_some(192, |setting| {
        let runtime = Arc::new(crate::runtime(&setting));
        let counters = runtime.array(1, |_| Counter);
        let other = Arc::clone(&runtime);
        let wait_often = move || {
            for _ in 0..8 {
                other.quiescence().wait();
            }
        };
        let wait = || {
            for _ in 0..4 {
                let done = Done::default();
                counters.at(0).count_slowly(Arc::clone(&done));
                runtime.quiescence().wait();
                assert_eq!(done.load(SeqCst), 1);
            }
        };
        beside(wait_often, wait);
    });
}

// While an entry sends messages, other elements already process them. A worker that adds up the
// counters meanwhile must not find the two sums equal.
#[test]
fn an_entry_that_sends_many_messages_prevents_quiescence() {
    explore_some(96, |setting| {
        let mut setting = setting;
        setting.worker_count = 3;
        let runtime = crate::runtime(&setting);
        let counters = runtime.array(3, |_| Counter);
        let done = Done::default();
        counters.at(0).scatter(12, Arc::clone(&done));
        for _ in 0..50 {
            if model::is_quiet(&runtime) {
                assert_eq!(done.load(SeqCst), 13);
            }
        }
        runtime.quiescence().wait();
        assert_eq!(done.load(SeqCst), 13);
    });
}

#[test]
fn a_broadcast_is_under_way_until_all_elements_have_received_it() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let runners = runners(&runtime);
        let done = Done::default();
        let other = Arc::clone(&done);
        let run = move || runners.all().run(0, other);
        beside(run, || runners.at(0).run(3, Arc::clone(&done)));
        runtime.quiescence().wait();
        assert!([9, 10].contains(&done.load(SeqCst)));
    });
}

// Regression: the first message to a node group was in the queue before it was counted as sent.
// The sender of a second message therefore found quiescence.
#[test]
fn messages_that_wait_for_a_node_group_are_under_way() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let nodes = runtime.node_group(|_| Counter);
        let done = Done::default();
        let other = Arc::clone(&done);
        let wait = || {
            let own = Done::default();
            nodes.here().count(Arc::clone(&own));
            runtime.quiescence().wait();
            assert_eq!(own.load(SeqCst), 1);
        };
        beside(move || nodes.here().count(other), wait);
        runtime.quiescence().wait();
        assert_eq!(done.load(SeqCst), 1);
    });
}

// Regression: a worker that had processed a message left the check for quiescence to the next
// message, which did not belong to a chare and did not check.
#[test]
fn messages_of_other_clients_do_not_hide_quiescence() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let (runners, post) = (runners(&runtime), runtime.post());
        let done = Done::default();
        let send = move || {
            for worker in 0..post.worker_count() {
                post.send(worker, || {});
            }
        };
        let wait = || {
            runners.at(0).run(2, Arc::clone(&done));
            runtime.quiescence().wait();
            assert_eq!(done.load(SeqCst), 5);
        };
        beside(send, wait);
    });
}
