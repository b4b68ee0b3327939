//! Load balancing of arrays over several nodes, which uses all workers of all nodes.

use std::time::Duration;

use raddle_chare::balance::{Balancing, Greedy, LoadView, Strategy};
use raddle_chare::nodes::Setup;
use raddle_chare::reduce::Sum;
use raddle_chare::{Array, ArrayOptions, Chares, Cx, chare};
use raddle_net::TransportKind;
use serde::{Deserialize, Serialize};

use crate::job;

const COUNT: usize = 12;

/// An element with some work to do.
#[derive(Serialize, Deserialize)]
struct Load {
    turns: u32,
}

fn work(rounds: u64) -> u64 {
    std::hint::black_box((0..rounds).fold(1, |hash: u64, index| (hash ^ index).wrapping_mul(31)))
}

#[chare(nodes, state)]
impl Load {
    /// Reaches the balancing point without waiting there.
    #[entry]
    fn turn(&mut self, cx: &mut Cx<Self>) {
        self.turns += 1;
        work(10_000);
        drop(cx.balance());
    }

    /// Reaches the balancing point `count` times, and waits there each time.
    #[entry]
    async fn turns(&mut self, cx: &mut Cx<Self>, count: u32) {
        for _ in 0..count {
            work(1_000);
            cx.balance().await;
            self.turns += 1;
        }
    }

    #[entry]
    fn grind(&mut self, cx: &mut Cx<Self>, left: u32) {
        self.turns += 1;
        work(200_000);
        match left {
            0 => cx.contribute(Sum(self.turns)),
            _ => cx.this().grind(left - 1),
        }
    }

    #[entry]
    fn whereabouts(&self, cx: &mut Cx<Self>) -> (usize, u32) {
        (cx.node() * cx.worker_count() + cx.worker(), self.turns)
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

fn dealt(setup: &Setup<'_>) -> Array<Load> {
    let options = ArrayOptions::new(COUNT).placed(|_| 0);
    let options = options.balanced(Balancing::new(Deal));
    setup.array_with(options, |_| Load { turns: 0 })
}

#[test]
fn elements_migrate_to_the_workers_chosen_by_the_strategy() {
    for &kind in TransportKind::WITHIN {
        for nodes in 1..=4_u16 {
            let placed = job(nodes, kind).run_within(dealt, |runtime, loads| {
                let turn = |_| {
                    loads.all().turn();
                    runtime.quiescence().wait();
                    let places = (0..COUNT).map(|at| loads.at(at).whereabouts().wait());
                    places.collect::<Vec<_>>()
                };
                (1..=5).map(turn).collect::<Vec<_>>()
            });
            let workers = 2 * usize::from(nodes);
            for (turn, places) in (1..).zip(placed.expect("the nodes start")) {
                let place = |at: usize| ((turn + at) % workers, turn as u32);
                let expected: Vec<_> = (0..COUNT).map(place).collect();
                assert_eq!(places, expected, "turn {turn}, {nodes} nodes");
            }
        }
    }
}

#[test]
fn elements_that_wait_at_the_balancing_point_stay_on_their_node() {
    for nodes in 1..=3_u16 {
        let places = job(nodes, TransportKind::Memory).run_within(dealt, |runtime, loads| {
            loads.all().turns(4);
            runtime.quiescence().wait();
            let places = (0..COUNT).map(|at| loads.at(at).whereabouts().wait());
            places.collect::<Vec<_>>()
        });
        for (worker, turns) in places.expect("the nodes start") {
            assert!(worker < 2 && turns == 4, "{worker} after {turns}");
        }
    }
}

#[test]
fn balancing_during_the_run_does_not_change_the_result() {
    for nodes in 1..=4_u16 {
        let done = job(nodes, TransportKind::Memory).run_within(
            |setup| {
                let balancing = Balancing::new(Greedy).every(Duration::from_millis(2));
                let options = ArrayOptions::new(COUNT).placed(|_| 0).balanced(balancing);
                setup.array_with(options, |_| Load { turns: 0 })
            },
            |runtime, loads| {
                loads.all().grind(40);
                let sum: u32 = loads.reduction().wait();
                runtime.quiescence().wait();
                sum
            },
        );
        assert_eq!(done.expect("the nodes start"), 41 * COUNT as u32);
    }
}
