//! Many elements that move at once: they move together, however many ask for it, and what is under way to them keeps its order.

use raddle_chare::reduce::Sum;
use raddle_chare::{Array, Chares, Cx, chare};
use raddle_runtime::{MailboxKind, Runtime};

use crate::common::{runtime, soon};

/// Goes where it is told to, and sees to it that numbered messages come in order.
#[derive(Default)]
struct Nomad {
    heard: u64,
    moves: u64,
}

#[chare]
impl Nomad {
    #[entry]
    fn hear(&mut self, number: u64) {
        assert_eq!(self.heard, number, "numbered messages come in order");
        self.heard += 1;
    }

    #[entry]
    fn heard(&self, cx: &mut Cx<Self>) {
        cx.contribute(Sum(self.heard));
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

    /// Asks for it again and again; only the first time there is anything to do.
    #[entry]
    fn insist(&self, cx: &mut Cx<Self>, times: usize) {
        let to = (cx.worker() + 1) % cx.worker_count();
        for _ in 0..times {
            cx.migrate_to(to);
        }
    }

    /// The last one counts.
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

/// Each request that led nowhere began the next one: the stack overflowed, and the process was aborted.
#[test]
fn an_element_asks_ten_thousand_times_to_be_moved() {
    let runtime = runtime(2);
    let array = nomads(&runtime, 2);
    soon(move || {
        array.at(1).insist(10_000);
        runtime.quiescence().wait();
        assert_eq!(array.at(1).place().wait(), 0);
    });
}

/// The same, of half of the elements, which are there already; the others were moved one after the other, at some 45 µs each.
#[test]
fn all_elements_ask_to_be_moved_to_one_worker() {
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
fn of_several_moves_the_last_counts() {
    let runtime = runtime(3);
    let array = nomads(&runtime, 100);
    soon(move || {
        array.all().dither();
        runtime.quiescence().wait();
        array.all().places();
        assert_eq!(array.reduction::<u64>().wait(), 0);
    });
}

/// From the outside and from each other, with and without priorities, while all elements of two arrays move.
#[test]
fn what_is_under_way_to_a_hundred_thousand_that_move_comes_once_and_in_order() {
    const COUNT: usize = 100_000;
    for mailbox in [MailboxKind::default(), MailboxKind::Pairs] {
        let runtime = Runtime::builder().workers(3).mailbox(mailbox).build();
        let runtime = runtime.expect("the runtime starts");
        let (array, other) = (nomads(&runtime, COUNT), nomads(&runtime, COUNT / 10));
        soon(move || {
            for number in 0..3 {
                array.all().hear(2 * number);
                array.all().go();
                other.all().go();
                for index in (0..COUNT).step_by(3) {
                    array.at(index).hear(2 * number + 1);
                }
                for index in (0..COUNT).filter(|index| index % 3 > 0) {
                    array.at(index).hear(2 * number + 1);
                }
                for index in 0..COUNT / 10 {
                    other.at(index).with_priority(1).hear(number);
                }
                runtime.quiescence().wait();
            }
            array.all().heard();
            assert_eq!(array.reduction::<u64>().wait(), 6 * COUNT as u64);
            other.all().heard();
            assert_eq!(other.reduction::<u64>().wait(), 3 * COUNT as u64 / 10);
        });
    }
}
