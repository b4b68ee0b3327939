//! Sections of chares that are in no array: seeds that sprout, move and end while messages to them and contributions of theirs are under way.

use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle_chare::reduce::Gather;
use raddle_chare::{Array, ArrayOptions, Chares, Cx, Section, SectionForm, chare};
use raddle_runtime::Runtime;
use raddle_runtime::model::explore::{Setting, beside, explore_some, panics_were_meant};

/// Notes what it hears.
struct Member {
    number: usize,
    heard: Vec<u32>,
}

#[chare]
impl Member {
    /// Some move as soon as they are made.
    fn new(cx: &mut Cx<Self>, number: usize) -> Self {
        if number % 3 == 1 {
            cx.migrate_to(number % cx.worker_count());
        }
        let heard = Vec::new();
        Self { number, heard }
    }

    #[entry]
    fn hear(&mut self, number: u32) {
        self.heard.push(number);
    }

    /// Contributes, and moves on.
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
    fn heard(&self) -> Vec<u32> {
        self.heard.clone()
    }
}

/// Has others work for it.
struct Leader;

#[chare]
impl Leader {
    /// Sows members, and sends to them before they are a section and afterwards.
    #[entry]
    fn sow(&self, cx: &mut Cx<Self>, form: SectionForm, count: usize) -> Team {
        let sow = |number| cx.chare(move |cx| Member::new(cx, number));
        let members: Vec<_> = (0..count).map(sow).collect();
        for member in &members {
            member.hear(0);
        }
        let section = cx.runtime().section_with(form, members.iter().copied());
        section.all().hear(1);
        section.all().vote(section, true);
        (members, section)
    }

    #[entry]
    fn call(&self, section: Section<Member>, number: u32) {
        section.all().hear(number);
    }

    /// What members say that are made for it, and end when they have said it.
    #[entry]
    async fn lead(&self, cx: &mut Cx<Self>, form: SectionForm, count: usize) -> Vec<usize> {
        let sow = |number| cx.chare(move |cx| Member::new(cx, number));
        let members: Vec<_> = (0..count).map(sow).collect();
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

/// A runtime with leaders, one after the other on its workers.
fn leaders(setting: &Setting) -> (Runtime, Array<Leader>) {
    let runtime = setting.runtime();
    let workers = runtime.worker_count();
    let placed = ArrayOptions::new(3).placed(move |index| index % workers);
    let leaders = runtime.array_with(placed, |_| Leader);
    (runtime, leaders)
}

#[test]
fn seeds_hear_what_is_sent_to_their_section_once_and_vote() {
    explore_some(96, |setting| {
        let (runtime, leaders) = leaders(&setting);
        let (form, count) = (setting.one_of(&FORMS), setting.one_of(&[3, 5]));
        let (members, section) = leaders.at(2).sow(form, count).wait();
        let call = move || section.all().hear(2);
        let here = || {
            leaders.at(1).call(section, 3);
            section.all().vote(section, true);
            section.all().hear(4);
            section.all().hear(5);
        };
        beside(call, here);
        for _ in 0..2 {
            let who: Vec<usize> = section.reduction().wait();
            assert_eq!(who, (0..count).collect::<Vec<_>>());
        }
        runtime.quiescence().wait();
        for member in members {
            let mut heard = member.heard().wait();
            if form == SectionForm::PointToPoint {
                let own: Vec<_> = heard.iter().filter(|&&number| number < 2).collect();
                assert_eq!(own, [&0, &1], "{heard:?}");
            }
            let own: Vec<_> = heard.iter().filter(|&&number| number > 3).collect();
            assert_eq!(own, [&4, &5], "{heard:?}");
            heard.sort_unstable();
            assert_eq!(heard, [0, 1, 2, 3, 4, 5]);
        }
    });
}

#[test]
fn teams_are_made_and_end_beside_each_other() {
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

/// Whoever makes the first section of all looks for the members, and one that ends for its sections: one of the two sees the other.
#[test]
fn a_member_that_ends_as_its_section_is_made_is_missed() {
    explore_some(96, |setting| {
        let runtime = setting.runtime();
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
fn who_waits_for_a_team_that_loses_a_member_is_told() {
    explore_some(96, |setting| {
        let (runtime, leaders) = leaders(&setting);
        let (form, count) = (setting.one_of(&FORMS), 4);
        let (members, section) = leaders.at(0).sow(form, count).wait();
        let wait = move || {
            let first = section.reduction::<Vec<usize>>().try_wait();
            (first, section.reduction::<Vec<usize>>().try_wait())
        };
        let here = || {
            members[setting.one_of(&[0, 1, 2, 3])].end();
            members[1].vote(section, true);
        };
        let ((first, second), ()) = beside(wait, here);
        // The last message may have come before the one of the section, or to one that has ended.
        if let Ok(who) = first {
            assert_eq!(who, (0..count).collect::<Vec<_>>());
        }
        second.expect_err("one has ended");
        let _ = runtime.quiescence().try_wait();
    });
}
