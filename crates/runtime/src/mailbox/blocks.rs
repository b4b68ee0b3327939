//! Lock-free mailboxes: a queue of blocks of slots for each worker.

use std::sync::Arc;

use raddle_sync::CachePadded;
use raddle_sync::mpsc::{Claimed, Consumer, Producer, mpsc};
use raddle_sync::prim::Mutex;

use super::traits::{Mailboxes, RECEIVED_MAX, Receiver, Sender};
use crate::task::memory::CellSource;
use crate::task::{Envelope, EnvelopeSlot, Task, TaskList};

/// One queue per worker, into which all senders put.
#[derive(Debug)]
pub(super) struct Blocks {
    senders: BlockSender,
    receivers: Mutex<Vec<Option<Consumer<EnvelopeSlot>>>>,
}

/// The sending ends of all queues.
#[derive(Clone, Debug)]
struct BlockSender(Arc<[CachePadded<Producer<EnvelopeSlot>>]>);

impl Blocks {
    pub(super) fn new(worker_count: usize) -> Self {
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..worker_count)
            .map(|_| {
                let (producer, consumer) = mpsc();
                (CachePadded::new(producer), Some(consumer))
            })
            .unzip();
        Self {
            senders: BlockSender(senders.into()),
            receivers: Mutex::new(receivers),
        }
    }
}

impl Mailboxes for Blocks {
    fn sender(&self, _worker_index: usize) -> Box<dyn Sender> {
        Box::new(self.senders.clone())
    }

    fn send_outside(&self, to: usize, message: Task) {
        self.senders.send(to, message);
    }

    fn is_one_queue(&self) -> bool {
        true
    }

    fn receiver(&self, worker_index: usize) -> Box<dyn Receiver> {
        let mut receivers = self
            .receivers
            .lock()
            .expect("nothing panics under this lock");
        let receiver = receivers[worker_index].take();
        Box::new(receiver.expect("every receiver is taken once"))
    }
}

impl Sender for BlockSender {
    fn send(&self, to: usize, message: Task) {
        self.0[to].push(Envelope::with_cell(message));
    }

    fn claim(&self, to: usize) -> Option<Claimed<'_, EnvelopeSlot>> {
        Some(self.0[to].claim())
    }
}

impl Receiver for Consumer<EnvelopeSlot> {
    fn receive(&self, mail: &mut TaskList, cells: CellSource<'_>) {
        for _ in 0..RECEIVED_MAX {
            let Some(message) = self.pop() else { return };
            mail.put_last(message.unpack(cells));
        }
    }

    fn receive_first(&self, mail: &mut TaskList, cells: CellSource<'_>) -> Option<Task> {
        let first = self.pop()?.unpack(cells);
        self.receive(mail, cells);
        Some(first)
    }

    fn has_mail(&self) -> bool {
        !self.is_empty()
    }
}
