//! Senders: a worker, or all threads together that are not workers.
//!
//! A sender has an order of messages, an epoch ([`crate::migration`]), and detours
//! ([`crate::seeds`]).

use crate::address::detours::Detours;
use crate::address::number::ElementId;
use crate::engine::local::ranks::ranked;
use crate::engine::local::{Arrival, Local, any_thread, on_arrival};
use crate::engine::system::{Outside, System};
use crate::recorded::Crossing;

/// A sender of messages.
pub(crate) trait Sender {
    /// Returns the worker that sends; `None` for the other threads.
    fn worker(&self) -> Option<usize>;

    /// Returns the crossing of its message, if that comes from another node.
    fn crossing(&self) -> Option<Crossing>;

    /// Returns the epoch by which it looks routes up.
    fn epoch(&self) -> u32;

    /// Calls `call` with the elements to which messages are under way via their homes.
    fn with_detours<R>(&mut self, call: impl FnOnce(&mut Detours) -> R) -> R;

    /// Sends a message to a worker.
    fn post(&self, worker: usize, arrival: impl FnOnce(&Local) + Send + 'static);

    /// Sends an urgent message to a worker: it runs before all messages that are not urgent.
    fn post_urgent(&self, worker: usize, arrival: Arrival);

    /// Sends a message that calls `arrival` when its turn in the order of priorities has come, for
    /// an element or (`to` is `None`) for all elements.
    fn post_in_turn(
        &self,
        priority: i32,
        to: Option<ElementId>,
        worker: usize,
        arrival: impl FnOnce(&Local) + Send + 'static,
    ) {
        match priority {
            0 => self.post(worker, arrival),
            ..0 => self.post_urgent(worker, ranked(priority, to, Box::new(arrival))),
            _ => self.post(worker, ranked(priority, to, Box::new(arrival))),
        }
    }
}

impl Sender for &Local {
    fn worker(&self) -> Option<usize> {
        Some(Local::worker(self))
    }

    fn crossing(&self) -> Option<Crossing> {
        None
    }

    fn epoch(&self) -> u32 {
        Local::epoch(self)
    }

    fn with_detours<R>(&mut self, call: impl FnOnce(&mut Detours) -> R) -> R {
        Local::with_detours(self, call)
    }

    fn post(&self, worker: usize, arrival: impl FnOnce(&Local) + Send + 'static) {
        Local::post(self, worker, arrival);
    }

    fn post_urgent(&self, worker: usize, arrival: Arrival) {
        Local::post_urgent(self, worker, arrival);
    }
}

/// The sender of a message that has come from another node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FarSender {
    pub(crate) epoch: u32,
    /// The message, as recordings know it.
    pub(crate) crossing: Crossing,
}

/// The threads that are not workers, as one sender. The caller holds the lock of their state.
pub(crate) struct OutsideSender<'system> {
    system: &'system System,
    outside: &'system mut Outside,
    epoch: u32,
    crossing: Option<Crossing>,
}

impl<'system> OutsideSender<'system> {
    /// Creates the sender. If its message comes from another node and is sent on, `from` is the
    /// sender there.
    pub(crate) fn new(
        system: &'system System,
        outside: &'system mut Outside,
        from: Option<FarSender>,
    ) -> Self {
        Self {
            epoch: from.map_or(outside.epoch, |from| from.epoch),
            crossing: from.map(|from| from.crossing),
            system,
            outside,
        }
    }
}

impl Sender for OutsideSender<'_> {
    fn worker(&self) -> Option<usize> {
        None
    }

    fn crossing(&self) -> Option<Crossing> {
        self.crossing
    }

    fn epoch(&self) -> u32 {
        self.epoch
    }

    fn with_detours<R>(&mut self, call: impl FnOnce(&mut Detours) -> R) -> R {
        call(&mut self.outside.detours)
    }

    fn post(&self, worker: usize, arrival: impl FnOnce(&Local) + Send + 'static) {
        any_thread::post_outside(self.system, worker, Box::new(arrival));
    }

    fn post_urgent(&self, worker: usize, arrival: Arrival) {
        let id = self.system.id();
        self.system.quiet().count_sent_outside();
        let post = self.system.post();
        post.send_urgent(worker, move || on_arrival(id, arrival));
    }
}
