//! Load balancing: elements of arrays migrate to workers with less load.

use std::time::Duration;

use raddle_chare::balance::{Balancing, ByTraffic, Greedy, LoadView, Refine, Strategy};
use raddle_chare::reduce::{Max, Sum};
use raddle_chare::{Array, ArrayOptions, Chares, Cx, Reply, SparseOptions, chare};
use raddle_runtime::Runtime;

use crate::common::runtime;

/// An element with much work if it is heavy, and with little work otherwise.
struct Weight {
    heavy: bool,
    worker: usize,
}

impl Weight {
    fn work(&self) -> u64 {
        let rounds = if self.heavy { 200_000 } else { 100 };
        std::hint::black_box(
            (0..rounds).fold(1, |hash: u64, index| (hash ^ index).wrapping_mul(31)),
        )
    }
}

#[chare]
impl Weight {
    /// Works and waits at the balancing point, `count` times.
    #[entry]
    async fn turns(&mut self, cx: &mut Cx<Self>, count: u32) {
        for _ in 0..count {
            self.work();
            let next = cx.array().at((cx.index() + 1) % 16);
            next.poke();
            cx.balance().await;
        }
        self.worker = cx.worker();
        cx.contribute((Sum(1_u32), Max(self.worker)));
    }

    #[entry]
    fn poke(&self) {}

    #[entry]
    fn worker(&mut self, cx: &mut Cx<Self>) -> usize {
        cx.worker()
    }

    #[entry]
    fn worked(&mut self) -> bool {
        self.work() > 0
    }

    #[entry]
    fn grind(&mut self, cx: &mut Cx<Self>, left: u32) {
        self.work();
        if left > 0 {
            cx.this().grind(left - 1);
        }
    }
}

fn weights(runtime: &Runtime, balancing: Balancing) -> Array<Weight> {
    let options = ArrayOptions::new(16).balanced(balancing).placed(|_| 0);
    runtime.array_with(options, |index| Weight {
        heavy: index < 8,
        worker: 0,
    })
}

#[test]
fn heavy_elements_are_spread_over_workers() {
    for workers in 2..=4 {
        let runtime = runtime(workers);
        for balancing in [Balancing::new(Greedy), Balancing::new(Refine::default())] {
            let weights = weights(&runtime, balancing);
            weights.all().turns(3);
            let (count, _): (u32, usize) = weights.reduction().wait();
            assert_eq!(count, 16);
            let balanced = weights.last_balancing().expect("it was balanced");
            assert_eq!(balanced.loads_before.len(), workers);
            let places: Vec<_> = (0..8)
                .map(|index| weights.at(index).worker().wait())
                .collect();
            let on_first = places.iter().filter(|&&worker| worker == 0).count();
            assert!(on_first < 8, "{places:?}: {balanced}");
        }
    }
}

#[test]
fn running_elements_are_balanced_periodically() {
    let runtime = runtime(2);
    let balancing = Balancing::new(Refine::default()).every(Duration::from_millis(1));
    let weights = weights(&runtime, balancing);
    weights.all().grind(100);
    runtime.quiescence().wait();
    let balanced = weights.last_balancing().expect("it was balanced");
    assert_eq!(balanced.strategy, "refine");
}

// Regression: measurements for a balancing in progress arrived at the tombstone of a destroyed
// array, which caused a panic.
#[test]
fn an_array_may_be_destroyed_while_it_is_balanced() {
    for _ in 0..100 {
        let runtime = runtime(2);
        let balancing = Balancing::new(Greedy).every(Duration::from_micros(100));
        let weights = weights(&runtime, balancing);
        for _ in 0..5 {
            let done: Vec<_> = (0..16).map(|index| weights.at(index).worked()).collect();
            assert!(done.into_iter().all(Reply::wait));
        }
        weights.destroy();
        let other = runtime.chare(|_| Weight {
            heavy: false,
            worker: 0,
        });
        assert!(other.worker().wait() < 2);
        runtime.quiescence().wait();
    }
}

