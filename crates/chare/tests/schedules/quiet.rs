//! Quiescence: it is told when nothing is under way any more, never before, and always in the end.

use std::sync::Arc;

use raddle_chare::{Array, ArrayOptions, Chares, Cx, NodeGroup, chare, model};
use raddle_runtime::Runtime;
use raddle_runtime::model::explore::{beside, explore_some};
use raddle_sync::prim::{AtomicUsize, SeqCst, yield_now};

/// Counts what has been done.
type Done = Arc<AtomicUsize>;

/// Passes work on.
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

    /// Lets others come before.
    #[entry]
    fn count_slowly(&mut self, done: Done) {
        yield_now();
        done.fetch_add(1, SeqCst);
    }

    /// Has the two others count one after the other, then counts one.
    #[entry]
    fn scatter(&self, cx: &mut Cx<Self>, count: usize, done: Done) {
        for number in 0..count {
            let other = cx.array().at(1 + number % 2);
            other.count(Arc::clone(&done));
        }
        done.fetch_add(1, SeqCst);
    }

    /// Says how many have been counted when all is quiet.
    #[entry]
    async fn wait(&self, cx: &mut Cx<Self>, done: Done) -> usize {
        cx.quiescence().await;
        done.load(SeqCst)
    }
}

#[chare]
impl Runner {
    /// Counts one, and has the next one count `left`, itself with the most of ways.
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

/// Two, of an array with room for a third.
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
fn all_is_done_when_it_is_told() {
    explore_some(96, |setting| {
        let runtime = setting.runtime();
        let runners = runners(&runtime);
        let done = Done::default();
        runners.at(0).run(4, Arc::clone(&done));
        runtime.quiescence().wait();
        assert_eq!(done.load(SeqCst), 9);
        runtime.quiescence().wait();
    });
}

#[test]
fn each_thread_is_told_of_its_own() {
    explore_some(96, |setting| {
        let runtime = Arc::new(setting.runtime());
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
fn what_waits_for_it_is_quiet() {
    explore_some(96, |setting| {
        let runtime = setting.runtime();
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

/// Who finds that all is quiet tells those who have waited then, and nobody who began after it.
#[test]
fn who_begins_to_wait_is_not_told_of_what_was_before() {
    explore_some(192, |setting| {
        let runtime = Arc::new(setting.runtime());
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

/// While one entry sends, others are done with what it has sent: whoever adds up meanwhile must not take the two for equal.
#[test]
fn an_entry_that_sends_much_is_not_quiet() {
    explore_some(96, |setting| {
        let mut setting = setting;
        setting.worker_count = 3;
        let runtime = setting.runtime();
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
fn a_message_to_all_is_under_way_until_all_have_it() {
    explore_some(96, |setting| {
        let runtime = setting.runtime();
        let runners = runners(&runtime);
        let done = Done::default();
        let other = Arc::clone(&done);
        let run = move || runners.all().run(0, other);
        beside(run, || runners.at(0).run(3, Arc::clone(&done)));
        runtime.quiescence().wait();
        assert!([9, 10].contains(&done.load(SeqCst)));
    });
}

/// A node group's first message was in its queue before it counted as sent: for who sent the second, all was quiet.
#[test]
fn what_waits_for_a_node_group_is_under_way() {
    explore_some(96, |setting| {
        let runtime = setting.runtime();
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

/// Whoever was done with a message left the look to the next one, which was none of ours.
#[test]
fn messages_that_are_not_of_chares_do_not_hide_it() {
    explore_some(96, |setting| {
        let runtime = setting.runtime();
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
