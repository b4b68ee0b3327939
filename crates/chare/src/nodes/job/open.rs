//! The time during which a listener passes wire messages on.

use std::sync::Arc;

use raddle_sync::prim::thread;

use super::super::net::NetError;
use super::error::JobError;
use super::listener::Listener;
use super::progress::Progress;
use crate::engine::system::System;
use crate::remote;

/// A listener that passes wire messages on until this value is dropped.
pub(super) struct Open {
    listener: Arc<Listener>,
    system: Arc<System>,
    /// The dedicated receiving thread, if there is one.
    thread: Option<thread::JoinHandle<()>>,
}

impl Open {
    pub(super) fn new(
        listener: &Arc<Listener>,
        system: &Arc<System>,
        progress: Progress,
    ) -> Result<Self, JobError> {
        listener.open(system);
        let thread = match progress {
            Progress::Pending | Progress::EachSend | Progress::AnySend => None,
            Progress::Thread => {
                let listener = Arc::clone(listener);
                let builder = thread::Builder::new().name("raddle-receiver".to_owned());
                let started = builder.spawn(move || receive(&listener));
                Some(started.map_err(|error| NetError::System {
                    what: "a thread",
                    error,
                })?)
            }
        };
        Ok(Self {
            listener: Arc::clone(listener),
            system: Arc::clone(system),
            thread,
        })
    }

    /// Waits until the first node ends the program.
    pub(super) fn serve(self) -> Result<(), NetError> {
        self.listener.wait_for_end()
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.listener.close();
        let Some(thread) = self.thread.take() else {
            return;
        };
        if let Some(away) = remote::away(&self.system) {
            away.call();
        }
        // A panic of the thread has been reported already.
        let _ = thread.join();
    }
}

/// Runs the dedicated receiving thread.
fn receive(listener: &Listener) {
    while !listener.is_over() {
        if !listener.try_receive() && !listener.is_over() {
            listener.wait();
        }
    }
}
