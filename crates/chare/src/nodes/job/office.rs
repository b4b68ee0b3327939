//! Where letters come in: a thread of each node receives them, and gives them to the workers.

use std::collections::{HashMap, VecDeque};
use std::mem;
use std::sync::Arc;

use raddle_net::{Data, NetError, NodeId, Port, PortId, SendError};
use raddle_sync::prim::{AtomicBool, Relaxed, thread, yield_now};

use super::super::arrive::Then;
use super::super::{Letter, quiet};
use super::JobError;
use super::carrier::{MORE, NetCarrier, send};
use crate::failure::Failure;
use crate::system::System;

/// What receives letters.
pub(super) struct Office {
    port: Port,
    system: Arc<System>,
    carrier: Arc<NetCarrier>,
    /// Letters that have come in part.
    parts: HashMap<PortId, Vec<u8>>,
    /// Letters that have come while others were waited for.
    kept: VecDeque<(u16, Vec<u8>)>,
    /// What this thread has not sent yet, of the first so much has gone.
    outgoing: VecDeque<(u16, Vec<u8>)>,
    sent: usize,
    is_closed: Arc<AtomicBool>,
}

/// The thread of an office. Dropping it closes that.
pub(super) struct Open {
    thread: Option<thread::JoinHandle<Result<(), NetError>>>,
    system: Arc<System>,
    is_closed: Arc<AtomicBool>,
}

impl Office {
    pub(super) fn new(port: Port, system: Arc<System>, carrier: Arc<NetCarrier>) -> Self {
        Self {
            port,
            system,
            carrier,
            parts: HashMap::new(),
            kept: VecDeque::new(),
            outgoing: VecDeque::new(),
            sent: 0,
            is_closed: Arc::default(),
        }
    }

    /// Waits for a read-only value of the first node; all else is kept.
    pub(super) fn wait_for_readonly(&mut self) -> Result<Vec<u8>, NetError> {
        let mut looked = 0;
        loop {
            while looked < self.kept.len() {
                let (from, bytes) = &self.kept[looked];
                let value = match postcard::from_bytes(bytes) {
                    Ok(Letter::Readonly(value)) if *from == 0 => Some(value.to_vec()),
                    _ => None,
                };
                if let Some(value) = value {
                    self.kept.remove(looked);
                    return Ok(value);
                }
                looked += 1;
            }
            if self.collect()? == 0 {
                self.port.wait();
            }
        }
    }

    /// Takes what has come; returns how many messages.
    fn collect(&mut self) -> Result<usize, NetError> {
        let Self {
            port, parts, kept, ..
        } = self;
        port.poll(|arrival| {
            let Data::Here(bytes) = arrival.data else {
                return;
            };
            let from = arrival.from;
            if arrival.message.user == MORE {
                parts.entry(from).or_default().extend_from_slice(bytes);
                return;
            }
            let mut letter = parts.remove(&from).unwrap_or_default();
            letter.extend_from_slice(bytes);
            // Without a letter it is a call to look.
            if !letter.is_empty() {
                kept.push_back((from.node.0, letter));
            }
        })
    }

    /// Receives in a thread of its own.
    pub(super) fn open(self) -> Result<Open, JobError> {
        let (system, is_closed) = (Arc::clone(&self.system), Arc::clone(&self.is_closed));
        let thread = thread::Builder::new()
            .name("raddle-letters".to_owned())
            .spawn(move || self.run());
        let thread = thread.map_err(|error| NetError::System {
            what: "a thread",
            error,
        })?;
        Ok(Open {
            thread: Some(thread),
            system,
            is_closed,
        })
    }

    fn run(mut self) -> Result<(), NetError> {
        self.carrier.receive_here();
        let result = self.receive();
        self.carrier.close();
        result
    }

    /// Receives until the program's end.
    fn receive(&mut self) -> Result<(), NetError> {
        loop {
            let received = match self.collect() {
                Ok(received) => received,
                Err(NetError::Left(NodeId(0))) => return Ok(()),
                Err(NetError::Left(_)) => continue,
                Err(error) => {
                    self.lose(&error);
                    if matches!(error, NetError::Died(NodeId(0))) {
                        return Err(error);
                    }
                    continue;
                }
            };
            for (from, letter) in mem::take(&mut self.kept) {
                match self.system.arrive(from, &letter) {
                    Ok(Then::GoOn) => {}
                    Ok(Then::Stop) => return Ok(()),
                    Err(failure) => self.system.fail(failure),
                }
            }
            quiet::look(&self.system);
            let has_sent = self.send();
            // Relaxed: whoever closes calls after it.
            if self.is_closed.load(Relaxed) {
                return Ok(());
            }
            if received > 0 || has_sent {
                continue;
            }
            if self.outgoing.is_empty() {
                self.port.wait();
            } else {
                yield_now();
            }
        }
    }

    /// Sends what there is room for; true when anything has gone.
    fn send(&mut self) -> bool {
        self.outgoing.extend(self.carrier.take_waiting());
        let before = self.outgoing.len();
        while let Some((node, letter)) = self.outgoing.front() {
            match send(&mut self.port, *node, letter, &mut self.sent) {
                Err(SendError::Full) => break,
                // Whoever is no more needs no letters; that it is, all are told.
                Ok(()) | Err(_) => {
                    self.outgoing.pop_front();
                    self.sent = 0;
                }
            }
        }
        self.outgoing.len() < before
    }

    /// A node is no more, or what comes from it makes no sense.
    fn lose(&self, error: &NetError) {
        let failure = Failure::new(error.to_string());
        if let (NetError::Died(NodeId(node)), Some(away)) = (error, self.system.away.get()) {
            away.lose(*node, &failure);
        }
        self.system.fail(failure);
    }
}

impl Open {
    /// Receives until the first node says that it is done.
    pub(super) fn serve(mut self) -> Result<(), NetError> {
        let thread = self.thread.take().expect("it is joined once");
        thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Receives no more.
    pub(super) fn close(self) {
        drop(self);
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else {
            return;
        };
        // Relaxed: as in `run`.
        self.is_closed.store(true, Relaxed);
        if let Some(away) = self.system.away.get() {
            away.call();
        }
        // Its panic, if any, has been told.
        let _ = thread.join();
    }
}
