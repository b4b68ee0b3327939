//! Asynchronous entries that wait while their elements migrate: awaited values reach the entry, and
//! messages that wait for its end reach the element.

use raddle_chare::reduce::{Concat, Sum};
use raddle_chare::{Array, ArrayOptions, Chares, Cx, ScanForm, chare};
use raddle_runtime::Runtime;
use raddle_runtime::model::explore::{beside, explore_some};

/// Waits for balls, replies, reductions and scans, and receives numbered messages.
struct Juggler {
    received: u32,
    /// Makes the element migrate before each wait from now on.
    restless: bool,
}

impl Juggler {
    fn move_on(&self, cx: &mut Cx<Self>) {
        if self.restless {
            cx.migrate_to((cx.worker() + 1) % cx.worker_count());
        }
    }
}

#[chare]
impl Juggler {
    #[message]
    fn ball(number: u32);

    /// Makes the element stay from now on.
    #[entry]
    fn rest(&mut self) {
        self.restless = false;
    }

    /// Waits for `count` balls, in order.
    #[entry]
    async fn juggle(&mut self, cx: &mut Cx<Self>, count: u32) -> u32 {
        for number in 0..count {
            self.move_on(cx);
            cx.next_where(Self::ball, |&ball| ball == number).await;
        }
        self.received
    }

    #[entry]
    fn receive(&mut self, number: u32) {
        assert_eq!(self.received, number);
        self.received += 1;
    }

    #[entry]
    fn received(&mut self, cx: &mut Cx<Self>) -> u32 {
        self.move_on(cx);
        self.received
    }

    /// Asks the next element repeatedly.
    #[entry]
    async fn ask(&mut self, cx: &mut Cx<Self>, count: u32) -> u32 {
        let next = cx.array().at(cx.index() + 1);
        let mut received = 0;
        for _ in 0..count {
            self.move_on(cx);
            received += next.received().await;
        }
        received
    }

    #[entry]
    fn add(&mut self, cx: &mut Cx<Self>) {
        cx.contribute(Sum(cx.index() + 1));
    }

    /// Takes part in `count` sums.
    #[entry]
    async fn add_up(&mut self, cx: &mut Cx<Self>, count: usize) -> usize {
        let mut sum = 0;
        for _ in 0..count {
            self.move_on(cx);
            let one = Sum(cx.index() + 1);
            sum = cx.reduce(one).await;
        }
        sum
    }

    #[entry]
    async fn before(&mut self, cx: &mut Cx<Self>, form: ScanForm) -> Vec<usize> {
        self.move_on(cx);
        let first = Concat::new(vec![cx.index()]);
        let before = cx.scan_with(form, first).await;
        self.move_on(cx);
        let again = Concat::new(vec![cx.index()]);
        assert_eq!(cx.scan_with(form, again).await, before);
        before
    }
}

fn jugglers(runtime: &Runtime, count: usize) -> Array<Juggler> {
    let workers = runtime.worker_count();
    let placed = ArrayOptions::new(count).placed(move |index| index % workers);
    runtime.array_with(placed, |_| Juggler {
        received: 0,
        restless: true,
    })
}

#[test]
fn messages_find_an_entry_that_waits_for_them() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let jugglers = jugglers(&runtime, 2);
        let replies = [0, 1].map(|index| jugglers.at(index).juggle(2));
        let throw = move || {
            jugglers.all().ball(1);
            jugglers.at(0).receive(0);
            jugglers.at(0).receive(1);
            jugglers.all().ball(0);
        };
        beside(throw, || {});
        for reply in replies {
            assert_eq!(
                reply.wait(),
                0,
                "messages wait for the end of the waiting entry"
            );
        }
        assert_eq!(jugglers.at(0).received().wait(), 2);
    });
}

#[test]
fn messages_wait_in_order_for_the_end_of_an_entry() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let jugglers = jugglers(&runtime, 1);
        let juggled = jugglers.at(0).juggle(2);
        let receive = move || {
            for number in 0..3 {
                jugglers.at(0).receive(number);
            }
        };
        let throw = || {
            jugglers.at(0).ball(0);
            jugglers.at(0).ball(1);
        };
        beside(receive, throw);
        assert!(juggled.wait() <= 3);
        runtime.quiescence().wait();
        assert_eq!(jugglers.at(0).received().wait(), 3);
    });
}

#[test]
fn replies_find_migrated_elements() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let jugglers = jugglers(&runtime, 3);
        let first = jugglers.at(0).ask(3);
        let second = jugglers.at(1).ask(2);
        jugglers.at(2).receive(0);
        assert_eq!(first.wait(), 0);
        assert!(second.wait() <= 2);
    });
}

#[test]
fn reductions_reach_all_waiting_elements() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let jugglers = jugglers(&runtime, 3);
        let replies = [0, 1, 2].map(|index| jugglers.at(index).add_up(2));
        for reply in replies {
            assert_eq!(reply.wait(), 6);
        }
    });
}

// The new worker of an element knows its contributions although its entry waits. Later
// contributions there are not held back.
#[test]
fn contributions_of_a_waiting_element_count_after_migration() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let jugglers = jugglers(&runtime, 3);
        let first = jugglers.at(0).add_up(1);
        jugglers.at(1).rest();
        jugglers.at(2).rest();
        runtime.quiescence().wait();
        let others = [1, 2].map(|index| jugglers.at(index).add_up(1));
        for reply in others.into_iter().chain([first]) {
            assert_eq!(reply.wait(), 6);
        }
    });
}

#[test]
fn contributions_count_after_migration_in_a_later_wait() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let jugglers = jugglers(&runtime, 3);
        jugglers.at(0).add();
        let juggled = jugglers.at(0).juggle(1);
        runtime.quiescence().wait();
        jugglers.at(1).add();
        jugglers.at(2).add();
        let sum: usize = jugglers.reduction().wait();
        assert_eq!(sum, 6);
        jugglers.at(0).ball(0);
        assert_eq!(juggled.wait(), 0);
    });
}

#[test]
fn scans_reach_all_waiting_elements() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let form = setting.one_of(&[ScanForm::PrescanPush, ScanForm::RecursiveDoubling]);
        let jugglers = jugglers(&runtime, 3);
        let replies = [0, 1, 2].map(|index| jugglers.at(index).before(form));
        for (index, reply) in replies.into_iter().enumerate() {
            assert!(reply.wait().into_iter().eq(0..index));
        }
    });
}
