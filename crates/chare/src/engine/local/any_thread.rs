//! Sending from any thread.
//!
//! Threads that are not workers share one order of messages. Its lock
//! ([`System::outside`](crate::engine::system::System::outside)) is the caller's to take.

use crate::engine::local::{self, Arrival, Local, on_arrival};
use crate::engine::system::System;

/// Sends a rare message from the calling thread, which may be any thread, to a worker.
pub(crate) fn post(system: &System, to: usize, message: impl FnOnce(&Local) + Send + 'static) {
    post_arrival(system, to, Box::new(message));
}

fn post_arrival(system: &System, to: usize, message: Arrival) {
    local::with(system.id(), |local| match local {
        Some(local) => local.post(to, message),
        None => post_outside(system, to, message),
    });
}

/// Sends a message in the order of the messages from threads that are not workers.
pub(crate) fn post_outside(system: &System, to: usize, message: Arrival) {
    let id = system.id();
    system.quiet().count_sent_outside();
    system
        .post()
        .send_outside(to, move || on_arrival(id, message));
}
