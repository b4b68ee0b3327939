//! Sections: the workers where their reductions end, sections of single chares, and scans in
//! sections.

use raddle_chare::SeedPolicy;
use raddle_chare::reduce::{Concat, Gather, Sum};
use raddle_chare::{Array, ArrayOptions, Chares, Cx, ScanForm, Section, SectionForm, chare};
use raddle_runtime::Runtime;

use crate::blocker::block;
use crate::common::{runtime, runtime_with};

/// Calls `call` while worker `worker` processes no messages.
fn without_worker<R>(runtime: &Runtime, worker: usize, call: impl FnOnce() -> R) -> R {
    let end = block(runtime, worker);
    let result = call();
    end.send(()).expect("it is blocked");
    result
}

/// A member with a number.
struct Member {
    number: u64,
}

#[chare]
impl Member {
    #[entry]
    fn add(&mut self, more: u64) {
        self.number += more;
    }

    #[entry]
    fn tell(&mut self, cx: &mut Cx<Self>, section: Section<Self>) {
        cx.contribute_to(section, Gather::new(self.number));
    }

    /// Contributes and then migrates to another worker.
    #[entry]
    fn tell_and_go(&mut self, cx: &mut Cx<Self>, section: Section<Self>) {
        cx.contribute_to(section, Gather::new(self.number));
        cx.migrate_to((cx.worker() + 1) % cx.worker_count());
    }

    #[entry]
    fn tell_and_end(&mut self, cx: &mut Cx<Self>, section: Section<Self>) {
        cx.contribute_to(section, Gather::new(self.number));
        cx.end();
    }

    /// Returns the sum and the list of the numbers of all preceding members.
    #[entry]
    async fn before(
        &mut self,
        cx: &mut Cx<Self>,
        section: Section<Self>,
        form: ScanForm,
    ) -> (u64, Vec<u64>) {
        let sum = cx.scan_in_with(section, form, Sum(self.number)).await;
        let numbers = Concat::new(vec![self.number]);
        (sum, cx.scan_in_with(section, form, numbers).await)
    }

    /// Returns the number of preceding members in the array and in both sections.
    #[entry]
    async fn places(&mut self, cx: &mut Cx<Self>, sections: [Section<Self>; 2]) -> [u32; 3] {
        let one = Sum(1_u32);
        let in_array = cx.scan(one).await;
        let [first, second] = sections;
        let in_first = cx.scan_in(first, one).await;
        [in_array, in_first, cx.scan_in(second, one).await]
    }

    #[entry]
    fn number(&self) -> u64 {
        self.number
    }

    #[entry]
    fn end(&self, cx: &mut Cx<Self>) {
        cx.end();
    }
}

/// Starts reductions and collects their results.
struct Leader;

#[chare]
impl Leader {
    /// Adds 100 to the numbers of some members of an array, three times, and returns the numbers
    /// each time.
    #[entry]
    async fn lead(&self, members: Array<Member>, form: SectionForm, count: usize) -> Vec<u64> {
        let section = members.section_with(form, (0..count).rev());
        let mut numbers = Vec::new();
        for _ in 0..3 {
            section.all().add(100);
            section.all().tell(section);
            numbers = section.reduction().await;
        }
        numbers
    }

    /// Does the same with chares that it creates for this purpose and that end with it.
    #[entry]
    async fn lead_team(&self, cx: &mut Cx<Self>, form: SectionForm, count: u64) -> Vec<u64> {
        let seeds = (0..count)
            .rev()
            .map(|number| cx.chare(move |_| Member { number }));
        let team = cx.runtime().section_with(form, seeds);
        for _ in 0..2 {
            team.all().add(100);
            team.all().tell(team);
            let _: Vec<u64> = team.reduction().await;
        }
        team.all().add(100);
        team.all().tell_and_end(team);
        team.reduction().await
    }
}

// Regression: reductions of a section went to the root of its array, and waited for the other work
// of that worker.
#[test]
fn a_section_on_one_worker_needs_no_other_worker() {
    for busy in 0..2 {
        let runtime = runtime(2);
        let own = 1 - busy;
        // The roots of two arrays created one after the other are on different workers.
        for _ in 0..2 {
            let placed = ArrayOptions::new(6).placed(move |_| own);
            let members = runtime.array_with(placed, |index| Member {
                number: index as u64,
            });
            let leader = runtime.chare_on(own, |_| Leader);
            runtime.quiescence().wait();
            without_worker(&runtime, busy, || {
                for form in SectionForm::ALL {
                    for count in [1, 3, 6] {
                        let numbers = leader.lead(members, form, count).wait();
                        let own = numbers.iter().map(|number| number % 100);
                        assert_eq!(
                            own.rev().collect::<Vec<_>>(),
                            (0..count as u64).collect::<Vec<_>>()
                        );
                    }
                }
            });
        }
    }
}

