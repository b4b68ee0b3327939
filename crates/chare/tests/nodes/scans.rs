//! Scans over several nodes while the elements migrate: each element gets the contributions of all
//! elements before it, in order.

use raddle_chare::nodes::Setup;
use raddle_chare::reduce::{Concat, Sum};
use raddle_chare::{Array, Chares, Cx, chare};
use raddle_net::TransportKind;
use serde::{Deserialize, Serialize};

use crate::dice::Dice;
use crate::job;

const COUNT: usize = 11;

#[derive(Serialize, Deserialize)]
struct Line {
    dice: Dice,
    begins: Vec<u64>,
    before: Vec<Vec<u64>>,
}

#[chare(nodes, state)]
impl Line {
    /// Performs two scans, then migrates to a pseudorandom worker.
    #[entry]
    async fn scan(&mut self, cx: &mut Cx<Self>, left: u64) {
        let index = cx.index() as u64;
        let begin: u64 = cx.scan(Sum(index + left)).await;
        self.begins.push(begin);
        let before = cx.scan(Concat::new(vec![index, left])).await;
        self.before.push(before);
        let workers = cx.worker_count() * cx.node_count();
        cx.migrate_to(self.dice.roll(workers));
        if left > 0 {
            cx.this().scan(left - 1);
        }
    }

    #[entry]
    fn story(&self) -> (Vec<u64>, Vec<Vec<u64>>) {
        (self.begins.clone(), self.before.clone())
    }

    #[entry]
    async fn scan_once(&mut self, cx: &mut Cx<Self>) -> u64 {
        cx.scan(Sum(1_u64)).await
    }

    #[entry]
    fn leave(&mut self, cx: &mut Cx<Self>) {
        cx.end();
    }
}

fn lines(seed: u64) -> impl Fn(&Setup<'_>) -> Array<Line> {
    move |setup| {
        setup.array(COUNT, move |index| Line {
            dice: Dice::new(seed * 1_000 + index as u64),
            begins: Vec::new(),
            before: Vec::new(),
        })
    }
}

#[test]
fn each_element_gets_the_contributions_of_all_elements_before_it() {
    const LAST: u64 = 20;
    for &kind in TransportKind::WITHIN {
        for nodes in 1..=4 {
            let seed = u64::from(nodes);
            let stories = job(nodes, kind).run_within(lines(seed), |runtime, lines| {
                lines.all().scan(LAST);
                runtime.quiescence().wait();
                let stories = (0..COUNT).map(|at| lines.at(at).story().wait());
                stories.collect::<Vec<_>>()
            });
            for (at, (begins, before)) in (0_u64..).zip(stories.expect("the nodes start")) {
                let rounds = || (0..=LAST).rev();
                let sum = |left| (0..at).map(|index| index + left).sum::<u64>();
                assert_eq!(begins, rounds().map(sum).collect::<Vec<_>>());
                let all = |left| (0..at).flat_map(move |index| [index, left]).collect();
                assert_eq!(before, rounds().map(all).collect::<Vec<Vec<_>>>());
            }
        }
    }
}

#[test]
fn scans_that_need_an_ended_element_fail_on_all_nodes() {
    for nodes in 1..=4 {
        for gone in [0, 5, COUNT - 1] {
            let failures =
                job(nodes, TransportKind::Memory).run_within(lines(0), |runtime, lines| {
                    let scan = |at: usize| lines.at(at).scan_once();
                    let asked: Vec<_> = (0..COUNT).filter(|&at| at != gone).map(scan).collect();
                    lines.at(gone).leave();
                    let failures = asked.into_iter().map(|asked| asked.try_wait().err());
                    let failures: Vec<_> = failures.collect();
                    let _ = runtime.quiescence().try_wait();
                    failures
                });
            let failures = failures.expect("the nodes start");
            // A report names either the scan that failed or the missing contribution. Both name the
            // ended element.
            let failures: Vec<_> = failures.iter().flatten().map(ToString::to_string).collect();
            let name = format!("Line[{gone}]");
            // No other element needs the contribution of the last element, so that all other scans
            // may finish before that element ends.
            let is_needed = gone + 1 < COUNT;
            assert!(
                !is_needed || !failures.is_empty(),
                "{nodes} nodes, without {gone}"
            );
            assert!(
                failures.iter().all(|why| why.contains(&name)),
                "{failures:?}"
            );
        }
    }
}
