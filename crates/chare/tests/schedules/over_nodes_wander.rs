//! Elements that migrate between nodes all the time, or request a migration to their own place,
//! while workers and threads of all kinds send to them.

use raddle_chare::model::Nodes;
use raddle_chare::nodes::{Progress, Setup};
use raddle_chare::{Array, ArrayOptions, Chares, Cx, chare};
use raddle_runtime::model::explore::{Scenario, beside, explore_some};
use serde::{Deserialize, Serialize};

use crate::over_nodes::{Dice, SEEDS, dealt, nodes_of, over};

/// The number of elements that wander.
const COUNT: usize = 2;
/// The number of elements that only send: one on each of up to four workers. Two outside threads
/// send as well.
const CRIERS: usize = 4;
const OUTSIDE: usize = COUNT + CRIERS;
const SENDERS: usize = OUTSIDE + 2;

/// Receives numbered messages, checks that those of each sender arrive in order, and migrates all
/// the time.
#[derive(Serialize, Deserialize)]
struct Wanderer {
    dice: Dice,
    next: Vec<u32>,
    sent: u32,
}

#[chare(nodes, state)]
impl Wanderer {
    /// Migrates to a random worker or stays, `left` times.
    #[entry]
    fn wander(&mut self, cx: &mut Cx<Self>, left: u32) {
        cx.migrate_to(self.dice.worker(cx));
        if left > 1 {
            cx.this().wander(left - 1);
        }
    }

    /// Sends several messages to each element before it migrates.
    #[entry]
    fn wander_and_tell(&mut self, cx: &mut Cx<Self>, left: u32) {
        for _ in 0..4 {
            for to in 0..COUNT {
                cx.array().at(to).receive(cx.index(), self.sent);
            }
            self.sent += 1;
        }
        cx.migrate_to(self.dice.worker(cx));
        if left > 1 {
            cx.this().wander_and_tell(left - 1);
        }
    }

    /// Sends to the first element, and migrates from the second node to the first or back.
    #[entry]
    fn tell_and_go(&mut self, cx: &mut Cx<Self>, left: u32) {
        for _ in 0..4 {
            cx.array().at(0).receive(cx.index(), self.sent);
            self.sent += 1;
        }
        cx.migrate_to(1 - cx.node());
        if left > 1 {
            cx.this().tell_and_go(left - 1);
        }
    }

    #[entry]
    fn receive(&mut self, from: usize, number: u32) {
        assert_eq!(self.next[from], number, "from {from}");
        self.next[from] += 1;
    }

    #[entry]
    fn next(&self) -> Vec<u32> {
        self.next.clone()
    }
}

/// Sends to the wandering elements and never migrates.
struct Crier {
    wanderers: Array<Wanderer>,
    sent: u32,
}

#[chare(nodes)]
impl Crier {
    #[entry]
    fn cry(&mut self, cx: &mut Cx<Self>, left: u32) {
        for to in 0..COUNT {
            self.wanderers.at(to).receive(COUNT + cx.index(), self.sent);
        }
        self.sent += 1;
        if left > 1 {
            cx.this().cry(left - 1);
        }
    }
}

type Criers = (Array<Wanderer>, Array<Crier>);

fn criers(setting: Scenario) -> impl Fn(&Setup<'_>) -> Criers + Clone + Send + 'static {
    move |setup| {
        let wanderers = setup.array_with(dealt(setup, COUNT), move |index| Wanderer {
            dice: Dice::new(setting, index),
            next: vec![0; SENDERS],
            sent: 0,
        });
        let crier = move |_| Crier { wanderers, sent: 0 };
        (wanderers, setup.array_with(dealt(setup, CRIERS), crier))
    }
}

/// Returns two nodes with workers that may be slow while other threads receive.
fn two(setting: Scenario) -> Nodes {
    let nodes = nodes_of(setting);
    let progress = match nodes.workers {
        1 => Progress::Thread,
        _ => nodes.progress,
    };
    Nodes {
        nodes: 2,
        progress,
        ..nodes
    }
}

fn check_received(wanderers: Array<Wanderer>, expected: [u32; SENDERS]) {
    for at in 0..COUNT {
        assert_eq!(wanderers.at(at).next().wait(), expected);
    }
}

// A late message of one batch of migrations is not mistaken for a part of the next batch.
// (Regression: a late marker, on a node that no element left in the end, was counted for the next
// batch. Programs on real cores found this bug. No schedule delays a marker that long.)
#[test]
fn messages_of_continuous_senders_arrive_in_order() {
    explore_some(2 * SEEDS, |setting| {
        over(
            two(setting),
            setting,
            criers(setting),
            |runtime, (wanderers, criers)| {
                wanderers.all().wander(8);
                criers.all().cry(12);
                runtime.quiescence().wait();
                check_received(wanderers, [0, 0, 12, 12, 12, 12, 0, 0]);
            },
        );
    });
}

#[test]
fn messages_of_migrating_senders_arrive_in_order() {
    explore_some(2 * SEEDS, |setting| {
        over(
            two(setting),
            setting,
            criers(setting),
            |runtime, (wanderers, _)| {
                wanderers.all().wander_and_tell(4);
                runtime.quiescence().wait();
                check_received(wanderers, [16, 16, 0, 0, 0, 0, 0, 0]);
            },
        );
    });
}

// A thread that is not a worker looks up the place of an element, which may have changed when its
// wire message is sent. This is more likely if the thread waits for another wire message that does
// not fit into the buffer.
#[test]
fn messages_of_outside_threads_arrive_in_order() {
    explore_some(2 * SEEDS, |setting| {
        let nodes = Nodes {
            capacity: 1,
            ..two(setting)
        };
        over(
            nodes,
            setting,
            criers(setting),
            |runtime, (wanderers, _)| {
                let send = move |from: usize| {
                    for number in 0..12 {
                        for to in 0..COUNT {
                            wanderers.at(to).receive(from, number);
                        }
                    }
                };
                wanderers.all().wander(8);
                beside(move || send(OUTSIDE), || send(OUTSIDE + 1));
                runtime.quiescence().wait();
                check_received(wanderers, [0, 0, 0, 0, 0, 0, 12, 12]);
            },
        );
    });
}

// Messages that an element sent from its old place may still be under way when it sends from its
// new place. Their receiver may be on a node that is not involved in the migration. (Without the
// question and answer that preserve the order, no schedule has failed yet.)
#[test]
fn a_migrating_element_does_not_overtake_its_own_messages() {
    explore_some(2 * SEEDS, |setting| {
        let nodes = Nodes {
            nodes: 3,
            workers: 1,
            capacity: 32,
            // The worker of the second node: its port is between those of port 0 and of the outside
            // threads.
            slow: 4,
            ..nodes_of(setting)
        };
        let walk = move |setup: &Setup<'_>| {
            let placed = ArrayOptions::new(COUNT).placed(|index| 2 - index);
            setup.array_with(placed, move |index| Wanderer {
                dice: Dice::new(setting, index),
                next: vec![0; SENDERS],
                sent: 0,
            })
        };
        over(nodes, setting, walk, |runtime, wanderers| {
            wanderers.at(1).tell_and_go(4);
            runtime.quiescence().wait();
            assert_eq!(wanderers.at(0).next().wait()[1], 16);
        });
    });
}
