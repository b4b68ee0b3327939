//! Reductions and scans of elements that migrate between nodes or end meanwhile: each result
//! consists of exactly the contributions that belong to it.

use raddle_chare::nodes::Setup;
use raddle_chare::reduce::{Concat, Sum};
use raddle_chare::{Array, Chares, Cx, chare};
use raddle_runtime::model::explore::{Scenario, explore_some};
use serde::{Deserialize, Serialize};

use crate::over_nodes::{Dice, SEEDS, dealt, over_nodes};

const COUNT: u64 = 3;

/// An element that takes part in sums.
#[derive(Serialize, Deserialize)]
struct Adder {
    dice: Dice,
    /// The results that it has received.
    seen: u64,
}

#[chare(nodes, state)]
impl Adder {
    /// Contributes and migrates to a random worker, `left` times.
    #[entry]
    fn add_up(&mut self, cx: &mut Cx<Self>, left: u64) {
        cx.contribute(Sum(10 * left + cx.index() as u64));
        cx.migrate_to(self.dice.worker(cx));
        if left > 1 {
            cx.this().add_up(left - 1);
        }
    }

    /// Contributes for the last time and ends.
    #[entry]
    fn add_and_leave(&mut self, cx: &mut Cx<Self>, number: u64) {
        cx.contribute(Sum(10 * number + cx.index() as u64));
        cx.end();
    }

    /// Waits for the sum of all indices and migrates to a random worker, `left` times.
    #[entry]
    async fn agree(&mut self, cx: &mut Cx<Self>, left: u64) {
        let sum: u64 = cx.reduce(Sum(cx.index() as u64 + left)).await;
        assert_eq!(sum, 3 + COUNT * left);
        self.seen += 1;
        cx.migrate_to(self.dice.worker(cx));
        if left > 1 {
            cx.this().agree(left - 1);
        }
    }

    /// Performs a scan and migrates to a random worker, `left` times.
    #[entry]
    async fn scan(&mut self, cx: &mut Cx<Self>, left: u64) {
        let index = cx.index() as u64;
        let begin: u64 = cx.scan(Sum(index + left)).await;
        assert_eq!(begin, (0..index).map(|before| before + left).sum::<u64>());
        let before = cx.scan(Concat::new(vec![index])).await;
        assert_eq!(before, (0..index).collect::<Vec<_>>());
        self.seen += 1;
        cx.migrate_to(self.dice.worker(cx));
        if left > 1 {
            cx.this().scan(left - 1);
        }
    }

    #[entry]
    fn seen(&self) -> u64 {
        self.seen
    }
}

fn adders(setting: Scenario) -> impl Fn(&Setup<'_>) -> Array<Adder> + Clone + Send + 'static {
    move |setup| {
        setup.array_with(dealt(setup, COUNT as usize), move |index| Adder {
            dice: Dice::new(setting, index),
            seen: 0,
        })
    }
}

fn all_have_seen(adders: Array<Adder>, count: u64) {
    for index in 0..COUNT as usize {
        assert_eq!(adders.at(index).seen().wait(), count);
    }
}

#[test]
fn elements_may_contribute_while_they_migrate() {
    explore_some(SEEDS, |setting| {
        over_nodes(setting, adders(setting), |runtime, adders| {
            adders.all().add_up(3);
            for left in [3, 2, 1] {
                assert_eq!(adders.reduction::<u64>().wait(), 30 * left + 3);
            }
            runtime.quiescence().wait();
        });
    });
}

#[test]
fn contributions_before_the_end_of_an_element_count() {
    explore_some(SEEDS, |setting| {
        over_nodes(setting, adders(setting), |runtime, adders| {
            adders.at(0).add_up(3);
            adders.at(2).add_up(3);
            adders.at(1).add_up(1);
            adders.at(1).add_and_leave(2);
            assert_eq!(adders.reduction::<u64>().wait(), 73);
            assert_eq!(adders.reduction::<u64>().wait(), 63);
            assert_eq!(adders.reduction::<u64>().wait(), 22);
            runtime.quiescence().wait();
        });
    });
}

#[test]
fn results_arrive_at_migrating_elements() {
    explore_some(SEEDS, |setting| {
        over_nodes(setting, adders(setting), |runtime, adders| {
            adders.all().agree(3);
            runtime.quiescence().wait();
            all_have_seen(adders, 3);
        });
    });
}

#[test]
fn elements_may_scan_while_they_migrate() {
    explore_some(SEEDS, |setting| {
        over_nodes(setting, adders(setting), |runtime, adders| {
            adders.all().scan(2);
            runtime.quiescence().wait();
            all_have_seen(adders, 2);
        });
    });
}
