//! `who_waits` answers always, and names all who wait.
//!
//! It waited for its answers as for any reply, and so panicked once anything had failed, which is when one asks. It left out elements of node
//! groups, and scans.

use raddle_chare::reduce::Sum;
use raddle_chare::{Chares, Cx, ScanForm, chare};

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
