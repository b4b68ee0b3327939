//! Sections of single chares: seeds that are placed, migrate and end while messages to them and
//! their contributions are under way.

use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle_chare::reduce::Gather;
use raddle_chare::{Array, ArrayOptions, Chares, Cx, Section, SectionForm, chare};
use raddle_runtime::Runtime;
use raddle_runtime::model::explore::{Scenario, beside, explore_some, panics_were_meant};

/// Records the messages that it receives.
struct Member {
    number: usize,
    received: Vec<u32>,
}

#[chare]
impl Member {
    /// Creates a member. Some members migrate immediately.
    fn new(cx: &mut Cx<Self>, number: usize) -> Self {
        if number % 3 == 1 {
            cx.migrate_to(number % cx.worker_count());
        }
        let received = Vec::new();
        Self { number, received }
    }

    #[entry]
    fn receive(&mut self, number: u32) {
        self.received.push(number);
    }

    /// Contributes and migrates.
    #[entry]
    fn vote(&mut self, cx: &mut Cx<Self>, section: Section<Self>, moves: bool) {
        cx.contribute_to(section, Gather::new(self.number));
        if moves {
            cx.migrate_to((cx.worker() + 1) % cx.worker_count());
        }
    }

    #[entry]
    fn vote_and_end(&mut self, cx: &mut Cx<Self>, section: Section<Self>) {
        cx.contribute_to(section, Gather::new(self.number));
        cx.end();
    }

    #[entry]
    fn end(&self, cx: &mut Cx<Self>) {
        cx.end();
    }

    #[entry]
    fn received(&self) -> Vec<u32> {
        self.received.clone()
    }
}

/// Creates teams.
struct Leader;

#[chare]
impl Leader {
    /// Creates members, and sends to them before and after they become a section.
    #[entry]
    fn create(&self, cx: &mut Cx<Self>, form: SectionForm, count: usize) -> Team {
        let create = |number| cx.chare(move |cx| Member::new(cx, number));
        let members: Vec<_> = (0..count).map(create).collect();
        for member in &members {
            member.receive(0);
        }
        let section = cx.runtime().section_with(form, members.iter().copied());
        section.all().receive(1);
        section.all().vote(section, true);
        (members, section)
    }

    #[entry]
    fn call(&self, section: Section<Member>, number: u32) {
        section.all().receive(number);
    }

    /// Returns the contributions of members that are created for this call and end after they have
    /// contributed.
    #[entry]
    async fn lead(&self, cx: &mut Cx<Self>, form: SectionForm, count: usize) -> Vec<usize> {
        let create = |number| cx.chare(move |cx| Member::new(cx, number));
        let members: Vec<_> = (0..count).map(create).collect();
        let section = cx.runtime().section_with(form, members);
        section.all().vote(section, true);
        let first: Vec<usize> = section.reduction().await;
        section.all().vote_and_end(section);
        let second: Vec<usize> = section.reduction().await;
        section.destroy();
        assert_eq!(first, second);
        first
    }
}

type Team = (Vec<MemberProxy>, Section<Member>);

const FORMS: [SectionForm; 2] = [SectionForm::PointToPoint, SectionForm::Binomial];

/// Builds a runtime with leaders, which are dealt to its workers round robin.
fn leaders(setting: &Scenario) -> (Runtime, Array<Leader>) {
    let runtime = crate::runtime(&setting);
    let workers = runtime.worker_count();
    let placed = ArrayOptions::new(3).placed(move |index| index % workers);
    let leaders = runtime.array_with(placed, |_| Leader);
    (runtime, leaders)
}

#[test]
fn seeds_receive_messages_to_their_section_once_and_vote() {
    explore_some(96, |setting| {
        let (runtime, leaders) = leaders(&setting);
        let (form, count) = (setting.one_of(&FORMS), setting.one_of(&[3, 5]));
        let (members, section) = leaders.at(2).create(form, count).wait();
        let call = move || section.all().receive(2);
        let here = || {
            leaders.at(1).call(section, 3);
            section.all().vote(section, true);
            section.all().receive(4);
            section.all().receive(5);
        };
        beside(call, here);
        for _ in 0..2 {
            let indices: Vec<usize> = section.reduction().wait();
            assert_eq!(indices, (0..count).collect::<Vec<_>>());
        }
        runtime.quiescence().wait();
        for member in members {
            let mut received = member.received().wait();
            if form == SectionForm::PointToPoint {
                let own: Vec<_> = received.iter().filter(|&&number| number < 2).collect();
                assert_eq!(own, [&0, &1], "{received:?}");
            }
            let own: Vec<_> = received.iter().filter(|&&number| number > 3).collect();
            assert_eq!(own, [&4, &5], "{received:?}");
            received.sort_unstable();
            assert_eq!(received, [0, 1, 2, 3, 4, 5]);
        }
    });
}

#[test]
fn teams_may_be_created_and_end_concurrently() {
    explore_some(96, |setting| {
        let (runtime, leaders) = leaders(&setting);
        let form = setting.one_of(&FORMS);
        let counts = [5, 3];
        let replies = counts.map(|count| leaders.at(count % 3).lead(form, count));
        for (reply, count) in replies.into_iter().zip(counts) {
            assert_eq!(reply.wait(), (0..count).collect::<Vec<_>>());
        }
        runtime.quiescence().wait();
    });
}

// The creation of the first section looks for its members, and an ending member looks for its
// sections. One of the two must see the other.
#[test]
fn a_member_that_ends_during_the_creation_of_its_section_is_reported() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let form = setting.one_of(&FORMS);
        let make = |number| runtime.chare(move |cx| Member::new(cx, number));
        let members: Vec<_> = (0..3).map(make).collect();
        let ends = members[setting.one_of(&[0, 1, 2])];
        let end = move || ends.end();
        let here = || {
            let make = || runtime.section_with(form, members.iter().copied());
            catch_unwind(AssertUnwindSafe(make)).ok()
        };
        let ((), section) = beside(end, here);
        if let Some(section) = section {
            let votes = section.reduction::<Vec<usize>>().try_wait();
            votes.expect_err("one has ended");
        }
        runtime.quiescence().wait();
        panics_were_meant();
    });
}

#[test]
fn waits_for_a_team_that_loses_a_member_fail() {
    explore_some(96, |setting| {
        let (runtime, leaders) = leaders(&setting);
        let (form, count) = (setting.one_of(&FORMS), 4);
        let (members, section) = leaders.at(0).create(form, count).wait();
        let wait = move || {
            let first = section.reduction::<Vec<usize>>().try_wait();
            (first, section.reduction::<Vec<usize>>().try_wait())
        };
        let here = || {
            members[setting.one_of(&[0, 1, 2, 3])].end();
            members[1].vote(section, true);
        };
        let ((first, second), ()) = beside(wait, here);
        // The last message may have arrived before that of the section, or after the end of the
        // member.
        if let Ok(indices) = first {
            assert_eq!(indices, (0..count).collect::<Vec<_>>());
        }
        second.expect_err("one has ended");
        let _ = runtime.quiescence().try_wait();
    });
}
