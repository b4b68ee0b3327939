//! Sections of migrating elements: each member receives each message once, and reductions complete
//! in order, in every form.

use raddle_chare::reduce::Gather;
use raddle_chare::{Array, ArrayOptions, Chares, Cx, Section, SectionForm, chare, model};
use raddle_runtime::Runtime;
use raddle_runtime::model::explore::{Scenario, beside, explore_some};

/// Counts the messages that it receives.
struct Member {
    received: Vec<u32>,
}

#[chare]
impl Member {
    #[entry]
    fn receive(&mut self, number: u32) {
        self.received.push(number);
    }

    /// Contributes and migrates.
    #[entry]
    fn vote(&mut self, cx: &mut Cx<Self>, section: Section<Self>, moves: bool) {
        let index = cx.index();
        cx.contribute_to(section, Gather::new(index));
        if moves {
            cx.migrate_to((cx.worker() + 1) % cx.worker_count());
        }
    }

    #[entry]
    fn call(&self, section: Section<Self>, number: u32) {
        section.all().receive(number);
    }

    #[entry]
    fn received(&self) -> Vec<u32> {
        self.received.clone()
    }
}

const FORMS: [SectionForm; 3] = [
    SectionForm::TwoLevel,
    SectionForm::PointToPoint,
    SectionForm::Binomial,
];

/// Creates a section of all elements of an array but the second.
fn section(setting: &Scenario, count: usize) -> (Runtime, Section<Member>) {
    let runtime = crate::runtime(&setting);
    let workers = runtime.worker_count();
    let placed = ArrayOptions::new(count + 1).placed(move |index| index % workers);
    let array = runtime.array_with(placed, |_| Member {
        received: Vec::new(),
    });
    let members = (0..=count).rev().filter(|&index| index != 1);
    let section = array.section_with(setting.one_of(&FORMS), members);
    (runtime, section)
}

#[test]
fn migrating_members_receive_each_message_once() {
    explore_some(96, |setting| {
        let (runtime, section) = section(&setting, 3);
        let (array, workers) = (section.array(), runtime.worker_count());
        let call = move || section.all().receive(0);
        let here = || {
            model::migrate(array, [(0, 1 % workers), (2, 0), (3, 2 % workers)]);
            array.at(1).call(section, 1);
            section.all().receive(2);
            model::migrate(array, [(3, 1 % workers), (0, 0)]);
            section.all().receive(3);
        };
        beside(call, here);
        runtime.quiescence().wait();
        for index in [0, 2, 3] {
            let mut received = array.at(index).received().wait();
            let own: Vec<_> = received.iter().filter(|&&number| number > 1).collect();
            assert_eq!(own, [&2, &3], "{received:?}");
            received.sort_unstable();
            assert_eq!(received, [0, 1, 2, 3]);
        }
        assert!(array.at(1).received().wait().is_empty());
    });
}

// Regression: a message to a section reached members that existed or migrated, but skipped
// inserted members that were not yet created.
#[test]
fn members_that_are_not_yet_created_receive_and_vote() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let workers = runtime.worker_count();
        let new = || Member {
            received: Vec::new(),
        };
        let callers = runtime.array(workers, move |_| new());
        let array: Array<Member> = runtime.sparse_array();
        for index in 0..4 {
            let on = (index + setting.one_of(&[0, 1, 2])) % workers;
            array.insert_on(on, index, move |_| new());
        }
        let section = array.section_with(setting.one_of(&FORMS), (0..4).rev());
        section.all().receive(0);
        callers.at(workers - 1).call(section, 1);
        section.all().vote(section, true);
        let indices: Vec<usize> = section.reduction().wait();
        assert_eq!(indices, [3, 2, 1, 0]);
        runtime.quiescence().wait();
        for index in 0..4 {
            let mut received = array.at(index).received().wait();
            received.sort_unstable();
            assert_eq!(received, [0, 1]);
        }
    });
}

#[test]
fn migrating_members_reduce_among_themselves() {
    explore_some(96, |setting| {
        let (runtime, section) = section(&setting, 3);
        let array = section.array();
        for _ in 0..2 {
            section.all().vote(section, true);
        }
        array.at(2).vote(section, false);
        for index in [0, 3] {
            array.at(index).vote(section, false);
        }
        for _ in 0..3 {
            let indices: Vec<usize> = section.reduction().wait();
            assert_eq!(indices, [3, 2, 0]);
        }
        runtime.quiescence().wait();
    });
}

#[test]
fn a_section_may_be_created_while_its_members_migrate() {
    explore_some(96, |setting| {
        let (runtime, section) = section(&setting, 3);
        let (array, workers) = (section.array(), runtime.worker_count());
        let make = move || {
            for number in 0..3 {
                let section = array.section_with(SectionForm::TwoLevel, 0..4);
                section.all().receive(number);
                if number == 1 {
                    section.destroy();
                }
            }
        };
        let here = || {
            model::migrate(array, [(0, 1 % workers), (2, 0), (3, 2 % workers)]);
            model::migrate(array, [(1, 0), (3, 0)]);
        };
        // A section that is destroyed while a message to it is under way may report this.
        beside(make, here);
        if runtime.quiescence().try_wait().is_ok() {
            for index in 0..4 {
                assert_eq!(array.at(index).received().wait(), [0, 1, 2]);
            }
        }
    });
}

#[test]
fn calls_of_a_section_that_has_lost_a_member_fail() {
    explore_some(96, |setting| {
        let (runtime, section) = section(&setting, 3);
        let array = section.array();
        let wait = move || section.reduction::<Vec<usize>>().try_wait();
        let here = || {
            array.at(0).vote(section, true);
            array.remove(3);
            array.at(2).vote(section, true);
        };
        let (votes, ()) = beside(wait, here);
        votes.expect_err("one has not voted");
        let quiet = runtime.quiescence().try_wait();
        quiet.expect_err("what was contributed went nowhere");
    });
}

#[test]
fn a_member_may_end_after_its_contribution() {
    explore_some(96, |setting| {
        let (runtime, section) = section(&setting, 3);
        let array = section.array();
        let wait = move || section.reduction::<Vec<usize>>().try_wait();
        let here = || {
            array.at(3).vote(section, true);
            array.remove(3);
            array.at(0).vote(section, true);
            array.at(2).vote(section, false);
        };
        let (votes, ()) = beside(wait, here);
        assert_eq!(votes.expect("all have voted"), [3, 2, 0]);
        let next = section.reduction::<Vec<usize>>().try_wait();
        next.expect_err("one is no more");
        let _ = runtime.quiescence().try_wait();
    });
}