#[test]
fn elements_of_sparse_arrays_are_balanced() {
    let runtime = runtime(2);
    let options = SparseOptions::new().balanced(Balancing::new(Greedy));
    let weights: Array<Weight> = runtime.sparse_array_with(options);
    for index in 0..16 {
        let heavy = index < 8;
        weights.insert_on(0, index, move |_| Weight { heavy, worker: 0 });
    }
    runtime.quiescence().wait();
    weights.all().turns(2);
    let (count, _): (u32, usize) = weights.reduction().wait();
    assert_eq!(count, 16);
    let balanced = weights.last_balancing().expect("it was balanced");
    assert_eq!(balanced.strategy, "greedy");
    assert_eq!(balanced.loads_before.len(), 2);
}

/// Places elements that communicate on the same worker.
struct Pairs;

impl Strategy for Pairs {
    fn name(&self) -> &'static str {
        "pairs"
    }

    fn needs_traffic(&self) -> bool {
        true
    }

    fn place(&self, view: &LoadView) -> Vec<usize> {
        assert_eq!(view.elements.len(), 16);
        for traffic in &view.traffic {
            assert_eq!((traffic.from + 1) % 16, traffic.to);
            assert!(traffic.message_count > 0);
        }
        assert_eq!(view.traffic.len(), 16);
        (0..16).map(|at| at / 2 % view.worker_count).collect()
    }
}

#[test]
fn a_strategy_sees_which_elements_communicate() {
    let runtime = runtime(2);
    let weights = weights(&runtime, Balancing::new(Pairs));
    weights.all().turns(2);
    let _: (u32, usize) = weights.reduction().wait();
}

/// Returns a placement of the wrong length.
struct Wrong;

impl Strategy for Wrong {
    fn name(&self) -> &'static str {
        "wrong"
    }

    fn place(&self, _view: &LoadView) -> Vec<usize> {
        vec![7]
    }
}

#[test]
fn an_invalid_placement_fails_pending_reductions() {
    let runtime = runtime(2);
    let weights = weights(&runtime, Balancing::new(Wrong));
    weights.all().turns(1);
    let failure = weights.reduction::<(u32, usize)>().try_wait();
    let text = failure.expect_err("the reduction fails").to_string();
    assert!(
        text.starts_with("the strategy of Weight panicked in `wrong`: it placed 1 elements of 16"),
        "{text}"
    );
}

/// Exchanges messages with one other element.
struct Talker;

#[chare]
impl Talker {
    /// Continues the exchange with the partner for `left` more messages.
    #[entry]
    fn talk(&mut self, cx: &mut Cx<Self>, left: u32) {
        if left > 0 {
            // The pairs are 0 and 1, 2 and 3, and so on.
            cx.array().at(cx.index() ^ 1).talk(left - 1);
        }
    }

    #[entry]
    fn worker(&mut self, cx: &mut Cx<Self>) -> usize {
        cx.worker()
    }
}

#[test]
fn communicating_pairs_end_on_one_worker() {
    let runtime = runtime(2);
    let balancing = Balancing::new(ByTraffic::sampled(4)).every(Duration::from_millis(2));
    // The two elements of each pair begin on different workers.
    let options = ArrayOptions::new(32)
        .balanced(balancing)
        .placed(|index| index % 2);
    let talkers = runtime.array_with(options, |_| Talker);
    let workers = |talkers: &Array<Talker>| -> Vec<usize> {
        (0..32)
            .map(|index| talkers.at(index).worker().wait())
            .collect()
    };
    let together = |workers: &[usize]| workers.chunks(2).all(|pair| pair[0] == pair[1]);
    // Repeat until the observed traffic justifies the cost of the migrations.
    while !together(&workers(&talkers)) {
        for index in 0..32 {
            talkers.at(index).talk(200);
        }
        runtime.quiescence().wait();
    }
    let report = runtime.report();
    let moves = report
        .moves
        .iter()
        .find(|moves| moves.what == "elements of Talker");
    let moves = moves.expect("elements were looked at");
    assert!(moves.moves > 0 && moves.moved >= 16, "{moves}");
    assert!(moves.why.starts_with("traffic moved "), "{moves}");
}
