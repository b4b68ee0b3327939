//! A desk while the program runs.

use std::sync::Arc;

use raddle_sync::prim::thread;

use super::super::net::NetError;
use super::desk::Desk;
use super::{JobError, Progress};
use crate::engine::system::System;
use crate::remote;

/// A desk that hands out letters. Dropping it closes that.
pub(super) struct Open {
    desk: Arc<Desk>,
    system: Arc<System>,
    /// The one that receives, if one does.
    thread: Option<thread::JoinHandle<()>>,
}

impl Open {
    pub(super) fn new(
        desk: &Arc<Desk>,
        system: &Arc<System>,
        progress: Progress,
    ) -> Result<Self, JobError> {
        desk.open(system);
        let thread = match progress {
            Progress::Pending | Progress::EachSend => None,
            Progress::Thread => {
                let desk = Arc::clone(desk);
                let builder = thread::Builder::new().name("raddle-letters".to_owned());
                let started = builder.spawn(move || receive(&desk));
                Some(started.map_err(|error| NetError::System {
                    what: "a thread",
                    error,
                })?)
            }
        };
        Ok(Self {
            desk: Arc::clone(desk),
            system: Arc::clone(system),
            thread,
        })
    }

    /// Receives until the first node says that it is done.
    pub(super) fn serve(self) -> Result<(), NetError> {
        self.desk.wait_for_end()
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.desk.close();
        let Some(thread) = self.thread.take() else {
            return;
        };
        if let Some(away) = remote::away(&self.system) {
            away.call();
        }
        // Its panic, if any, has been told.
        let _ = thread.join();
    }
}

/// Receives, and does nothing else.
fn receive(desk: &Desk) {
    while !desk.is_over() {
        if !desk.try_receive() && !desk.is_over() {
            desk.wait();
        }
    }
}
