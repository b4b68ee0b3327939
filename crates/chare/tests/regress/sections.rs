//! Sections that were destroyed or have lost a member, and scans that have lost an element: their
//! users receive a failure with the reason. Also many sections and large sections.

use raddle_chare::reduce::Sum;
use raddle_chare::{Array, Chares, Cx, Failure, Reply, ScanForm, Section, SectionForm, chare};
use raddle_runtime::Runtime;

use crate::FORMS;
use crate::common::runtime;
use crate::panics::panic_text;
use crate::soon::soon;

#[derive(Default)]
struct Member {
    received: u64,
}

#[chare]
impl Member {
    #[entry]
    fn receive(&mut self) {
        self.received += 1;
    }

    #[entry]
    fn received(&self, cx: &mut Cx<Self>) {
        cx.contribute(Sum(self.received));
    }

    #[entry]
    fn call(&self, section: Section<Self>) {
        section.all().receive();
    }

    #[entry]
    fn vote(&self, cx: &mut Cx<Self>, section: Section<Self>) {
        cx.contribute_to(section, Sum(1_u64));
    }

    #[entry]
    fn vote_for_call(&self, cx: &mut Cx<Self>, section: Section<Self>) {
        cx.contribute_to_then(section, Sum(1_u64), |_| panic!("not all contribute"));
    }

    /// Contributes for the last time and ends.
    #[entry]
    fn vote_and_end(&self, cx: &mut Cx<Self>, section: Section<Self>) {
        cx.contribute_to(section, Sum(1_u64));
        cx.end();
    }

    #[entry]
    async fn scan(&mut self, cx: &mut Cx<Self>, team: Team, form: ScanForm) -> u64 {
        let one = Sum(1_u64);
        match team {
            Some(section) => cx.scan_in_with(section, form, one).await,
            None => cx.scan_with(form, one).await,
        }
    }

    #[entry]
    async fn scan_floats(&mut self, cx: &mut Cx<Self>, team: Team, form: ScanForm) -> u64 {
        let one = Sum(1.0_f64);
        let sum = match team {
            Some(section) => cx.scan_in_with(section, form, one).await,
            None => cx.scan_with(form, one).await,
        };
        sum as u64
    }

    #[entry]
    async fn scan_and_end(&mut self, cx: &mut Cx<Self>, team: Team, form: ScanForm) -> u64 {
        cx.end();
        self.scan(cx, team, form).await
    }

    #[entry]
    fn go(&self, cx: &mut Cx<Self>) {
        cx.migrate_to((cx.worker() + 1) % cx.worker_count());
    }

    #[entry]
    fn end(&self, cx: &mut Cx<Self>) {
        cx.end();
    }
}

fn members(runtime: &Runtime, count: usize) -> Array<Member> {
    runtime.array(count, |_| Member::default())
}

/// The participants of a scan: a section or a whole array.
type Team = Option<Section<Member>>;

/// Returns three teams for scans, with their members in scan order: a whole array, some elements of
/// an array, and single chares.
fn teams(runtime: &Runtime, count: usize) -> [(Vec<MemberProxy>, Team); 3] {
    let (all, array) = (members(runtime, count), members(runtime, 2 * count));
    let some = || (0..count).map(|at| 2 * count - 1 - 2 * at);
    let alone = (0..count).map(|_| runtime.chare(|_| Member::default()));
    let alone: Vec<_> = alone.collect();
    let section = runtime.section(alone.iter().copied());
    [
        ((0..count).map(|at| all.at(at)).collect(), None),
        (
            some().map(|at| array.at(at)).collect(),
            Some(array.section(some())),
        ),
        (alone, Some(section)),
    ]
}

#[track_caller]
fn says<R: std::fmt::Debug>(result: Result<R, Failure>, what: &str) {
    let failure = result.expect_err("there is no result");
    assert!(failure.to_string().contains(what), "{failure}");
}

