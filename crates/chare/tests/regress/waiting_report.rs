//! `explain_waits` always answers, and names everything that waits.
//!
//! Regressions: `explain_waits` waited for its answers like for any reply, and therefore panicked
//! after a failure, which is when programs call it. It omitted elements of node groups, and scans.
//! It knew only the contributions that had reached the root of a reduction: with three of four
//! contributions made, it reported none, and it never named the missing element.

use raddle_chare::reduce::Sum;
use raddle_chare::{Chares, Cx, ScanForm, Section, chare};

use crate::FORMS;
use crate::common::runtime;
use crate::soon::soon;

struct Idler;

#[chare]
impl Idler {
    #[message]
    fn go();

    #[entry]
    fn fall(&mut self) {
        panic!("falls");
    }
    #[entry]
    fn receive(&mut self) {}
    #[entry]
    fn vote(&mut self, cx: &mut Cx<Self>) {
        cx.contribute(Sum(1_u32));
    }
    #[entry]
    fn vote_in(&mut self, cx: &mut Cx<Self>, section: Section<Self>) {
        cx.contribute_to(section, Sum(1_u32));
    }
    #[entry]
    async fn wait(&mut self, cx: &mut Cx<Self>) {
        cx.next(Self::go).await;
    }
    #[entry]
    async fn scan_in(&mut self, cx: &mut Cx<Self>, section: Section<Self>) -> u32 {
        let form = ScanForm::PrescanPush;
        cx.scan_in_with(section, form, Sum(1_u32)).await
    }
    #[entry]
    async fn scan(&mut self, cx: &mut Cx<Self>) -> u32 {
        cx.scan_with(ScanForm::PrescanPush, Sum(1_u32)).await
    }
}

#[test]
fn it_answers_after_a_failure() {
    let lines = soon(|| {
        let runtime = runtime(2);
        let idlers = runtime.array(4, |_| Idler);
        idlers.at(0).fall();
        idlers.at(3).wait();
        runtime.quiescence().try_wait().expect_err("it falls");
        idlers.at(3).receive();
        // Call it twice: after a failure, a wait does not show that earlier messages have been
        // processed.
        runtime.explain_waits();
        runtime.explain_waits()
    });
    assert_eq!(lines, ["Idler[3] waits in `wait`, and a message for it"]);
}

#[test]
fn it_names_the_element_of_a_node_group_once() {
    let lines = soon(|| {
        let runtime = runtime(3);
        let idlers = runtime.node_group(|_| Idler);
        // Any worker may have run the element.
        for _ in 0..100 {
            idlers.here().receive();
        }
        runtime.quiescence().wait();
        idlers.here().wait();
        idlers.here().receive();
        idlers.here().receive();
        runtime.quiescence().wait();
        runtime.explain_waits()
    });
    assert_eq!(lines, ["a Idler waits in `wait`, and 2 messages for it"]);
}

#[test]
fn it_names_the_elements_that_a_reduction_lacks() {
    // The elements that have contributed are on both workers, on one worker, or there are none.
    let cases: [(&[usize], &str); 3] = [
        (
            &[0, 1, 3],
            "3 of 4 contributions; Array<Idler>#0 lacks those of Idler[2]",
        ),
        (
            &[2, 3],
            "2 of 4 contributions; Array<Idler>#0 lacks those of Idler[0], Idler[1]",
        ),
        (
            &[],
            "0 of 4 contributions; \
             Array<Idler>#0 lacks those of Idler[0], Idler[1], Idler[2], Idler[3]",
        ),
    ];
    for (voters, expected) in cases {
        let lines = soon(move || {
            let runtime = runtime(2);
            let idlers = runtime.array(4, |_| Idler);
            voters.iter().for_each(|&index| idlers.at(index).vote());
            let sum = idlers.reduction::<u32>();
            runtime.quiescence().wait();
            let lines = runtime.explain_waits();
            drop(sum);
            lines
        });
        assert_eq!(lines, [format!("reduction 0 of Idler has {expected}")]);
    }
}

#[test]
fn it_counts_reductions_that_some_elements_are_ahead_in() {
    let lines = soon(|| {
        let runtime = runtime(2);
        let idlers = runtime.array(20, |_| Idler);
        for _ in 0..3 {
            idlers.at(0).vote();
        }
        runtime.quiescence().wait();
        runtime.explain_waits()
    });
    let names: Vec<_> = (1..9).map(|index| format!("Idler[{index}]")).collect();
    let names = names.join(", ");
    let expected = format!(
        "reduction 0 of Idler has 1 of 20 contributions; \
         Array<Idler>#0 lacks those of {names} and 11 more; 2 later reductions have begun"
    );
    assert_eq!(lines, [expected]);
}

#[test]
fn it_names_the_members_that_a_reduction_of_a_section_lacks() {
    for form in FORMS {
        let lines = soon(move || {
            let runtime = runtime(2);
            let idlers = runtime.array(8, |_| Idler);
            let section = idlers.section_with(form, [6, 5, 2, 1, 0]);
            for index in [0, 1, 6] {
                idlers.at(index).vote_in(section);
            }
            runtime.quiescence().wait();
            runtime.explain_waits()
        });
        let expected = "reduction 0 of section 0 of Idler has 3 of 5 contributions; \
            Section<Idler>#0 lacks those of Idler[5], Idler[2]";
        assert_eq!(lines, [expected], "{form:?}");
    }
}

#[test]
fn it_names_scans_that_lack_contributions() {
    let mut lines = soon(|| {
        let runtime = runtime(2);
        let idlers = runtime.array(4, |_| Idler);
        for index in [0, 2, 3] {
            drop(idlers.at(index).scan());
        }
        runtime.quiescence().wait();
        runtime.explain_waits()
    });
    lines.sort();
    assert_eq!(
        lines,
        [
            "Idler[0] waits in `scan`",
            "Idler[2] waits in `scan`",
            "Idler[3] waits in `scan`",
            "scan 0 of Idler has 3 of 4 contributions; Array<Idler>#0 lacks those of Idler[1]"
        ]
    );
}

#[test]
fn it_names_scans_of_sections_that_lack_contributions() {
    let mut lines = soon(|| {
        let runtime = runtime(2);
        let idlers = [(); 3].map(|()| runtime.chare(|_| Idler));
        let sections = [(); 2].map(|()| runtime.section(idlers));
        drop(idlers[0].scan_in(sections[1]));
        drop(idlers[2].scan_in(sections[1]));
        drop(idlers[1].scan_in(sections[0]));
        runtime.quiescence().wait();
        runtime.explain_waits()
    });
    lines.sort();
    assert_eq!(
        lines,
        [
            "a Idler waits in `scan_in`",
            "a Idler waits in `scan_in`",
            "a Idler waits in `scan_in`",
            "scan 0 of section 0 of Idler has 1 of 3 contributions; \
             Section<Idler>#0 lacks those of member 0, member 2",
            "scan 0 of section 1 of Idler has 2 of 3 contributions; \
             Section<Idler>#1 lacks those of member 1"
        ]
    );
}
