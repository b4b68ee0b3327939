//! Sections: where their reductions end.

#![cfg(not(any(loom, shuttle)))]

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use raddle_chare::reduce::Gather;
use raddle_chare::{Array, ArrayOptions, Chares, Cx, Section, SectionForm, chare};
use raddle_runtime::Runtime;

/// Beyond this, something hangs.
const PATIENCE: Duration = Duration::from_secs(60);

fn runtime(workers: usize) -> Runtime {
    Runtime::builder()
        .workers(workers)
        .build()
        .expect("it comes up")
}

/// Has its worker to itself for a while.
struct Busybody;

#[chare]
impl Busybody {
    /// Says that it has begun, and goes on until somebody says so.
    #[entry]
    fn hold_up(&self, begun: Sender<()>, until: Receiver<()>) {
        begun.send(()).expect("somebody waits for this");
        let told = until.recv_timeout(PATIENCE);
        told.expect("others do without this worker");
    }
}

/// Calls `call` while worker `worker` takes no messages.
fn without_worker<R>(runtime: &Runtime, worker: usize, call: impl FnOnce() -> R) -> R {
    let ((begun, has_begun), (go_on, until)) = (channel(), channel());
    runtime.chare_on(worker, |_| Busybody).hold_up(begun, until);
    has_begun.recv().expect("it begins");
    let result = call();
    go_on.send(()).expect("it is still there");
    result
}

/// Has a number.
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
}

/// Has others work for it.
struct Leader;

#[chare]
impl Leader {
    /// The numbers of some members of an array, after each has got 100 more, three times.
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
}

/// Reductions of a section went to the root of its array, and waited for that worker's other work.
#[test]
fn a_section_on_one_worker_needs_no_other() {
    for busy in 0..2 {
        let runtime = runtime(2);
        let own = 1 - busy;
        // The roots of two arrays made one after the other are on different workers.
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
