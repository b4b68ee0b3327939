//! Elements that are always on the way from node to node, or say that they go and stay where they are, while workers and threads of all kinds send to them.

use raddle_chare::model::Nodes;
use raddle_chare::nodes::{Progress, Setup};
use raddle_chare::{Array, ArrayOptions, Chares, Cx, chare};
use raddle_runtime::model::explore::{Setting, beside, explore_some};
use serde::{Deserialize, Serialize};

use crate::over_nodes::{Dice, SEEDS, dealt, nodes_of, over};

/// Who wander.
const COUNT: usize = 2;
/// Who cry: one on each worker, of up to four. Two threads outside are senders too.
const CRIERS: usize = 4;
const OUTSIDE: usize = COUNT + CRIERS;
const SENDERS: usize = OUTSIDE + 2;

/// Hears numbered messages, sees to it that those of each sender come in order, and goes on and on.
#[derive(Serialize, Deserialize)]
struct Wanderer {
    dice: Dice,
    next: Vec<u32>,
    sent: u32,
}

#[chare(nodes, state)]
impl Wanderer {
    /// Goes somewhere, or stays, `left` times.
    #[entry]
    fn wander(&mut self, cx: &mut Cx<Self>, left: u32) {
        cx.migrate_to(self.dice.worker(cx));
        if left > 1 {
            cx.this().wander(left - 1);
        }
    }

    /// Sends several messages to each before it goes.
    #[entry]
    fn wander_and_tell(&mut self, cx: &mut Cx<Self>, left: u32) {
        for _ in 0..4 {
            for to in 0..COUNT {
                cx.array().at(to).hear(cx.index(), self.sent);
            }
            self.sent += 1;
        }
        cx.migrate_to(self.dice.worker(cx));
        if left > 1 {
            cx.this().wander_and_tell(left - 1);
        }
    }

    /// Sends to the first, and goes from the second node to the first, or back.
    #[entry]
    fn tell_and_go(&mut self, cx: &mut Cx<Self>, left: u32) {
        for _ in 0..4 {
            cx.array().at(0).hear(cx.index(), self.sent);
            self.sent += 1;
        }
        cx.migrate_to(1 - cx.node());
        if left > 1 {
            cx.this().tell_and_go(left - 1);
        }
    }

    #[entry]
    fn hear(&mut self, from: usize, number: u32) {
        assert_eq!(self.next[from], number, "from {from}");
        self.next[from] += 1;
    }

    #[entry]
    fn next(&self) -> Vec<u32> {
        self.next.clone()
    }
}

/// Sends to those who wander, and stays.
struct Crier {
    wanderers: Array<Wanderer>,
    sent: u32,
}

#[chare(nodes)]
impl Crier {
    #[entry]
    fn cry(&mut self, cx: &mut Cx<Self>, left: u32) {
        for to in 0..COUNT {
            self.wanderers.at(to).hear(COUNT + cx.index(), self.sent);
        }
        self.sent += 1;
        if left > 1 {
            cx.this().cry(left - 1);
        }
    }
}

type Criers = (Array<Wanderer>, Array<Crier>);

fn criers(setting: Setting) -> impl Fn(&Setup<'_>) -> Criers + Clone + Send + 'static {
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

/// Two nodes, on which workers may be slow while others receive.
fn two(setting: Setting) -> Nodes {
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

fn have_heard(wanderers: Array<Wanderer>, expected: [u32; SENDERS]) {
    for at in 0..COUNT {
        assert_eq!(wanderers.at(at).next().wait(), expected);
    }
}

/// Whatever is late for a batch of moves is not taken for a part of the next. (A marker that is late, at a node that no element left after all, was counted for the next once, which programs
/// on real cores found; no schedule makes one so late.)
#[test]
fn who_sends_all_the_time_is_heard_in_order() {
    explore_some(2 * SEEDS, |setting| {
        over(
            two(setting),
            setting,
            criers(setting),
            |runtime, (wanderers, criers)| {
                wanderers.all().wander(8);
                criers.all().cry(12);
                runtime.quiescence().wait();
                have_heard(wanderers, [0, 0, 12, 12, 12, 12, 0, 0]);
            },
        );
    });
}

#[test]
fn who_sends_on_the_way_is_heard_in_order() {
    explore_some(2 * SEEDS, |setting| {
        over(
            two(setting),
            setting,
            criers(setting),
            |runtime, (wanderers, _)| {
                wanderers.all().wander_and_tell(4);
                runtime.quiescence().wait();
                have_heard(wanderers, [16, 16, 0, 0, 0, 0, 0, 0]);
            },
        );
    });
}

/// A thread that is no worker finds where an element is, and its letter goes when that may have changed: the more so when it waits for another's that has
/// no room.
#[test]
fn threads_outside_of_all_workers_are_heard_in_order() {
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
                            wanderers.at(to).hear(from, number);
                        }
                    }
                };
                wanderers.all().wander(8);
                beside(move || send(OUTSIDE), || send(OUTSIDE + 1));
                runtime.quiescence().wait();
                have_heard(wanderers, [0, 0, 0, 0, 0, 0, 12, 12]);
            },
        );
    });
}

/// What an element has sent from where it was may still be on its way, to a node that has nothing else to do with its move, when it sends from elsewhere. (Without the question and answer
/// that see to this no schedule has failed yet.)
#[test]
fn who_goes_on_does_not_overtake_what_it_has_sent() {
    explore_some(2 * SEEDS, |setting| {
        let nodes = Nodes {
            nodes: 3,
            workers: 1,
            capacity: 32,
            // The worker of the second node: between those of a port 0 and of the threads outside.
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
