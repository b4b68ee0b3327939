//! The waiting of threads, and the events that end it.

use super::{After, Does, Event, Simulation};
use crate::simulate::client::{Client, Resumed, Thread};
use crate::simulate::moment::Moment;
use crate::simulate::sync_table::{Blocks, Unblocked};
use crate::simulate::timeline::{Activity, Timeline};
use crate::units::Nanoseconds;

impl<C: Client, T: Timeline> Simulation<C, T> {
    /// Handles an answer of the interface, either to a command or to a poll for a message.
    pub(super) fn reply(&mut self, thread: Thread) {
        let message = self.machine.message;
        match self.state(thread).after {
            // There is no message. An earlier ring was for a message that has been taken, so the
            // doorbell is cleared before the thread blocks.
            After::Checked if self.state(thread).notes.is_empty() => {
                self.draw(thread, Activity::AwaitsMessage);
                let state = self.state_mut(thread);
                state.doorbell.clear();
                let Blocks::Yes = state.doorbell.block() else {
                    unreachable!("a cleared entry has been unblocked");
                };
                state.after = After::Finish;
                self.set(thread, Does::Blocked);
            }
            After::Checked => {
                self.state_mut(thread).doorbell.clear();
                let rest = message.notify - message.notify_setup;
                self.work(thread, rest.max(Nanoseconds::ZERO), After::Take);
            }
            after => {
                let rest = message.send - message.send_issue - self.machine.trip.nanoseconds();
                self.work(thread, rest, after);
            }
        }
    }

    /// Rings for the receiver of a message.
    pub(super) fn ring(&mut self, thread: Thread) {
        match self.state_mut(thread).doorbell.unblock() {
            Unblocked::Runs => {
                let runs = Event::Runs(thread);
                self.events.put(self.now + self.machine.notify_wake, runs);
            }
            Unblocked::IsSet => {}
        }
    }

    /// Continues a thread that was unblocked.
    pub(super) fn unblocked(&mut self, thread: Thread) {
        match self.state(thread).after {
            After::Finish => {
                self.draw(thread, Activity::Receives);
                self.work(thread, self.machine.message.notify_finish, After::Take);
            }
            After::Client(resumed) => self.proceed(thread, resumed),
            other => unreachable!("a thread was blocked before {other:?}"),
        }
    }

    /// Polls until there is a message.
    pub(super) fn look(&mut self, thread: Thread) {
        let first = self.now + self.machine.to_interface;
        if self.state(thread).notes.is_empty() {
            self.draw(thread, Activity::Polls);
            self.set(thread, Does::Polls(first));
        } else {
            self.found(thread, first);
        }
    }

    /// Schedules the poll that finds a message.
    ///
    /// The first poll of the thread reaches the interface at `first`, and further ones in each
    /// period.
    pub(super) fn found(&mut self, thread: Thread, first: Moment) {
        let look = first.next_at(self.now, self.machine.poll_period);
        self.set(thread, Does::Finds);
        let found = Event::Found(thread);
        self.events.put(look + self.machine.to_interface, found);
    }

    /// Restarts the polls of threads after the core has come back.
    pub(super) fn look_again(&mut self, node: u32) {
        for number in 0..self.layout.threads {
            let thread = Thread { node, number };
            if matches!(self.state(thread).does, Does::Polls(_)) {
                self.look(thread);
            }
        }
    }

    /// Wakes another thread of the node. If that thread sleeps by then, it runs after the latency
    /// of waking.
    pub(super) fn wake_later(&mut self, node: u32, other: u32) {
        let threads = self.layout.threads;
        assert!(other < threads, "thread {other} of {threads} is woken");
        let other = Thread {
            node,
            number: other,
        };
        if self.state_mut(other).alarm.unblock() == Unblocked::Runs {
            let runs = Event::Runs(other);
            self.events.put(self.now + self.machine.wake_latency, runs);
        }
    }

    /// Waits for a wake-up by another thread, unless one has arrived before.
    pub(super) fn sleep(&mut self, thread: Thread, activity: Activity, does: Does) {
        match self.state_mut(thread).alarm.block() {
            Blocks::No => self.proceed(thread, Resumed::Woken),
            Blocks::Yes => {
                self.draw(thread, activity);
                self.state_mut(thread).after = After::Client(Resumed::Woken);
                self.set(thread, does);
            }
        }
    }

    /// Waits at a meeting. When the last thread arrives, all of them continue.
    pub(super) fn meet(&mut self, thread: Thread) {
        self.draw(thread, Activity::Meets);
        self.state_mut(thread).after = After::Client(Resumed::Met);
        self.met.push(thread);
        if (self.met.len() as u32) < self.client.meeting() {
            return self.set(thread, Does::Blocked);
        }
        for thread in std::mem::take(&mut self.met) {
            self.work(thread, Nanoseconds::ZERO, After::Client(Resumed::Met));
            self.retime(thread.node);
        }
    }
}