/// The ways to destroy a section: together with its array, or alone.
#[derive(Clone, Copy)]
enum Destroyed {
    Array,
    Section,
}

/// Returns a section that was destroyed while no message to it was under way.
fn destroyed(
    which: Destroyed,
    form: SectionForm,
    workers: usize,
) -> (Runtime, Array<Member>, Section<Member>) {
    let runtime = runtime(workers);
    let array = members(&runtime, 12);
    let section = array.section_with(form, 1..9);
    section.all().vote(section);
    assert_eq!(section.reduction::<u64>().wait(), 8);
    runtime.quiescence().wait();
    match which {
        Destroyed::Array => array.destroy(),
        Destroyed::Section => section.destroy(),
    }
    runtime.quiescence().wait();
    (runtime, array, section)
}

// Regression: the table of sections was indexed out of bounds, on a worker or under a lock. The
// lock was poisoned afterwards.
#[test]
fn calls_of_a_destroyed_section_report_it() {
    const GONE: &str = "section 0 of Member#0 is no more";
    for which in [Destroyed::Array, Destroyed::Section] {
        for form in FORMS {
            let (_runtime, _, section) = destroyed(which, form, 2);
            assert!(panic_text(|| section.count()).contains(GONE));
            says(soon(move || section.reduction::<u64>().try_wait()), GONE);

            let (runtime, _, section) = destroyed(which, form, 2);
            section.all().receive();
            says(soon(move || runtime.quiescence().try_wait()), GONE);

            let (runtime, _, section) = destroyed(which, form, 2);
            members(&runtime, 3).at(2).call(section);
            says(soon(move || runtime.quiescence().try_wait()), GONE);
        }
    }
}

#[test]
fn contributions_to_a_destroyed_section_fail() {
    for form in FORMS {
        let (runtime, array, section) = destroyed(Destroyed::Section, form, 2);
        array.at(3).vote(section);
        says(soon(move || runtime.quiescence().try_wait()), "is no more");
    }
}

// The members and other sections remain usable.
#[test]
fn destroying_a_section_does_not_affect_other_sections() {
    let runtime = runtime(2);
    let array = members(&runtime, 12);
    let sections: Vec<_> = (0..10).map(|from| array.section(from..from + 3)).collect();
    soon(move || {
        for (index, section) in sections.iter().enumerate().rev() {
            section.all().vote(*section);
            assert_eq!(section.reduction::<u64>().wait(), 3);
            if index % 2 == 0 {
                section.destroy();
                section.destroy();
            }
            array.all().go();
            runtime.quiescence().wait();
        }
        let new = array.section(0..12);
        new.all().vote(new);
        assert_eq!(new.reduction::<u64>().wait(), 12);
        assert_eq!(sections[1].count(), 3);
    });
}

// Regression: pending reductions failed when the member ended, but later contributions were lost
// without a report.
#[test]
fn contributions_after_a_member_has_ended_fail() {
    const LOST: &str = "has lost Member[7], which has ended";
    for form in FORMS {
        let lame = || {
            let runtime = runtime(3);
            let array = members(&runtime, 8);
            let section = array.section_with(form, 0..8);
            array.remove(7);
            runtime.quiescence().wait();
            (runtime, array, section)
        };
        let (runtime, array, section) = lame();
        array.at(1).vote(section);
        says(soon(move || runtime.quiescence().try_wait()), LOST);

        let (runtime, array, section) = lame();
        array.all().vote_for_call(section);
        says(soon(move || runtime.quiescence().try_wait()), LOST);

        let (_runtime, _, section) = lame();
        says(soon(move || section.reduction::<u64>().try_wait()), LOST);
    }
}

// Regression: in forms that send a message to each member separately, the remaining members
// received the message, and the missing member was not reported.
#[test]
fn messages_after_a_member_has_ended_fail() {
    for form in FORMS {
        let runtime = runtime(3);
        let array = members(&runtime, 8);
        let section = array.section_with(form, 0..8);
        array.remove(7);
        runtime.quiescence().wait();
        section.all().receive();
        let quiet = soon(move || runtime.quiescence().try_wait());
        says(quiet, "has lost Member[7], which has ended");
    }
}

