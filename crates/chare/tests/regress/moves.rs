//! Many elements that migrate at the same time: they migrate together, regardless of the number of
//! requests, and the messages under way to them keep their order.

use raddle_chare::reduce::Sum;
use raddle_chare::{Array, Chares, Cx, chare};
use raddle_runtime::{MailboxKind, Runtime};

use crate::common::{runtime, runtime_with};
use crate::soon::soon;

/// Migrates on request, and checks that numbered messages arrive in order.
#[derive(Default)]
struct Nomad {
    received: u64,
    moves: u64,
}

#[chare]
impl Nomad {
    #[entry]
    fn receive(&mut self, number: u64) {
        assert_eq!(self.received, number, "numbered messages come in order");
        self.received += 1;
    }

    #[entry]
    fn received(&self, cx: &mut Cx<Self>) {
        cx.contribute(Sum(self.received));
    }

    #[entry]
    fn go(&mut self, cx: &mut Cx<Self>) {
        self.moves += 1;
        cx.migrate_to((cx.worker() + 1) % cx.worker_count());
    }

    #[entry]
    fn go_to(&self, cx: &mut Cx<Self>, worker: usize) {
        cx.migrate_to(worker);
    }

    /// Requests the same migration repeatedly. Only the first request has an effect.
    #[entry]
    fn insist(&self, cx: &mut Cx<Self>, times: usize) {
        let to = (cx.worker() + 1) % cx.worker_count();
        for _ in 0..times {
            cx.migrate_to(to);
        }
    }

    /// Requests several migrations, of which only the last one counts.
    #[entry]
    fn dither(&self, cx: &mut Cx<Self>) {
        for worker in (0..cx.worker_count()).rev() {
            cx.migrate_to(worker);
        }
    }

    #[entry]
    fn place(&self, cx: &mut Cx<Self>) -> usize {
        cx.worker()
    }

    #[entry]
    fn places(&self, cx: &mut Cx<Self>) {
        cx.contribute(Sum(cx.worker() as u64));
    }
}

fn nomads(runtime: &Runtime, count: usize) -> Array<Nomad> {
    runtime.array(count, |_| Nomad::default())
}

// Regression: each request without effect started the next one recursively, until the stack
// overflowed and the process aborted.
#[test]
fn an_element_may_request_migration_ten_thousand_times() {
    let runtime = runtime(2);
    let array = nomads(&runtime, 2);
    soon(move || {
        array.at(1).insist(10_000);
        runtime.quiescence().wait();
        assert_eq!(array.at(1).place().wait(), 0);
    });
}

// Checks the same for half of the elements, which already are on the target worker. Regression:
// the other half migrated one after the other, in about 45 µs each.
#[test]
fn all_elements_may_migrate_to_one_worker() {
    let runtime = runtime(2);
    let array = nomads(&runtime, 100_000);
    soon(move || {
        array.all().go_to(0);
        runtime.quiescence().wait();
        array.all().places();
        assert_eq!(array.reduction::<u64>().wait(), 0);
    });
}

#[test]
fn the_last_of_several_migration_requests_counts() {
    let runtime = runtime(3);
    let array = nomads(&runtime, 100);
    soon(move || {
        array.all().dither();
        runtime.quiescence().wait();
        array.all().places();
        assert_eq!(array.reduction::<u64>().wait(), 0);
    });
}

// Messages come from outside and from other elements, with and without priorities, while all
// elements of two arrays migrate.
#[test]
fn messages_to_a_hundred_thousand_migrating_elements_arrive_once_and_in_order() {
    const COUNT: usize = 100_000;
    for mailbox in [MailboxKind::default(), MailboxKind::Pairs] {
        let runtime = runtime_with(3, |builder| builder.mailbox(mailbox));
        let (array, other) = (nomads(&runtime, COUNT), nomads(&runtime, COUNT / 10));
        soon(move || {
            for number in 0..3 {
                array.all().receive(2 * number);
                array.all().go();
                other.all().go();
                for index in (0..COUNT).step_by(3) {
                    array.at(index).receive(2 * number + 1);
                }
                for index in (0..COUNT).filter(|index| index % 3 > 0) {
                    array.at(index).receive(2 * number + 1);
                }
                for index in 0..COUNT / 10 {
                    other.at(index).with_priority(1).receive(number);
                }
                runtime.quiescence().wait();
            }
            array.all().received();
            assert_eq!(array.reduction::<u64>().wait(), 6 * COUNT as u64);
            other.all().received();
            assert_eq!(other.reduction::<u64>().wait(), 3 * COUNT as u64 / 10);
        });
    }
}
