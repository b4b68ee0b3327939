//! Reductions over arrays while elements migrate, are inserted and end: each reduction
//! completes once, with the contributions of all participants.

use std::sync::Arc;

use raddle_chare::reduce::{Gather, Sum};
use raddle_chare::{Array, ArrayOptions, Chares, Cx, chare, model};
use raddle_runtime::Runtime;
use raddle_runtime::model::explore::{beside, explore_some};
use raddle_sync::prim::Mutex;

/// An element that contributes to reductions.
struct Voter {
    votes: u64,
}

/// The results of reductions with a callback as their target.
type Results = Arc<Mutex<Vec<u64>>>;

#[chare]
impl Voter {
    /// Contributes and migrates, `left` times.
    #[entry]
    fn vote(&mut self, cx: &mut Cx<Self>, left: u64) {
        self.votes += 1;
        cx.contribute((Sum(self.votes), Gather::new(cx.index())));
        cx.migrate_to((cx.worker() + 1) % cx.worker_count());
        if left > 1 {
            cx.this().vote(left - 1);
        }
    }

    /// Contributes `count` times, with `results` as the target.
    #[entry]
    fn vote_for(&mut self, cx: &mut Cx<Self>, times: u64, results: Results) {
        for _ in 0..times {
            let own = Arc::clone(&results);
            cx.contribute_then(Sum(1_u64), move |sum| {
                own.lock().expect("no panic poisons it").push(sum);
            });
        }
    }

    /// Contributes several times, each time with `results` as the target, and then ends.
    #[entry]
    fn vote_and_end(&mut self, cx: &mut Cx<Self>, left: u64, results: Results) {
        let own = Arc::clone(&results);
        cx.contribute_then(Sum(1_u64), move |sum| {
            own.lock().expect("no panic poisons it").push(sum);
        });
        if left > 1 {
            cx.this().vote_and_end(left - 1, results);
        } else {
            cx.end();
        }
    }

    #[entry]
    fn go(&mut self, cx: &mut Cx<Self>, to: usize) {
        cx.migrate_to(to % cx.worker_count());
    }
}

fn voters(runtime: &Runtime, count: usize) -> Array<Voter> {
    let workers = runtime.worker_count();
    let placed = ArrayOptions::new(count).placed(move |index| index % workers);
    runtime.array_with(placed, |_| Voter { votes: 0 })
}

#[test]
fn rounds_complete_in_order_while_elements_move() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let voters = voters(&runtime, 3);
        voters.all().vote(3);
        for round in 1..=3 {
            let (sum, indices): (u64, Vec<usize>) = voters.reduction().wait();
            assert_eq!((sum, indices), (3 * round, vec![0, 1, 2]));
        }
    });
}

#[test]
fn results_may_be_claimed_before_and_after_they_arrive() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let voters = voters(&runtime, 2);
        let claim = move || {
            let (sum, _): (u64, Vec<usize>) = voters.reduction().wait();
            sum
        };
        voters.at(0).vote(2);
        let here = || {
            voters.at(1).vote(2);
            claim()
        };
        let (there, here) = beside(claim, here);
        assert_eq!(there + here, 6);
    });
}

#[test]
fn reductions_do_not_wait_for_ended_elements() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let voters = voters(&runtime, 3);
        let results = Results::default();
        for (index, times) in [1, 3, 2].into_iter().enumerate() {
            voters.at(index).go(index + 1);
            voters.at(index).vote_and_end(times, Arc::clone(&results));
        }
        runtime.quiescence().wait();
        assert_eq!(*results.lock().expect("no panic poisons it"), [3, 2, 1]);
    });
}

// An element has contributed to two reductions when it arrives at a worker where only one of them
// has begun.
#[test]
fn reductions_do_not_wait_again_for_an_arriving_element() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let last = runtime.worker_count() - 1;
        let placed = ArrayOptions::new(3).placed(move |index| if index == 0 { 0 } else { last });
        let voters = runtime.array_with(placed, |_| Voter { votes: 0 });
        let results = Results::default();
        let vote = |index, times| voters.at(index).vote_for(times, Arc::clone(&results));
        vote(1, 1);
        vote(0, 2);
        runtime.quiescence().wait();
        voters.at(0).go(last);
        runtime.quiescence().wait();
        vote(2, 2);
        vote(1, 1);
        runtime.quiescence().wait();
        assert_eq!(*results.lock().expect("no panic poisons it"), [3, 3]);
    });
}

// An element is inserted at a worker where a reduction has begun in which the element takes no
// part.
#[test]
fn earlier_reductions_do_not_wait_for_an_inserted_element() {
    explore_some(96, |setting| {
        let mut setting = setting;
        setting.worker_count = setting.worker_count.max(2);
        let runtime = crate::runtime(&setting);
        let last = runtime.worker_count() - 1;
        let voters = runtime.sparse_array::<Voter>();
        let results = Results::default();
        let put = |worker, index| {
            voters.insert_on(worker, index, |_| Voter { votes: 0 });
        };
        let vote = |index| {
            voters.at(index).vote_for(1, Arc::clone(&results));
            runtime.quiescence().wait();
        };
        put(0, 0);
        put(last, 1);
        put(last, 2);
        runtime.quiescence().wait();
        // The first element migrates to the worker of the root.
        vote(0);
        vote(1);
        put(last, 3);
        vote(2);
        assert_eq!(*results.lock().expect("no panic poisons it"), [3]);
        for index in 0..4 {
            vote(index);
        }
        assert_eq!(*results.lock().expect("no panic poisons it"), [3, 4]);
    });
}

#[test]
fn a_reduction_fails_if_all_elements_end() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let voters = voters(&runtime, 2);
        let reduction = voters.reduction::<u64>();
        beside(move || voters.remove(0), || voters.remove(1));
        assert!(reduction.try_wait().is_err());
        assert!(voters.reduction::<u64>().try_wait().is_err());
        runtime.quiescence().wait();
    });
}

#[test]
fn reductions_do_not_wait_for_removed_elements() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let workers = runtime.worker_count();
        let voters = voters(&runtime, 3);
        let results = Results::default();
        let end = move || {
            model::migrate(voters, [(0, 1 % workers), (2, 0)]);
            voters.remove(0);
        };
        let here = || {
            voters.at(1).vote_and_end(2, Arc::clone(&results));
            voters.at(2).vote_and_end(2, Arc::clone(&results));
        };
        beside(end, here);
        runtime.quiescence().wait();
        assert_eq!(*results.lock().expect("no panic poisons it"), [2, 2]);
    });
}

#[test]
fn inserted_elements_take_part_from_some_reduction_on() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let workers = runtime.worker_count();
        for _ in 0..setting.one_of(&[0, 1, 2]) {
            runtime.sparse_array::<Voter>();
        }
        let voters = runtime.sparse_array::<Voter>();
        let results = Results::default();
        let put = |index: usize, times| {
            voters.insert_on(index % workers, index, |_| Voter { votes: 0 });
            voters.at(index).go(index + 1);
            voters.at(index).vote_and_end(times, Arc::clone(&results));
        };
        put(0, 3);
        put(1, 2);
        model::migrate(voters, [(0, 0), (1, 0)]);
        put(2, 2);
        runtime.quiescence().wait();
        let results = results.lock().expect("no panic poisons it");
        assert_eq!(results.iter().sum::<u64>(), 7, "{results:?}");
        assert!((3..=7).contains(&results.len()), "{results:?}");
    });
}
