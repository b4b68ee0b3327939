//! A queue for each pair of workers.

use raddle_sync::CachePadded;
use raddle_sync::lock::SimpleLock;
use raddle_sync::single_put::{Putter, Takers, single_put};

use super::each::Queue;
use super::producer_lock::ProducerLock;
use super::{Post, Sender};
use crate::pool::Owners;
use crate::task::{Task, TaskList};

/// One producer and one consumer to each queue, and one queue more for those who are no workers.
#[derive(Debug)]
pub(super) struct Pairs {
    mailboxes: Box<[CachePadded<Mailbox>]>,
    senders: Owners<PairsSender>,
}

#[derive(Debug)]
struct Mailbox {
    from: Box<[Takers<SimpleLock, Task>]>,
    from_outside: ProducerLock,
}

#[derive(Debug)]
struct PairsSender {
    to: Box<[Putter<SimpleLock, Task>]>,
}

impl Pairs {
    pub(super) fn new(worker_count: usize, sender_limit: usize) -> Self {
        let (from_one, senders) = Owners::with_parts(sender_limit, || {
            let (putters, takers): (Vec<_>, Vec<_>) =
                (0..worker_count).map(|_| single_put()).unzip();
            (takers, PairsSender { to: putters.into() })
        });
        let mailboxes = (0..worker_count).map(|to| {
            CachePadded::new(Mailbox {
                from: from_one.iter().map(|takers| takers[to].clone()).collect(),
                from_outside: ProducerLock::default(),
            })
        });
        Self {
            mailboxes: mailboxes.collect(),
            senders,
        }
    }
}

impl Post for Pairs {
    fn sender(&self, worker_index: usize) -> Box<dyn Sender> {
        Box::new(self.senders.take(worker_index))
    }

    fn send_outside(&self, to: usize, message: Task) {
        self.mailboxes[to].from_outside.put(message);
    }

    fn is_one_queue(&self) -> bool {
        false
    }

    fn receive(&self, worker_index: usize, mail: &mut TaskList) {
        let mailbox = &self.mailboxes[worker_index];
        let oldest = mailbox
            .from
            .iter()
            .filter_map(|takers| takers.take_where(|_| true));
        oldest.for_each(|message| mail.put_last(message));
        mailbox.from_outside.receive(mail);
    }

    fn has_mail(&self, worker_index: usize) -> bool {
        let mailbox = &self.mailboxes[worker_index];
        mailbox.from.iter().any(|takers| !takers.is_empty()) || !mailbox.from_outside.is_empty()
    }
}

impl Sender for PairsSender {
    fn send(&self, to: usize, message: Task) {
        self.to[to].put(message);
    }
}