// If all other workers are busy, seeds are placed on the worker that created them. Their
// reductions end on that worker, too.
#[test]
fn a_team_on_one_worker_needs_no_other_worker() {
    for busy in 0..2 {
        let runtime = runtime(2);
        let leader = runtime.chare_on(1 - busy, |_| Leader);
        assert_eq!(leader.lead_team(SectionForm::Auto, 1).wait(), [300]);
        without_worker(&runtime, busy, || {
            for form in SectionForm::ALL {
                for count in [1, 3, 6] {
                    let numbers = leader.lead_team(form, count).wait();
                    let expected = (300..300 + count).rev();
                    assert_eq!(numbers, expected.collect::<Vec<_>>());
                }
            }
        });
        runtime.quiescence().wait();
    }
}

/// Creates chares in no array: seeds from outside, and some that are placed on given workers.
fn chares(runtime: &Runtime, count: u64) -> Vec<MemberProxy> {
    let workers = runtime.worker_count();
    let make = |number| match number % 3 {
        0 => runtime.chare_on(number as usize % workers, move |_| Member { number }),
        _ => runtime.chare(move |_| Member { number }),
    };
    (0..count).map(make).collect()
}

#[test]
fn sections_of_single_chares_are_ordered_by_chare_number() {
    use SectionForm::{Auto, Binomial, PointToPoint, TwoLevel};
    let runtime = runtime(1);
    let expected = [
        (Auto, 4, PointToPoint),
        (Auto, 5, Binomial),
        (TwoLevel, 4, PointToPoint),
        (TwoLevel, 5, Binomial),
        (PointToPoint, 5, PointToPoint),
        (Binomial, 2, Binomial),
    ];
    for (form, count, becomes) in expected {
        let section = runtime.section_with(form, chares(&runtime, count));
        assert_eq!(section.forms(), (becomes, becomes), "{form} of {count}");
        assert_eq!(section.count(), count as usize);
    }
}

#[test]
fn sections_of_single_chares_broadcast_and_reduce_in_every_form() {
    for policy in SeedPolicy::ALL {
        for workers in 1..=4 {
            let runtime = runtime_with(workers, |builder| builder.setting(policy));
            for form in SectionForm::ALL {
                for count in [0, 1, 2, 3, 5, 8, 13, 20] {
                    let section = runtime.section_with(form, chares(&runtime, count));
                    for round in 1..=3 {
                        section.all().add(100);
                        section.all().tell_and_go(section);
                        if count > 0 {
                            let numbers: Vec<u64> = section.reduction().wait();
                            let expected = (0..count).map(|number| number + 100 * round);
                            let expected: Vec<_> = expected.collect();
                            assert_eq!(numbers, expected, "{form}, {count} of {workers}");
                        }
                    }
                    section.destroy();
                }
            }
            runtime.quiescence().wait();
        }
    }
}

#[test]
fn leaders_create_teams_concurrently() {
    let runtime = runtime(3);
    let leaders = (0..20).map(|_| runtime.chare(|_| Leader));
    let leaders: Vec<_> = leaders.collect();
    for _ in 0..10 {
        let lead = |(leader, count): (&LeaderProxy, u64)| {
            let form = SectionForm::ALL[count as usize % SectionForm::ALL.len()];
            leader.lead_team(form, count)
        };
        let replies: Vec<_> = leaders.iter().zip(1..).map(lead).collect();
        for (reply, count) in replies.into_iter().zip(1..) {
            let expected = (300..300 + count).rev();
            assert_eq!(reply.wait(), expected.collect::<Vec<_>>());
        }
    }
    runtime.quiescence().wait();
}

// A chare may be a member of several sections. A contribution to one section is no contribution to
// the others.
#[test]
fn sections_of_the_same_chares_reduce_independently() {
    let runtime = runtime(2);
    let members = chares(&runtime, 9);
    let all = runtime.section(members.iter().copied());
    let (odd, even): (Vec<_>, Vec<_>) = (0..9_u64).partition(|number| number % 2 == 1);
    let parts = [odd, even].map(|numbers| {
        let of = numbers.iter().map(|&number| members[number as usize]);
        (runtime.section(of), numbers)
    });
    for _ in 0..3 {
        all.all().tell(all);
        for (part, _) in &parts {
            part.all().tell(*part);
        }
        for (part, numbers) in &parts {
            assert_eq!(part.reduction::<Vec<u64>>().wait(), *numbers);
        }
        let numbers: Vec<u64> = all.reduction().wait();
        assert_eq!(numbers, (0..9).collect::<Vec<_>>());
    }
}

