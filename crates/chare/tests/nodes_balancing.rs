//! Arrays over nodes are balanced over all workers of all nodes.
#![cfg(not(any(loom, shuttle)))]

use std::time::Duration;

use raddle_chare::balance::{Balancing, Greedy, LoadView, Strategy};
use raddle_chare::nodes::{Job, Setup};
use raddle_chare::reduce::Sum;
use raddle_chare::{Array, ArrayOptions, Chares, Cx, chare};
use raddle_net::TransportKind;
use raddle_runtime::Runtime;
use serde::{Deserialize, Serialize};

const COUNT: usize = 12;

/// Works, more or less.
#[derive(Serialize, Deserialize)]
struct Load {
    turns: u32,
}

fn work(rounds: u64) -> u64 {
    std::hint::black_box((0..rounds).fold(1, |hash: u64, index| (hash ^ index).wrapping_mul(31)))
}

#[chare(nodes, state)]
impl Load {
    /// To the point where elements move, without waiting there.
    #[entry]
    fn turn(&mut self, cx: &mut Cx<Self>) {
        self.turns += 1;
        work(10_000);
        drop(cx.balance());
    }

    /// To that point so many times, waiting.
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

/// Deals elements to workers in turn, beginning with another one each time.
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

fn job(nodes: u16, kind: TransportKind) -> Job {
    let builder = Runtime::builder().workers(2);
    Job::new(nodes).transport(kind).runtime(builder)
}

fn dealt(setup: &Setup<'_>) -> Array<Load> {
    let options = ArrayOptions::new(COUNT).placed(|_| 0);
    let options = options.balanced(Balancing::new(Deal));
    setup.array_with(options, |_| Load { turns: 0 })
}

#[test]
fn elements_go_to_the_workers_that_the_strategy_names() {
    for kind in TransportKind::WITHIN {
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
            for (turn, places) in (1..).zip(placed.expect("the nodes come up")) {
                let place = |at: usize| ((turn + at) % workers, turn as u32);
                let expected: Vec<_> = (0..COUNT).map(place).collect();
                assert_eq!(places, expected, "turn {turn}, {nodes} nodes");
            }
        }
    }
}

#[test]
fn those_that_wait_for_the_balancing_move_within_their_node() {
    for nodes in 1..=3_u16 {
        let places = job(nodes, TransportKind::Memory).run_within(dealt, |runtime, loads| {
            loads.all().turns(4);
            runtime.quiescence().wait();
            let places = (0..COUNT).map(|at| loads.at(at).whereabouts().wait());
            places.collect::<Vec<_>>()
        });
        for (worker, turns) in places.expect("the nodes come up") {
            assert!(worker < 2 && turns == 4, "{worker} after {turns}");
        }
    }
}

#[test]
fn what_is_balanced_while_it_runs_does_the_same() {
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
        assert_eq!(done.expect("the nodes come up"), 41 * COUNT as u32);
    }
}
