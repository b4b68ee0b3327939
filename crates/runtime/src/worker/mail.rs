//! A worker and its mailbox.
//!
//! Messages go before tasks, but many of them in a row let one task of the pool pass. Substitutes have no mailbox.

use super::Worker;
use crate::placing::ROUNDS_PER_CLOCK;
use crate::pool::Wanted;
use crate::task::Task;

/// So many messages in a row let a task of the pool pass.
const STREAK_MAX: u32 = 64;

/// Rounds without news until a worker looks whether the system has some: as often as it looks for work between two readings of the clock.
const ROUNDS_PER_NETWORK: u32 = 32;

impl Worker {
    /// Sends a message of so many bytes to a worker of this runtime, perhaps this one.
    #[inline]
    pub(crate) fn send(&self, to: usize, message: Task, bytes: u64) {
        if to == self.index {
            self.mail.borrow_mut().put_last(message);
            return;
        }
        self.sender.send(to, message);
        self.shared.traffic.sends(self.index, to, bytes);
        if self.shared.tell_of_message(to) {
            self.tally().wakes.add(1);
        }
    }

    /// As [`send`](Self::send), before all that are not urgent.
    pub(crate) fn send_urgent(&self, to: usize, message: Task, bytes: u64) {
        if to == self.index {
            self.urgent.borrow_mut().put_last(message);
            return;
        }
        self.shared.post.put_urgent(to, message);
        self.shared.traffic.sends(self.index, to, bytes);
        if self.shared.tell_of_message(to) {
            self.tally().wakes.add(1);
        }
    }

    /// What this worker runs next: a message or a task.
    #[inline]
    pub(super) fn next(&self) -> Option<Task> {
        if self.streak.get() < STREAK_MAX
            && let Some(message) = self.next_message()
        {
            self.streak.set(self.streak.get() + 1);
            return Some(message);
        }
        self.streak.set(0);
        self.count_round();
        if self.shared.may_end() {
            self.is_deaf.set(true);
        }
        self.hear();
        self.get(Wanted::Any).or_else(|| self.next_message())
    }

    /// Once in many rounds, looks whether it is time to look where workers are.
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

    /// Takes what has come from other nodes, if anything can be seen of it, and in some rounds to see whether there is: where the system has it, that
    /// takes a call.
    #[inline]
    fn hear(&self) {
        let Some(network) = &self.shared.network else {
            return;
        };
        let left = self.until_network.get();
        if left > 0 && !network.has_news() {
            return self.until_network.set(left - 1);
        }
        self.until_network.set(ROUNDS_PER_NETWORK);
        network.receive();
    }

    #[inline]
    fn next_message(&self) -> Option<Task> {
        let (mut urgent, mut mail) = (self.urgent.borrow_mut(), self.mail.borrow_mut());
        if !self.is_substitute {
            self.shared.post.receive(self.index, &mut urgent, &mut mail);
        }
        if self.is_deaf.get() {
            return None;
        }
        let message = urgent.take_first().or_else(|| mail.take_first())?;
        self.tally().messages.add(1);
        Some(message)
    }

    /// True when there is a message to run.
    pub(crate) fn has_any_mail(&self) -> bool {
        !self.urgent.borrow().is_empty() || !self.mail.borrow().is_empty() || self.has_mail()
    }

    /// False when nothing had arrived at some moment during the call.
    #[inline]
    pub(super) fn has_mail(&self) -> bool {
        !self.is_substitute && self.shared.post.has_mail(self.index)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let mut mail = self.urgent.take();
        mail.append(self.mail.take());
        while let Some(message) = mail.take_first() {
            message.drop_message(|cell| self.give_back(cell));
        }
    }
}