#[test]
fn a_team_that_lost_a_member_reports_it() {
    const LOST: &str = "a section of Member has lost a Member, which has ended";
    for form in SectionForm::ALL {
        for count in [3, 8] {
            let lame = || {
                let runtime = runtime(2);
                let members = chares(&runtime, count);
                let section = runtime.section_with(form, members.iter().copied());
                members[2].end();
                runtime.quiescence().wait();
                (runtime, members, section)
            };
            let (runtime, _, section) = lame();
            section.all().add(1);
            let report = runtime.quiescence().try_wait().expect_err("one has ended");
            assert_eq!(report.to_string(), LOST);

            let (runtime, members, section) = lame();
            members[0].tell(section);
            let report = runtime.quiescence().try_wait().expect_err("one has ended");
            assert_eq!(report.to_string(), LOST);

            let (_runtime, _, section) = lame();
            let report = section.reduction::<Vec<u64>>().try_wait();
            assert_eq!(report.expect_err("one has ended").to_string(), LOST);
        }
    }
}

// A member that had ended before the section was created is reported at once. A member that ends
// afterwards is reported to pending calls.
#[test]
fn a_team_has_no_result_if_a_member_ends_before_it_contributes() {
    for form in SectionForm::ALL {
        for count in [4, 8] {
            let runtime = runtime(2);
            let members = chares(&runtime, count);
            let section = runtime.section_with(form, members.iter().copied());
            let result = section.reduction::<Vec<u64>>();
            for member in &members[1..] {
                member.tell(section);
            }
            members[0].end();
            result.try_wait().expect_err("one has ended");
        }
    }
}

#[test]
fn a_destroyed_team_is_gone() {
    let runtime = runtime(2);
    let members = chares(&runtime, 6);
    let section = runtime.section(members.iter().copied());
    section.all().tell(section);
    assert_eq!(section.reduction::<Vec<u64>>().wait().len(), 6);
    runtime.quiescence().wait();
    section.destroy();
    let again = runtime.section(members.iter().copied());
    again.all().tell(again);
    assert_eq!(again.reduction::<Vec<u64>>().wait().len(), 6);
    let report = section.reduction::<Vec<u64>>().try_wait();
    let report = report.expect_err("the section is destroyed").to_string();
    assert!(
        report.contains("is no more: it has been destroyed"),
        "{report}"
    );
    assert_eq!(members[5].number().wait(), 5);
}

/// Creates a section of the members with these numbers, and asks them for their scans in the order
/// of `asked`.
#[track_caller]
fn check_scans(
    section: Section<Member>,
    members: &[(MemberProxy, u64)],
    form: ScanForm,
    asked: impl Iterator<Item = usize>,
) {
    let ask = |place: usize| (place, members[place].0.before(section, form));
    let replies: Vec<_> = asked.map(ask).collect();
    for (place, reply) in replies {
        let before: Vec<_> = members[..place].iter().map(|member| member.1).collect();
        let expected = (before.iter().sum(), before);
        let count = members.len();
        assert_eq!(reply.wait(), expected, "{form}, {place} of {count}");
    }
}

#[test]
fn scans_in_sections_return_the_contributions_of_preceding_members() {
    for workers in 1..=4 {
        let runtime = runtime(workers);
        for count in [1, 2, 3, 7, 8, 21] {
            let array = runtime.array(40, |index| Member {
                number: index as u64,
            });
            let some: Vec<_> = (0..count).map(|at| (at * 7 + 3) % 40).collect();
            let section = array.section(some.iter().copied());
            let members: Vec<_> = some.iter().map(|&at| (array.at(at), at as u64)).collect();
            let alone: Vec<_> = chares(&runtime, count as u64)
                .into_iter()
                .zip(0..)
                .collect();
            let team = runtime.section(alone.iter().map(|member| member.0));
            for form in ScanForm::ALL {
                check_scans(section, &members, form, (0..count).rev());
                check_scans(team, &alone, form, 0..count);
                check_scans(team, &alone, form, (0..count).rev());
            }
            team.destroy();
        }
        runtime.quiescence().wait();
    }
}

// Each member takes part in three scans, one after the other. Other members may already be in the
// next scan.
#[test]
fn scans_of_an_array_and_its_sections_are_independent() {
    const COUNT: usize = 12;
    for workers in 1..=3 {
        let runtime = runtime(workers);
        let array = runtime.array(COUNT, |index| Member {
            number: index as u64,
        });
        let back = array.section((0..COUNT).rev());
        let halves = [0, 1].map(|first| array.section((first..COUNT).step_by(2)));
        for _ in 0..5 {
            let ask = |index| array.at(index).places([back, halves[index % 2]]);
            let replies: Vec<_> = (0..COUNT).map(ask).collect();
            for (index, reply) in replies.into_iter().enumerate() {
                let places = [index, COUNT - 1 - index, index / 2];
                assert_eq!(reply.wait(), places.map(|place| place as u32));
            }
        }
    }
}
