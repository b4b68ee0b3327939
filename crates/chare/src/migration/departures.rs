//! Departures: an element that has moved sends as another worker, and yet what it sends comes after what it sent before.
//!
//! The order of messages is that of each worker. Two things make it that of each element:
//!
//! - Nearly all mailboxes are one queue for all senders, in which what was put first comes first. Where there is a queue for each pair of
//!   workers, an element departs when all that its old worker has sent has arrived: a message to each worker and back tells, which comes
//!   after all others.
//! - As long as messages of the old worker to some element are under way by that one's home ([`crate::seeds`]), the new worker sends to it by
//!   the home too: what the old worker has under way then is its legacy, which arrives when all of that has.

use std::collections::HashMap;
use std::fmt;
use std::mem;

use super::Request;
use crate::local::Local;

/// What is sent to a worker.
type Departure = (usize, Request);

/// Elements that have no place here any more, and have not departed yet.
#[derive(Default)]
pub(crate) struct Departures {
    ready: Vec<Departure>,
    /// How many workers have not answered yet, and who goes when all have.
    waiting: HashMap<u32, (usize, Vec<Departure>)>,
    /// Numbers those who wait.
    count: u32,
}

impl fmt::Debug for Departures {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Departures")
            .field("ready", &self.ready.len())
            .field("waiting", &self.waiting.len())
            .finish_non_exhaustive()
    }
}

impl Local {
    /// Calls `arrive` on worker `to`, once [`let_go`](Self::let_go) has been called.
    pub(super) fn depart(&self, to: usize, arrive: impl FnOnce(&Self) + Send + 'static) {
        let mut departures = self.departures.borrow_mut();
        departures.ready.push((to, Box::new(arrive)));
    }

    /// Lets those depart that are ready, as soon as they may.
    pub(super) fn let_go(&self) {
        let mut departures = self.departures.borrow_mut();
        let ready = mem::take(&mut departures.ready);
        if self.system.post.is_one_queue() {
            drop(departures);
            return self.send_off(ready);
        }
        let (group, worker_count) = (departures.count, self.system.worker_count());
        departures.count = group.wrapping_add(1);
        departures.waiting.insert(group, (worker_count, ready));
        drop(departures);
        let own = self.worker;
        for worker in 0..worker_count {
            self.post(worker, move |local| {
                local.post(own, move |local| local.take_answer(group));
            });
        }
    }

    /// All that this worker had sent to some other one has arrived there.
    fn take_answer(&self, group: u32) {
        let mut departures = self.departures.borrow_mut();
        let (missing, _) = departures
            .waiting
            .get_mut(&group)
            .expect("they wait until all have answered");
        *missing -= 1;
        if *missing == 0 {
            let (_, ready) = departures
                .waiting
                .remove(&group)
                .expect("they have waited until now");
            drop(departures);
            self.send_off(ready);
        }
    }

    fn send_off(&self, ready: Vec<Departure>) {
        let mut heirs = Vec::new();
        for (to, arrive) in ready {
            if !heirs.contains(&to) {
                heirs.push(to);
                self.leave_to(to);
            }
            self.post(to, arrive);
        }
    }

    /// What is under way from here by homes becomes the legacy of elements that go to worker `to`.
    fn leave_to(&self, to: usize) {
        let mut detours = self.detours.borrow_mut();
        if detours.is_empty() {
            return;
        }
        let (legacy, keys) = detours.hand_over(self.worker, to);
        drop(detours);
        self.post(to, move |local| {
            local.detours.borrow_mut().take_over(legacy, &keys);
        });
    }
}