// Regression: contributions that were stored at the neighbours of the member in the tree, or on
// its worker, stayed there.
#[test]
fn contributions_before_a_member_ends_fail_with_its_end() {
    for form in FORMS {
        let runtime = runtime(3);
        let array = members(&runtime, 8);
        let section = array.section_with(form, 0..8);
        for index in [0, 3, 4, 6] {
            array.at(index).vote_for_call(section);
        }
        runtime.quiescence().wait();
        array.remove(7);
        says(soon(move || runtime.quiescence().try_wait()), "has lost");
    }
}

// Regression: the report of the end could arrive before the last contributions. Then there was no
// result although all members had contributed. In a tree of members, there was also no result if
// the ended member held contributions of other members or received them later.
#[test]
fn a_member_that_contributes_and_ends_fails_only_later_reductions() {
    for form in FORMS {
        for _ in 0..20 {
            let runtime = runtime(3);
            let array = members(&runtime, 8);
            let section = array.section_with(form, 0..8);
            for index in (0..8).rev() {
                array.at(index).vote(section);
            }
            array.at(7).vote_and_end(section);
            for index in (0..7).rev() {
                array.at(index).vote(section);
            }
            soon(move || {
                let results = [(); 2].map(|()| section.reduction::<u64>());
                for result in results {
                    assert_eq!(result.wait(), 8, "{form}");
                }
                says(section.reduction::<u64>().try_wait(), "has");
            });
        }
    }
}

const SCANS: [ScanForm; 2] = [ScanForm::PrescanPush, ScanForm::RecursiveDoubling];

/// Returns the failures of the scans.
fn failures(scans: Vec<Reply<u64>>) -> Vec<Failure> {
    soon(move || {
        let failures = scans.into_iter().map(|scan| scan.try_wait());
        failures.filter_map(Result::err).collect()
    })
}

// Regression: the root waited for the contribution of the removed element, and no caller received
// a failure.
#[test]
fn a_scan_that_lacks_an_element_fails() {
    const ENDED: &str = "which has ended";
    for form in SCANS {
        for (which, removed, is_late) in
            (0..18).map(|case| (case % 3, [0, 2, 3][case / 3 % 3], case < 9))
        {
            let runtime = runtime(2);
            let (members, team) = &teams(&runtime, 4)[which];
            if !is_late {
                members[removed].end();
                runtime.quiescence().wait();
            }
            let scans = (0..4).filter(|&index| index != removed);
            let scans = scans
                .map(|index| members[index].scan(*team, form))
                .collect();
            if is_late {
                runtime.quiescence().wait();
                members[removed].end();
            }
            let failures = failures(scans);
            // With recursive doubling, the preceding elements do not need the removed element, and
            // get their results.
            let needs_it = match form {
                ScanForm::RecursiveDoubling if is_late => 3 - removed,
                _ => 3,
            };
            assert_eq!(failures.len(), needs_it, "{form}, {which}, {removed}");
            for failure in failures {
                assert!(failure.to_string().contains(ENDED), "{failure}");
            }
        }
    }
}

// Regression: the elements received a failure about a dropped message, or no failure at all.
#[test]
fn contributions_of_different_types_to_a_scan_fail() {
    for form in SCANS {
        for (which, unlike) in (0..12).map(|case| (case % 3, case / 3)) {
            let runtime = runtime(2);
            let (members, team) = &teams(&runtime, 4)[which];
            let scan = |index: usize| match index == unlike {
                true => members[index].scan_floats(*team, form),
                false => members[index].scan(*team, form),
            };
            let failures = failures((0..4).map(scan).collect());
            assert!(!failures.is_empty());
            for failure in &failures {
                let text = failure.to_string();
                assert!(text.contains("some elements contribute"), "{text}");
            }
            if matches!(form, ScanForm::PrescanPush) {
                assert_eq!(failures.len(), 4);
            }
        }
    }
}

