//! A worker and its mailbox.
//!
//! A worker runs messages before tasks. After [`STREAK_MAX`] messages in a row it runs one task of
//! the pool. Compensating threads have no mailbox.

use raddle_sync::prim::LIGHT;

use super::Worker;
use crate::config::TaskMemory;
use crate::placing::ROUNDS_PER_CLOCK;
use crate::task::{Envelope, Message, Task};
use crate::traffic::message_bytes;

/// The number of messages in a row after which a worker runs a task of the pool.
const STREAK_MAX: u32 = if LIGHT { 2 } else { 64 };

/// The number of rounds after which a worker receives from the network although no news is visible:
/// some messages can be seen only by a system call.
///
/// A searching worker reads the clock at least as often (`LOOKS_PER_CLOCK`).
pub(super) const ROUNDS_PER_NETWORK: u32 = 32;
/// The longest time for which a worker with work does not receive from the network, if its messages
/// and tasks are short.
const NETWORK_TIME_NS: u64 = 100_000;
/// The number of messages in a row after which a worker checks that time.
const MESSAGES_PER_NETWORK: u32 = 8;

impl Worker {
    /// Sends a message to a worker of this runtime, which may be this one.
    #[inline(always)]
    pub(crate) fn send<M: Message + Send + 'static>(&self, to: usize, message: M) {
        let closures = self.shared.memory().closures();
        let is_away = to != self.index;
        let bytes = message_bytes(&message);
        if is_away
            && const { Envelope::holds::<M>() }
            && closures == TaskMemory::Cells
            && let Some(slot) = self.sender.claim(to)
        {
            Envelope::fill(slot, message);
            return self.has_sent(to, bytes);
        }
        let message = Task::message(self.take_cell(), closures, message);
        if is_away {
            self.sender.send(to, message);
            self.has_sent(to, bytes);
        } else {
            self.mail.borrow_mut().put_last(message);
        }
    }

    /// Counts a message of `bytes` bytes to another worker, and wakes that worker.
    #[inline(never)]
    fn has_sent(&self, to: usize, bytes: u64) {
        self.shared.traffic().sends(self.index, to, bytes);
        if self.shared.wake_for_message(to) {
            self.counters().wakes.add(1);
        }
    }

    /// Sends a message as [`send`](Self::send) does, but the message runs before all that are not
    /// urgent.
    pub(crate) fn send_urgent(&self, to: usize, message: Task, bytes: u64) {
        if to == self.index {
            self.urgent.borrow_mut().put_last(message);
            self.is_special.set(true);
            return;
        }
        self.shared.mailboxes().put_urgent(to, message);
        self.has_sent(to, bytes);
    }

    /// Takes the message or task that this worker runs next.
    #[inline]
    pub(super) fn next(&self) -> Option<Task> {
        let streak = self.streak.get();
        if streak < STREAK_MAX
            && let Some(message) = self.next_message()
        {
            self.streak.set(streak + 1);
            if (streak + 1).is_multiple_of(MESSAGES_PER_NETWORK) {
                self.receive_if_late();
            }
            return Some(message);
        }
        self.next_of_pool()
    }

    /// Takes a task of the pool, or else a message.
    #[inline(never)]
    fn next_of_pool(&self) -> Option<Task> {
        // A worker that sends to itself all the time must not overlook the messages of others.
        if self.streak.replace(0) == STREAK_MAX
            && let Some(receiver) = &self.receiver
        {
            receiver.receive(&mut self.mail.borrow_mut(), self.cells());
        }
        self.count_round();
        if self.shared.may_end() {
            self.has_stopped_messages.set(true);
            self.is_special.set(true);
        }
        self.receive_from_network();
        self.get_assigned_or(self.wanted())
            .or_else(|| self.next_message())
    }

    /// Counts a round. Every [`ROUNDS_PER_CLOCK`] rounds, checks whether it is time to reconsider
    /// the placement.
    #[inline]
    fn count_round(&self) {
        let Some(left) = self.until_clock.get() else {
            return;
        };
        if left > 0 {
            return self.until_clock.set(Some(left - 1));
        }
        self.until_clock.set(Some(ROUNDS_PER_CLOCK));
        let age_ns = self.shared.age_ns();
        if self.shared.placing().is_due(age_ns) {
            self.review_placement(age_ns);
        }
    }

    /// Receives what has arrived from other nodes if news is visible, and otherwise once every
    /// [`ROUNDS_PER_NETWORK`] rounds.
    #[inline]
    fn receive_from_network(&self) {
        let Some(network) = self.shared.network() else {
            return;
        };
        let left = self.until_network.get();
        if left == 0 || network.has_news() {
            self.until_network.set(ROUNDS_PER_NETWORK);
            if !LIGHT {
                self.received_ns.set(self.shared.age_ns());
            }
            return network.receive();
        }
        self.until_network.set(left - 1);
        // Rounds with long tasks take long.
        self.receive_if_late();
    }

    /// Receives what has arrived from other nodes if that was done long ago.
    #[inline(never)]
    fn receive_if_late(&self) {
        let Some(network) = self.shared.network() else {
            return;
        };
        // In models, time passes only while threads sleep.
        if LIGHT {
            return;
        }
        let age_ns = self.shared.age_ns();
        if age_ns.saturating_sub(self.received_ns.get()) >= NETWORK_TIME_NS {
            self.received_ns.set(age_ns);
            network.receive();
        }
    }

    /// Takes the next message.
    #[inline]
    pub(super) fn next_message(&self) -> Option<Task> {
        let mut mail = self.mail.borrow_mut();
        // The mailbox is on cache lines that senders write. So the worker looks there only when it
        // has run what it received before.
        let first = match &self.receiver {
            Some(receiver) if mail.is_empty() => receiver.receive_first(&mut mail, self.cells()),
            _ => mail.take_first(),
        };
        // Urgent messages are looked for last: one that was sent before `first` is visible now.
        let message = if self.is_special.get() || !self.urgent_arrivals.is_empty() {
            if let Some(first) = first {
                mail.put_first(first);
            }
            drop(mail);
            self.next_with_urgent()
        } else {
            first
        }?;
        self.counters().messages.add(1);
        Some(message)
    }

    /// Returns the next of the messages that have arrived and of those that are urgent, or `None`
    /// if this worker runs no more.
    #[cold]
    fn next_with_urgent(&self) -> Option<Task> {
        let mut urgent = self.urgent.borrow_mut();
        self.urgent_arrivals.take_all(&mut urgent);
        if self.has_stopped_messages.get() {
            return None;
        }
        let first = urgent.take_first();
        self.is_special.set(!urgent.is_empty());
        first.or_else(|| self.mail.borrow_mut().take_first())
    }

    /// Returns true if there are open tasks that only this worker runs.
    #[inline]
    pub(super) fn has_assigned(&self) -> bool {
        !self.assigned_arrivals.is_empty() || !self.assigned.borrow().is_empty()
    }

    /// Takes the oldest open task that only this worker runs.
    pub(super) fn take_assigned(&self) -> Option<Task> {
        let mut assigned = self.assigned.borrow_mut();
        self.assigned_arrivals.take_all(&mut assigned);
        assigned.take_first()
    }

    /// Returns true if there is a message to run.
    pub(crate) fn has_any_mail(&self) -> bool {
        !self.mail.borrow().is_empty() || !self.urgent.borrow().is_empty() || self.has_mail()
    }

    /// Returns false if the mailbox was empty at some moment during the call.
    #[inline]
    pub(super) fn has_mail(&self) -> bool {
        let receiver = self.receiver.as_ref();
        receiver.is_some_and(|receiver| receiver.has_mail()) || !self.urgent_arrivals.is_empty()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let mut mail = self.urgent.take();
        mail.append(self.mail.take());
        mail.append(self.assigned.take());
        while let Some(message) = mail.take_first() {
            message.drop_message(|cell| self.give_back(cell));
        }
        if let Some(receiver) = self.receiver.take() {
            self.shared.mailboxes().give_back(self.index, receiver);
        }
    }
}
