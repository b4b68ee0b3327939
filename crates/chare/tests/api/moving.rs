//! Elements migrate while messages, broadcasts and reductions are under way: no message is lost or
//! duplicated, and the messages of each sender keep their order.

use raddle_chare::reduce::Sum;
use raddle_chare::{Chares, Cx, chare};
use raddle_runtime::MailboxKind;

use crate::common::runtime_with;
use crate::dice::Dice;

/// Sends numbered messages to all other elements, and checks that theirs arrive in order.
struct Walker {
    received: Vec<u32>,
    called: u32,
    sent: u32,
    dice: Dice,
}

impl Walker {
    fn new(index: usize, count: usize) -> Self {
        Self {
            received: vec![0; count],
            called: 0,
            sent: 0,
            dice: Dice::new(index as u64),
        }
    }
}

#[chare]
impl Walker {
    #[entry]
    fn step(&mut self, cx: &mut Cx<Self>, left: u32) {
        let (array, index) = (cx.array(), cx.index());
        self.sent += 1;
        for other in 0..self.received.len() {
            array.at(other).receive(index, self.sent);
        }
        if self.dice.roll(3) == 0 {
            cx.migrate_to(self.dice.roll(cx.worker_count()));
        }
        cx.contribute(Sum(u64::from(self.sent)));
        if left > 0 {
            cx.this().step(left - 1);
        }
    }

    #[entry]
    fn receive(&mut self, from: usize, number: u32) {
        self.received[from] += 1;
        assert_eq!(self.received[from], number, "from {from}");
    }

    #[entry]
    fn call(&mut self, number: u32) {
        self.called += 1;
        assert_eq!(self.called, number);
    }

    #[entry]
    fn state(&self) -> (Vec<u32>, u32) {
        (self.received.clone(), self.called)
    }

    #[message]
    fn ball(number: u32);

    /// Waits for balls and migrates to another worker in between.
    #[entry]
    async fn juggle(&mut self, cx: &mut Cx<Self>, count: u32) -> u64 {
        let mut sum = 0;
        for number in 0..count {
            let worker = self.dice.roll(cx.worker_count());
            cx.migrate_to(worker);
            sum += u64::from(cx.next_where(Self::ball, |&ball| ball == number).await);
            sum += cx.reduce(Sum(1_u64)).await;
        }
        sum
    }
}

const STEPS: u32 = 40;

fn walk(workers: usize, mailbox: MailboxKind, count: usize) {
    let runtime = runtime_with(workers, |builder| builder.mailbox(mailbox));
    let walkers = runtime.array(count, move |index| Walker::new(index, count));
    walkers.all().step(STEPS - 1);
    for number in 1..=STEPS {
        walkers.all().call(number);
    }
    for round in 1..=STEPS {
        let sum: u64 = walkers.reduction().wait();
        assert_eq!(sum, u64::from(round) * count as u64, "round {round}");
    }
    runtime.quiescence().wait();
    for index in 0..count {
        let (received, called) = walkers.at(index).state().wait();
        assert_eq!((received, called), (vec![STEPS; count], STEPS), "{index}");
    }
    let replies: Vec<_> = (0..count)
        .map(|index| walkers.at(index).juggle(10))
        .collect();
    for number in (0..10).rev() {
        walkers.all().ball(number);
    }
    for reply in replies {
        assert_eq!(reply.wait(), 45 + 10 * count as u64);
    }
}

#[test]
fn migration_loses_and_duplicates_no_message() {
    for workers in 1..=4 {
        walk(workers, MailboxKind::LockFree, 6);
    }
}

#[test]
fn migration_works_with_all_kinds_of_mailboxes() {
    for mailbox in MailboxKind::ALL {
        walk(3, mailbox, 5);
    }
}

#[test]
fn many_elements_migrate_at_the_same_time() {
    for round in 0..20 {
        walk(2 + round % 3, MailboxKind::LockFree, 16);
    }
}
