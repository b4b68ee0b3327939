//! Quiescence over several nodes is reported when no wire message and no message is under way on
//! any node, never before, and always in the end. Arrays are balanced over all nodes.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use raddle_chare::balance::{Balancing, LoadView, Strategy};
use raddle_chare::nodes::Setup;
use raddle_chare::{Array, ArrayOptions, Chares, Cx, Reply, chare};
use raddle_runtime::model::explore::{Scenario, explore_some};
use serde::{Deserialize, Serialize};

use crate::over_nodes::{Dice, SEEDS, dealt, over_nodes, place};

const COUNT: usize = 3;

/// Counters that elements of all nodes share. Elements refer to a counter by its number, because
/// they cross nodes as bytes.
///
/// The lock is the one of `std`: it is invisible to the schedules, and no thread yields while it
/// holds the lock.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Counter(usize);

static COUNTERS: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

impl Counter {
    fn with<R>(call: impl FnOnce(&mut BTreeMap<usize, usize>) -> R) -> R {
        call(&mut COUNTERS.lock().expect("nothing panics under this lock"))
    }

    fn new() -> Self {
        Self::with(|counters| {
            let number = counters.last_key_value().map_or(0, |(last, _)| last + 1);
            counters.insert(number, 0);
            Self(number)
        })
    }

    fn add(self) {
        Self::with(|counters| *counters.entry(self.0).or_default() += 1);
    }

    fn get(self) -> usize {
        Self::with(|counters| counters[&self.0])
    }
}

/// Forwards and counts messages.
#[derive(Serialize, Deserialize)]
struct Relay {
    dice: Dice,
    counter: Counter,
}

#[chare(nodes, state)]
impl Relay {
    /// Sends to both other elements with `left - 1`, and counts.
    #[entry]
    fn run(&mut self, cx: &mut Cx<Self>, left: u32) {
        if left > 0 {
            for other in 1..COUNT {
                cx.array().at((cx.index() + other) % COUNT).run(left - 1);
            }
        }
        self.counter.add();
    }

    /// Does the same and migrates to a random worker.
    #[entry]
    fn run_and_go(&mut self, cx: &mut Cx<Self>, left: u32) {
        if left > 0 {
            cx.migrate_to(self.dice.worker(cx));
            for other in 1..COUNT {
                cx.array()
                    .at((cx.index() + other) % COUNT)
                    .run_and_go(left - 1);
            }
        }
        self.counter.add();
    }

    /// Returns the count at quiescence.
    #[entry]
    async fn wait(&mut self, cx: &mut Cx<Self>) -> usize {
        cx.quiescence().await;
        self.counter.get()
    }

    /// Waits for quiescence `times` times.
    #[entry]
    async fn wait_often(&mut self, cx: &mut Cx<Self>, times: usize) {
        for _ in 0..times {
            cx.quiescence().await;
        }
    }
}

/// Creates two arrays with a common counter: one runs, the other waits.
type Relays = (Array<Relay>, Array<Relay>);

fn relays(setting: Scenario, counter: Counter) -> impl Fn(&Setup<'_>) -> Relays + Clone + Send {
    move |setup| {
        let array = || {
            setup.array_with(dealt(setup, COUNT), move |index| Relay {
                dice: Dice::new(setting, index),
                counter,
            })
        };
        (array(), array())
    }
}

#[test]
fn quiescence_is_reported_after_all_nodes_are_done() {
    explore_some(2 * SEEDS, |setting| {
        let counter = Counter::new();
        over_nodes(setting, relays(setting, counter), |runtime, (relays, _)| {
            for round in 1..=2 {
                relays.at(round).run(3);
                runtime.quiescence().wait();
                assert_eq!(counter.get(), 15 * round);
            }
            runtime.quiescence().wait();
        });
    });
}

#[test]
fn migrating_elements_prevent_quiescence() {
    explore_some(SEEDS, |setting| {
        let counter = Counter::new();
        over_nodes(setting, relays(setting, counter), |runtime, (relays, _)| {
            relays.at(1).run_and_go(2);
            runtime.quiescence().wait();
            assert_eq!(counter.get(), 7);
        });
    });
}

#[test]
fn quiescence_is_reported_on_all_nodes() {
    explore_some(SEEDS, |setting| {
        let counter = Counter::new();
        over_nodes(
            setting,
            relays(setting, counter),
            |runtime, (relays, waiting)| {
                relays.at(0).run(2);
                let replies = [0, 1, 2].map(|at| waiting.at(at).wait());
                runtime.quiescence().wait();
                assert_eq!(counter.get(), 7);
                assert_eq!(replies.map(Reply::wait), [7; 3]);
            },
        );
    });
}

#[test]
fn a_new_wait_is_not_ended_by_earlier_quiescence() {
    explore_some(SEEDS, |setting| {
        let counter = Counter::new();
        over_nodes(
            setting,
            relays(setting, counter),
            |runtime, (relays, waiting)| {
                waiting.at(1).wait_often(6);
                for round in 1..=3 {
                    relays.at(round % COUNT).run(1);
                    runtime.quiescence().wait();
                    assert_eq!(counter.get(), 3 * round);
                }
            },
        );
    });
}

/// Migrates to the worker that the strategy chooses.
#[derive(Serialize, Deserialize)]
struct Load {
    turns: u32,
    received: u32,
}

#[chare(nodes, state)]
impl Load {
    /// Reaches the balancing point.
    #[entry]
    fn turn(&mut self, cx: &mut Cx<Self>) {
        self.turns += 1;
        drop(cx.balance());
    }

    #[entry]
    fn receive(&mut self, number: u32) {
        assert_eq!(self.received, number);
        self.received += 1;
    }

    #[entry]
    fn story(&self, cx: &mut Cx<Self>) -> (usize, u32, u32) {
        (place(cx), self.turns, self.received)
    }
}

/// Deals elements to the workers round robin. Each balancing begins with the next worker.
struct Deal;

impl Strategy for Deal {
    fn name(&self) -> &'static str {
        "deal"
    }

    fn place(&self, view: &LoadView) -> Vec<usize> {
        let first = view.elements[0].worker + 1;
        let deal = |at| (first + at) % view.worker_count;
        (0..view.elements.len()).map(deal).collect()
    }

    fn gain(&self, _view: &LoadView, _placed: &[usize]) -> Duration {
        Duration::from_secs(1_000_000)
    }
}

#[test]
fn elements_migrate_to_the_workers_chosen_by_the_strategy() {
    explore_some(SEEDS, |setting| {
        let loads = |setup: &Setup<'_>| {
            let options = ArrayOptions::new(COUNT).placed(|_| 0);
            let loads = setup.array_with(options.balanced(Balancing::new(Deal)), |_| Load {
                turns: 0,
                received: 0,
            });
            let workers = setup.runtime().worker_count() * setup.node_count();
            (loads, workers)
        };
        over_nodes(setting, loads, |runtime, (loads, workers)| {
            for turn in 1..=2_usize {
                loads.all().turn();
                for at in 0..COUNT {
                    loads.at(at).receive(2 * (turn as u32 - 1));
                    loads.at(at).receive(2 * turn as u32 - 1);
                }
                runtime.quiescence().wait();
                for at in 0..COUNT {
                    let (turns, received) = (turn as u32, 2 * turn as u32);
                    let expected = ((turn + at) % workers, turns, received);
                    assert_eq!(loads.at(at).story().wait(), expected);
                }
            }
        });
    });
}
