//! Elements that are inserted while other elements reduce, migrate and are inserted: each element
//! takes part in reductions from the right one on.

use raddle_chare::reduce::Count;
use raddle_chare::{Array, Chares, Cx, chare, model};
use raddle_runtime::model::explore::{Scenario, beside, explore_some};

struct Voter;

#[chare(index = u64)]
impl Voter {
    #[entry]
    fn vote(&mut self, cx: &mut Cx<Self>) {
        cx.contribute(Count::one());
    }

    #[entry]
    fn is_here(&self) -> bool {
        true
    }
}

struct Maker;

#[chare]
impl Maker {
    /// Makes all elements vote, moves the previous one, and inserts the next one.
    #[entry]
    fn all_vote(&mut self, cx: &mut Cx<Self>, voters: Array<Voter>, count: u64, to: usize) {
        for index in 0..count {
            voters.all().vote();
            if index > 0 {
                model::migrate(voters, [(index - 1, to % cx.worker_count())]);
            }
            voters.insert_on((index as usize + to) % cx.worker_count(), index, |_| Voter);
        }
    }

    /// Inserts elements, each of which votes before the next one is inserted.
    #[entry]
    fn each_votes(&mut self, cx: &mut Cx<Self>, voters: Array<Voter>, from: u64) {
        for index in from..from + 3 {
            let voter = voters.insert_on(index as usize % cx.worker_count(), index, |_| Voter);
            voter.vote();
        }
    }
}

/// Creates an array. The setting chooses the worker of its root.
fn voters(setting: &Scenario, runtime: &raddle_runtime::Runtime) -> Array<Voter> {
    for _ in 0..setting.one_of(&[0, 1, 2]) {
        runtime.sparse_array::<Voter>();
    }
    runtime.sparse_array()
}

#[test]
fn inserted_elements_take_part_in_later_reductions() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let workers = runtime.worker_count();
        let voters = voters(&setting, &runtime);
        let maker = runtime.chare_on(setting.one_of(&[0, 1]) % workers, |_| Maker);
        let count = 4;
        maker.all_vote(voters, count, setting.one_of(&[0, 1, 2]));
        runtime.quiescence().wait();
        for before in 1..count {
            assert_eq!(voters.reduction::<u64>().wait(), before);
        }
        voters.all().vote();
        assert_eq!(voters.reduction::<u64>().wait(), count);
    });
}

#[test]
fn concurrent_insertions_do_not_block_reductions() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let workers = runtime.worker_count();
        let voters = voters(&setting, &runtime);
        let makers = [0, 1].map(|on| runtime.chare_on(on % workers, |_| Maker));
        for (maker, from) in makers.into_iter().zip([0, 10]) {
            maker.each_votes(voters, from);
        }
        let put_in = move || {
            voters.insert(20, |_| Voter);
            voters.all().vote();
            voters.insert(21, |_| Voter);
        };
        let move_on = move || model::migrate(voters, [(0, 1 % workers), (11, 0), (20, 0)]);
        beside(put_in, move_on);
        runtime.quiescence().wait();
        for index in [0, 1, 2, 10, 11, 12, 20, 21] {
            assert!(voters.at(index).is_here().wait());
        }
    });
}
