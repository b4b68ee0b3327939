//! Programs on several nodes, all in one schedule: elements migrate between nodes while they
//! receive questions and broadcasts and end. No message is lost or duplicated, and the messages of
//! each sender keep their order. [`crate::over_nodes_wander`] tests messages to elements that
//! migrate all the time.

use raddle_chare::model::{self, Nodes};
use raddle_chare::nodes::{Progress, Setup};
use raddle_chare::{Array, ArrayOptions, Chares, Cx, Reply, chare};
use raddle_runtime::Runtime;
use raddle_runtime::model::explore::{Scenario, explore_some};
use serde::{Deserialize, Serialize};

/// The number of seeds of a test.
pub(crate) const SEEDS: usize = 24;
const COUNT: usize = 3;

/// Returns two or three nodes of one or two workers. The seed chooses the progress mode of each
/// node.
pub(crate) fn nodes_of(setting: Scenario) -> Nodes {
    Nodes {
        nodes: setting.one_of(&[2, 3]),
        workers: setting.worker_count.min(2),
        progress: setting.one_of(&Progress::ALL),
        capacity: setting.one_of(&[1, 2, 4, 32, 32]),
        slow: setting.one_of(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
    }
}

/// Runs a program on the nodes of a setting.
pub(crate) fn over_nodes<S, R>(
    setting: Scenario,
    setup: impl Fn(&Setup<'_>) -> S + Clone + Send + 'static,
    main: impl FnOnce(&Runtime, S) -> R,
) -> R {
    over(nodes_of(setting), setting, setup, main)
}

/// Runs a program on nodes that the test chooses.
pub(crate) fn over<S, R>(
    nodes: Nodes,
    setting: Scenario,
    setup: impl Fn(&Setup<'_>) -> S + Clone + Send + 'static,
    main: impl FnOnce(&Runtime, S) -> R,
) -> R {
    let build =
        move |network| crate::with_policy(&setting, setting.runtime_on(nodes.workers, network));
    model::over_nodes(nodes, build, setup, main)
}

/// Returns the options of an array with elements that are dealt to the workers of all nodes.
pub(crate) fn dealt(setup: &Setup<'_>, count: usize) -> ArrayOptions<usize> {
    let workers = setup.node_count() * setup.runtime().worker_count();
    ArrayOptions::new(count).placed(move |index| index % workers)
}

/// Returns the number of the worker of an element, counted over all nodes.
pub(crate) fn place<T: raddle_chare::Chare>(cx: &Cx<T>) -> usize {
    cx.node() * cx.worker_count() + cx.worker()
}

/// A random number generator that migrates with its element.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Dice(u64);

impl Dice {
    /// Creates a generator with a different sequence for each setting and element.
    pub(crate) fn new(setting: Scenario, index: usize) -> Self {
        let numbers: [u64; 29] = std::array::from_fn(|number| number as u64);
        let number = setting.one_of(&numbers) * 64 + index as u64 + 1;
        Self(number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Chooses one of the workers of all nodes.
    pub(crate) fn worker<T: raddle_chare::Chare>(&mut self, cx: &Cx<T>) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % (cx.worker_count() * cx.node_count())
    }
}

/// Receives numbered messages and checks that they arrive in order.
#[derive(Serialize, Deserialize)]
struct Walker {
    dice: Dice,
    /// The number of the next message of each sender: the elements, and all outside threads as one
    /// more sender.
    next: Vec<u32>,
    /// The number of broadcasts of each sender. Their numbers are part of the same sequence.
    called: Vec<u32>,
    sent: u32,
}

#[chare(nodes, state)]
impl Walker {
    /// Sends to all elements and migrates to a random worker, `left` times.
    #[entry]
    fn walk(&mut self, cx: &mut Cx<Self>, left: u32) {
        for to in 0..COUNT {
            cx.array().at(to).receive(cx.index(), self.sent);
        }
        self.sent += 1;
        cx.migrate_to(self.dice.worker(cx));
        if left > 1 {
            cx.this().walk(left - 1);
        }
    }

    /// Sends a broadcast between two messages to each element, then migrates, `left` times.
    #[entry]
    fn call_all(&mut self, cx: &mut Cx<Self>, left: u32) {
        for to in 0..COUNT {
            cx.array().at(to).receive(cx.index(), self.sent);
        }
        cx.all().call(cx.index(), self.sent + 1);
        self.sent += 2;
        cx.migrate_to(self.dice.worker(cx));
        if left > 1 {
            cx.this().call_all(left - 1);
        }
    }

    #[entry]
    fn receive(&mut self, from: usize, number: u32) {
        assert_eq!(self.next[from], number, "from {from}");
        self.next[from] += 1;
    }

    #[entry]
    fn call(&mut self, from: usize, number: u32) {
        assert_eq!(self.next[from], number, "to all from {from}");
        self.next[from] += 1;
        self.called[from] += 1;
    }

    #[entry]
    fn go(&mut self, cx: &mut Cx<Self>, worker: usize) {
        cx.migrate_to(worker % (cx.worker_count() * cx.node_count()));
    }

    /// Replies and migrates.
    #[entry]
    fn double(&mut self, cx: &mut Cx<Self>, number: u32) -> u32 {
        cx.migrate_to(self.dice.worker(cx));
        2 * number
    }

    /// Asks all other elements one after the other and migrates after their replies. The other
    /// elements ask no questions meanwhile.
    #[entry]
    async fn ask(&mut self, cx: &mut Cx<Self>, number: u32) -> u32 {
        let mut sum = 0;
        for to in (0..COUNT).filter(|&to| to != cx.index()) {
            sum += cx.array().at(to).double(number).await;
        }
        cx.migrate_to(self.dice.worker(cx));
        sum
    }

    /// Asks one element and migrates. Replies 0 if that element has ended.
    #[entry]
    async fn ask_one(&mut self, cx: &mut Cx<Self>, to: usize) -> u32 {
        let doubled = match cx.array().get(to) {
            Some(other) => other.double(1).outcome().await.unwrap_or(0),
            None => 0,
        };
        cx.migrate_to(self.dice.worker(cx));
        doubled
    }

    #[entry]
    fn place(&self, cx: &mut Cx<Self>) -> usize {
        place(cx)
    }

    #[entry]
    fn story(&self) -> (Vec<u32>, Vec<u32>) {
        (self.next.clone(), self.called.clone())
    }

    #[entry]
    fn leave(&mut self, cx: &mut Cx<Self>) {
        cx.end();
    }
}

fn walkers(setting: Scenario) -> impl Fn(&Setup<'_>) -> Array<Walker> + Clone + Send + 'static {
    move |setup| {
        setup.array_with(dealt(setup, COUNT), move |index| Walker {
            dice: Dice::new(setting, index),
            next: vec![0; COUNT + 1],
            called: vec![0; COUNT + 1],
            sent: 0,
        })
    }
}

fn stories(walkers: Array<Walker>) -> Vec<(Vec<u32>, Vec<u32>)> {
    let stories = (0..COUNT).map(|at| walkers.at(at).story().wait());
    stories.collect()
}

#[test]
fn messages_of_each_sender_arrive_in_order_at_migrating_elements() {
    explore_some(SEEDS, |setting| {
        over_nodes(setting, walkers(setting), |runtime, walkers| {
            walkers.all().walk(3);
            for number in 0..4 {
                for to in 0..COUNT {
                    walkers.at(to).receive(COUNT, number);
                }
            }
            runtime.quiescence().wait();
            for (next, _) in stories(walkers) {
                assert_eq!(next, [3, 3, 3, 4]);
            }
        });
    });
}

#[test]
fn broadcasts_arrive_once_and_in_order_at_migrating_elements() {
    explore_some(SEEDS, |setting| {
        over_nodes(setting, walkers(setting), |runtime, walkers| {
            walkers.at(1).call_all(2);
            walkers.at(0).walk(2);
            for number in 0..3 {
                walkers.all().call(COUNT, 2 * number);
                for to in 0..COUNT {
                    walkers.at(to).receive(COUNT, 2 * number + 1);
                }
            }
            walkers.at(2).go(0);
            runtime.quiescence().wait();
            for (next, called) in stories(walkers) {
                assert_eq!(next, [2, 4, 0, 6]);
                assert_eq!(called, [0, 2, 0, 3]);
            }
        });
    });
}

#[test]
fn replies_arrive_and_asynchronous_entries_end_before_their_element_migrates() {
    explore_some(SEEDS, |setting| {
        over_nodes(setting, walkers(setting), |_, walkers| {
            let asked = [1, 2].map(|number| walkers.at(0).ask(number));
            let doubled = [2, 1].map(|at| walkers.at(at).double(10));
            assert_eq!(asked.map(Reply::wait), [4, 8]);
            assert_eq!(doubled.map(Reply::wait), [20, 20]);
        });
    });
}

// Questions that arrive after the end fail. All other elements continue.
#[test]
fn an_element_may_end_while_it_migrates_and_receives_questions() {
    explore_some(SEEDS, |setting| {
        over_nodes(setting, walkers(setting), |runtime, walkers| {
            let ending = walkers.at(1);
            let before = ending.double(1);
            let asked = walkers.at(0).ask_one(1);
            ending.go(3);
            walkers.at(2).go(0);
            ending.leave();
            let after = ending.double(2).try_wait();
            assert_eq!(before.wait(), 2);
            let after = after.expect_err("it has ended").to_string();
            assert!(after.contains("Walker[1]"), "{after}");
            let asked = asked.wait();
            assert!(asked == 2 || asked == 0, "{asked}");
            runtime.quiescence().wait();
            assert_eq!([0, 2].map(|at| walkers.at(at).double(3).wait()), [6, 6]);
        });
    });
}

#[test]
fn arrays_may_be_destroyed_while_elements_migrate() {
    explore_some(SEEDS, |setting| {
        let both = move |setup: &Setup<'_>| (walkers(setting)(setup), walkers(setting)(setup));
        over_nodes(setting, both, |runtime, (walkers, doomed)| {
            let going = [0, 1, 2].map(|at| {
                walkers.at(at).go(at + 1);
                doomed.at(at).double(1)
            });
            let _ = going.map(Reply::wait);
            doomed.destroy();
            walkers.at(0).go(0);
            runtime.quiescence().wait();
            assert_eq!(walkers.at(0).place().wait(), 0);
            assert_eq!(stories(walkers).len(), COUNT);
        });
    });
}

/// An element of an array that exists on its own node only.
struct Local {
    moves: u32,
}

#[chare]
impl Local {
    #[entry]
    fn go_round(&mut self, cx: &mut Cx<Self>, left: u32) {
        self.moves += 1;
        cx.migrate_to((cx.worker() + 1) % cx.worker_count());
        if left > 1 {
            cx.this().go_round(left - 1);
        }
    }

    #[entry]
    fn moves(&self) -> u32 {
        self.moves
    }
}

#[test]
fn arrays_of_one_node_migrate_beside_arrays_of_all_nodes() {
    explore_some(SEEDS, |setting| {
        over_nodes(setting, walkers(setting), |runtime, walkers| {
            let own = runtime.array(2, |_| Local { moves: 0 });
            own.all().go_round(2);
            walkers.all().walk(2);
            runtime.quiescence().wait();
            for at in 0..2 {
                assert_eq!(own.at(at).moves().wait(), 2);
            }
            for (next, _) in stories(walkers) {
                assert_eq!(next, [2, 2, 2, 0]);
            }
        });
    });
}