#[test]
fn an_element_may_end_after_its_scan() {
    for form in SCANS {
        for which in 0..3 {
            let runtime = runtime(2);
            let (members, team) = teams(&runtime, 6)[which].clone();
            soon(move || {
                let scan = |index| match index {
                    2 | 5 => members[index as usize].scan_and_end(team, form),
                    _ => members[index as usize].scan(team, form),
                };
                let scans: Vec<_> = (0..6).map(scan).collect();
                let results: Vec<_> = scans.into_iter().map(|scan| scan.wait()).collect();
                assert_eq!(results, [0, 1, 2, 3, 4, 5]);
                runtime.quiescence().wait();
                says(members[0].scan(team, form).try_wait(), "a scan lacks");
            });
        }
    }
}

#[test]
fn a_replacement_element_takes_part_in_no_pending_scan() {
    for form in SCANS {
        let runtime = runtime(2);
        let array = members(&runtime, 3);
        array.remove(2);
        runtime.quiescence().wait();
        array.insert(2, |_| Member::default());
        let scan = array.at(2).scan(None, form);
        says(soon(move || scan.try_wait()), "a scan lacks");
    }
}

#[test]
fn scans_in_a_destroyed_section_fail() {
    const GONE: &str = "is no more: it has been destroyed";
    for form in SCANS {
        for which in [1, 2] {
            let runtime = runtime(2);
            let (members, team) = &teams(&runtime, 5)[which];
            let section = team.expect("it is a section");
            // With recursive doubling, no other member waits for the last one.
            let wait = (1..5).map(|index| members[index].scan(*team, form));
            let waiting = wait.collect();
            runtime.quiescence().wait();
            section.destroy();
            let failures = failures(waiting);
            assert_eq!(failures.len(), 4);
            for failure in &failures {
                assert!(failure.to_string().contains(GONE), "{failure}");
            }
            let late = members[0].scan(*team, form);
            says(soon(move || late.try_wait()), GONE);
        }
    }
}

// Regression: each migration and each end searched all sections of the array, which took 27 ms
// with 40,000 sections.
#[test]
fn elements_of_an_array_with_many_sections_migrate_and_end() {
    const COUNT: usize = 8_000;
    let runtime = runtime(2);
    let array = members(&runtime, 2_000);
    let member = |section: usize, place: usize| (section * 7 + place * 31) % 2_000;
    let sections = (0..COUNT).map(|section| array.section((0..10).map(|at| member(section, at))));
    let sections: Vec<_> = sections.collect();
    soon(move || {
        for section in &sections {
            section.all().vote(*section);
        }
        for section in &sections {
            assert_eq!(section.reduction::<u64>().wait(), 10);
        }
        for _ in 0..3 {
            array.all().go();
            runtime.quiescence().wait();
        }
        for section in &sections {
            section.all().vote(*section);
            section.destroy();
        }
    });
    // Some sections are destroyed while their reductions are under way, which is reported.
}

// Regression: the sender and each worker iterated over all members for each message.
#[test]
fn members_of_a_large_section_receive_messages_while_they_migrate() {
    const COUNT: usize = 50_000;
    let runtime = runtime(4);
    let array = members(&runtime, COUNT);
    let section = array.section((0..COUNT).step_by(2));
    soon(move || {
        for _ in 0..10 {
            array.all().go();
            for _ in 0..10 {
                section.all().receive();
            }
            for _ in 0..2 {
                section.all().vote(section);
            }
            array.at(1).call(section);
        }
        for _ in 0..20 {
            assert_eq!(section.reduction::<u64>().wait(), COUNT as u64 / 2);
        }
        runtime.quiescence().wait();
        array.all().received();
        assert_eq!(array.reduction::<u64>().wait(), 110 * COUNT as u64 / 2);
    });
}
