//! A worker and its mailbox.
//!
//! A worker runs messages before tasks. After [`STREAK_MAX`] messages in a row it runs one task of
//! the pool. Compensating threads have no mailbox.

use raddle_sync::prim::LIGHT;

use super::Worker;
use crate::placing::ROUNDS_PER_CLOCK;
use crate::pool::Wanted;
use crate::task::Task;

/// The number of messages in a row after which a worker runs a task of the pool.
const STREAK_MAX: u32 = if LIGHT { 2 } else { 64 };

/// Rounds without visible news after which a worker receives from the network: as many as a search
/// has looks between two readings of the clock.
const ROUNDS_PER_NETWORK: u32 = 32;
/// The longest time for which a worker with work does not receive from the network, if its messages
/// and tasks are short.
const NETWORK_TIME_NS: u64 = 100_000;
/// The number of messages in a row after which a worker checks that time.
const MESSAGES_PER_NETWORK: u32 = 8;

impl Worker {
    /// Sends a message of `bytes` bytes to a worker of this runtime, which may be this one.
    #[inline]
    pub(crate) fn send(&self, to: usize, message: Task, bytes: u64) {
        if to == self.index {
            self.mail.borrow_mut().put_last(message);
            return;
        }
        self.sender.send(to, message);
        self.shared.traffic.sends(self.index, to, bytes);
        if self.shared.wake_for_message(to) {
            self.counters().wakes.add(1);
        }
    }

    /// Like [`send`](Self::send), but the message runs before all that are not urgent.
    pub(crate) fn send_urgent(&self, to: usize, message: Task, bytes: u64) {
        if to == self.index {
            self.urgent.borrow_mut().put_last(message);
            return;
        }
        self.shared.post.put_urgent(to, message);
        self.shared.traffic.sends(self.index, to, bytes);
        if self.shared.wake_for_message(to) {
            self.counters().wakes.add(1);
        }
    }

    /// Takes the message or task that this worker runs next.
    #[inline]
    pub(super) fn next(&self) -> Option<Task> {
        if self.streak.get() < STREAK_MAX
            && let Some(message) = self.next_message()
        {
            self.streak.set(self.streak.get() + 1);
            if self.streak.get().is_multiple_of(MESSAGES_PER_NETWORK) {
                self.receive_if_late();
            }
            return Some(message);
        }
        // A worker that sends to itself all the time must not overlook the messages of others.
        if self.streak.replace(0) == STREAK_MAX
            && let Some(receiver) = &self.receiver
        {
            receiver.receive(&mut self.mail.borrow_mut());
        }
        self.count_round();
        if self.shared.may_end() {
            self.has_stopped_messages.set(true);
        }
        self.receive_from_network();
        self.get(Wanted::Any).or_else(|| self.next_message())
    }

    /// Every [`ROUNDS_PER_CLOCK`] rounds, checks whether it is time to reconsider the placement.
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
        if self.shared.placing.is_due(age_ns) {
            self.look_at_places(age_ns);
        }
    }

    /// Receives what has arrived from other nodes if news is visible, and otherwise once every
    /// [`ROUNDS_PER_NETWORK`] rounds, because only a system call shows whether the system has some.
    #[inline]
    fn receive_from_network(&self) {
        let Some(network) = &self.shared.network else {
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
    #[inline]
    fn receive_if_late(&self) {
        let Some(network) = &self.shared.network else {
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

    #[inline]
    fn next_message(&self) -> Option<Task> {
        let mut mail = self.mail.borrow_mut();
        // The mailbox is on cache lines that senders write. So the worker looks there only when it
        // has run what it received before.
        let first = match &self.receiver {
            Some(receiver) if mail.is_empty() => receiver.receive_first(&mut mail),
            _ => mail.take_first(),
        };
        // Urgent messages are looked for last: one that was sent before `first` is visible now.
        let message = if self.has_urgent() || self.has_stopped_messages.get() {
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
        if self.receiver.is_some() {
            self.shared.post.take_urgent(self.index, &mut urgent);
        }
        if self.has_stopped_messages.get() {
            return None;
        }
        urgent
            .take_first()
            .or_else(|| self.mail.borrow_mut().take_first())
    }

    /// Returns false if there was no urgent message at some moment during the call.
    #[inline]
    fn has_urgent(&self) -> bool {
        !self.urgent.borrow().is_empty()
            || self.receiver.is_some() && self.shared.post.has_urgent(self.index)
    }

    /// Returns true if there is a message to run.
    pub(crate) fn has_any_mail(&self) -> bool {
        !self.mail.borrow().is_empty() || self.has_urgent() || self.has_mail()
    }

    /// Returns false if the mailbox was empty at some moment during the call.
    #[inline]
    pub(super) fn has_mail(&self) -> bool {
        self.receiver
            .as_ref()
            .is_some_and(|receiver| receiver.has_mail() || self.shared.post.has_urgent(self.index))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let mut mail = self.urgent.take();
        mail.append(self.mail.take());
        while let Some(message) = mail.take_first() {
            message.drop_message(|cell| self.give_back(cell));
        }
        if let Some(receiver) = self.receiver.take() {
            self.shared.post.give_back(self.index, receiver);
        }
    }
}
