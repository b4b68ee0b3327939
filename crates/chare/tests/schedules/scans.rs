//! Scans in sections and arrays while members are late, migrate and end and sections are destroyed:
//! each member gets the contributions of all preceding members, or a failure.

use raddle_chare::reduce::{Concat, Sum};
use raddle_chare::{
    Array, ArrayOptions, Chares, Cx, Failure, Reply, ScanForm, Section, chare, model,
};
use raddle_runtime::Runtime;
use raddle_runtime::model::explore::{Scenario, beside, explore_some, panics_were_meant};

/// A member with a number.
struct Member {
    number: u32,
}

#[chare]
impl Member {
    /// Creates a member. Some members migrate immediately.
    fn new(cx: &mut Cx<Self>, number: u32) -> Self {
        if number % 3 == 1 {
            cx.migrate_to(number as usize % cx.worker_count());
        }
        Self { number }
    }

    /// Returns the results of two scans, with a migration in between.
    #[entry]
    async fn scan(
        &mut self,
        cx: &mut Cx<Self>,
        section: Section<Self>,
        form: ScanForm,
    ) -> Vec<u32> {
        cx.migrate_to((cx.worker() + 1) % cx.worker_count());
        let own = Concat::new(vec![self.number]);
        let before = cx.scan_in_with(section, form, own.clone()).await;
        let again = cx.scan_in_with(section, form, own).await;
        assert_eq!(before, again);
        before
    }

    /// Returns its places in the array and in two sections.
    #[entry]
    async fn places(
        &mut self,
        cx: &mut Cx<Self>,
        sections: [Section<Self>; 2],
        form: ScanForm,
    ) -> [u32; 3] {
        let one = Sum(1_u32);
        let [first, second] = sections;
        [
            cx.scan_in_with(first, form, one).await,
            cx.scan_with(form, one).await,
            cx.scan_in_with(second, form, one).await,
        ]
    }

    /// Waits for a scan in its section, or in its array without a section.
    #[entry]
    async fn wait(&mut self, cx: &mut Cx<Self>, of: Option<Section<Self>>, form: ScanForm) -> u32 {
        match of {
            Some(section) => cx.scan_in_with(section, form, Sum(1_u32)).await,
            None => cx.scan_with(form, Sum(1_u32)).await,
        }
    }

    #[entry]
    fn end(&self, cx: &mut Cx<Self>) {
        cx.end();
    }
}

const FORMS: [ScanForm; 2] = [ScanForm::PrescanPush, ScanForm::RecursiveDoubling];

/// Creates an array with elements that are dealt to the workers round robin.
fn members(setting: &Scenario, count: usize) -> (Runtime, Array<Member>) {
    let runtime = crate::runtime(&setting);
    let workers = runtime.worker_count();
    let placed = ArrayOptions::new(count).placed(move |index| index % workers);
    let array = runtime.array_with(placed, |index| Member {
        number: index as u32,
    });
    (runtime, array)
}

/// Performs scans with the members and checks the results.
fn check(members: &[MemberProxy], section: Section<Member>, form: ScanForm) {
    let ask = |member: &MemberProxy| member.scan(section, form);
    let replies: Vec<_> = members.iter().rev().map(ask).collect();
    for (reply, count) in replies.into_iter().rev().zip(0..) {
        assert_eq!(reply.wait(), (0..count).collect::<Vec<_>>());
    }
}

#[test]
fn seeds_may_scan_at_any_place_and_time() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let form = setting.one_of(&FORMS);
        let create = |number| runtime.chare(move |cx| Member::new(cx, number));
        let members: Vec<_> = (0..4).map(create).collect();
        let section = runtime.section(members.iter().copied());
        check(&members, section, form);
        section.destroy();
        runtime.quiescence().wait();
    });
}

// One seed is created when all others wait for it.
#[test]
fn a_team_waits_for_a_late_member() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let form = setting.one_of(&FORMS);
        let make = |number| runtime.chare_on(0, move |cx| Member::new(cx, number));
        let mut members: Vec<_> = (0..3).map(make).collect();
        let late = setting.one_of(&[0, 1, 2]);
        members[late] = runtime.chare(move |cx| Member::new(cx, late as u32));
        let section = runtime.section(members.iter().copied());
        check(&members, section, form);
        runtime.quiescence().wait();
    });
}

#[test]
fn scans_of_an_array_and_its_sections_are_independent() {
    explore_some(96, |setting| {
        let (_runtime, array) = members(&setting, 3);
        let form = setting.one_of(&FORMS);
        let (back, forth) = (array.section((0..3).rev()), array.section(0..3));
        let ask = |index| array.at(index).places([back, forth], form);
        let replies = [1, 2, 0].map(|index| (index as u32, ask(index)));
        for (index, reply) in replies {
            assert_eq!(reply.wait(), [2 - index, index, index]);
        }
    });
}

/// Returns the failures of two scans without results, by the end of the runtime at the latest.
fn failures_of(runtime: Runtime, replies: [Reply<u32>; 2]) -> [Failure; 2] {
    let failures = replies.map(|reply| reply.try_wait().expect_err("the first is missing"));
    drop(runtime);
    panics_were_meant();
    failures
}

// Regression: the report of the end of a member went to workers that other members had already
// left or had not yet reached.
#[test]
fn scans_of_migrating_members_fail_when_another_member_ends() {
    explore_some(192, |setting| {
        let (runtime, array) = members(&setting, 3);
        let (form, workers) = (setting.one_of(&FORMS), runtime.worker_count());
        let section = setting.one_of(&[true, false]).then(|| array.section(0..3));
        let replies = [1, 2].map(|index| array.at(index).wait(section, form));
        let moves = move || {
            for by in 1..3 {
                model::migrate(array, [1, 2].map(|index| (index, (index + by) % workers)));
            }
        };
        beside(moves, || array.at(0).end());
        for failure in failures_of(runtime, replies) {
            let failure = failure.to_string();
            // The failure names the first member, or a member that had received the failure while
            // another member still sent to it.
            assert!(failure.contains(", which has ended"), "{failure}");
        }
    });
}

#[test]
fn scans_in_a_section_that_is_destroyed_meanwhile_fail() {
    explore_some(192, |setting| {
        let (runtime, array) = members(&setting, 3);
        let (form, workers) = (setting.one_of(&FORMS), runtime.worker_count());
        let section = array.section(0..3);
        let give_up = move || {
            model::migrate(array, [1, 2].map(|index| (index, (index + 1) % workers)));
            section.destroy();
        };
        let wait = || [1, 2].map(|index| array.at(index).wait(Some(section), form));
        let ((), replies) = beside(give_up, wait);
        for failure in failures_of(runtime, replies) {
            let failure = failure.to_string();
            assert!(failure.contains("is no more"), "{failure}");
        }
    });
}
