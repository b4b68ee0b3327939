//! `who_waits` answers always, and names all who wait.
//!
//! It waited for its answers as for any reply, and so panicked once anything had failed, which is when one asks. It left out elements of node
//! groups, and scans.

use raddle_chare::reduce::Sum;
use raddle_chare::{Chares, Cx, ScanForm, Section, chare};

use crate::common::{runtime, soon};

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
    fn hear(&mut self) {}
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
        idlers.at(3).hear();
        // Twice: once it has failed, waiting says nothing of what has been done.
        runtime.who_waits();
        runtime.who_waits()
    });
    assert_eq!(lines, ["Idler[3] waits in `wait`, and a message for it"]);
}

#[test]
fn it_names_the_element_of_a_node_group_once() {
    let lines = soon(|| {
        let runtime = runtime(3);
        let idlers = runtime.node_group(|_| Idler);
        // Whichever workers have had it.
        for _ in 0..100 {
            idlers.here().hear();
        }
        runtime.quiescence().wait();
        idlers.here().wait();
        idlers.here().hear();
        idlers.here().hear();
        runtime.quiescence().wait();
        runtime.who_waits()
    });
    assert_eq!(lines, ["a Idler waits in `wait`, and 2 messages for it"]);
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
        runtime.who_waits()
    });
    lines.sort();
    assert_eq!(
        lines,
        [
            "Idler[0] waits in `scan`",
            "Idler[2] waits in `scan`",
            "Idler[3] waits in `scan`",
            "scan 0 of Idler has 3 of 4 contributions"
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
        runtime.who_waits()
    });
    lines.sort();
    assert_eq!(
        lines,
        [
            "a Idler waits in `scan_in`",
            "a Idler waits in `scan_in`",
            "a Idler waits in `scan_in`",
            "scan 0 of section 0 of Idler has 1 of 3 contributions",
            "scan 0 of section 1 of Idler has 2 of 3 contributions"
        ]
    );
}
