//! The thread of a node that receives messages about bricks.
//!
//! The server belongs to a thread with a port, which may receive other messages, too. The thread
//! hands over the messages that it receives ([`BrickServer::receive`]), and lets the server send
//! its answers between two calls of [`Port::poll`].

use std::collections::VecDeque;
use std::sync::Arc;

use raddle_sync::lane::LONG_MAX;
use raddle_sync::prim::Relaxed;
use raddle_trace::profile::{NoProfile, Profiler};

use super::error::BrickError;
use super::functions::{ANSWER, HANDLE_ANSWER, HANDLE_REQUEST, PRODUCE, WAKE};
use super::wire::{self, AnswerHead};
use super::{Answers, Bricks};
use crate::address::{NodeId, PortId};
use crate::error::SendError;
use crate::port::{Arrival, Data, METADATA_MAX, Message, Port};

/// The longest reason of a refusal. It travels in one cache line or two.
const REASON_MAX: usize = METADATA_MAX;

/// Answers the requests of other nodes, and receives answers for the threads of its own node.
#[derive(Debug)]
pub struct BrickServer {
    bricks: Arc<Bricks>,
    /// The bricks that were requested, and how much of the first one has been sent.
    waiting: VecDeque<(PortId, u64)>,
    sent: usize,
    /// The first brick, if it was produced on demand, or the reason why it was not.
    produced: Option<Result<Vec<u8>, String>>,
    /// The number of bricks that were sent.
    answered: u64,
}

impl BrickServer {
    pub(super) fn new(bricks: Arc<Bricks>) -> Self {
        // Relaxed: only a count.
        bricks.servers.fetch_add(1, Relaxed);
        Self {
            bricks,
            waiting: VecDeque::new(),
            sent: 0,
            produced: None,
            answered: 0,
        }
    }

    /// Receives a message about bricks. Returns false for any other message.
    pub fn receive(&mut self, arrival: &Arrival<'_>) -> bool {
        self.receive_profiled(arrival, &NoProfile)
    }

    /// Receives a message as [`receive`](Self::receive) does, and measures the parts of the work.
    pub fn receive_profiled(&mut self, arrival: &Arrival<'_>, profiler: &impl Profiler) -> bool {
        let Data::Here(data) = arrival.data else {
            return false;
        };
        let metadata = arrival.message.metadata;
        match arrival.message.user {
            wire::REQUEST => {
                let _call = profiler.call(&HANDLE_REQUEST);
                let ports = self.bricks.port_count;
                // A port that does not exist gets no answer.
                if let Some((index, keys)) = wire::read_request(metadata, data)
                    && index < ports
                {
                    let to = PortId {
                        node: arrival.from.node,
                        index,
                    };
                    self.waiting.extend(keys.map(|key| (to, key)));
                }
            }
            wire::ANSWER => {
                let _call = profiler.call(&HANDLE_ANSWER);
                self.fill(arrival.from.node, metadata, data, profiler);
            }
            wire::REFUSAL => {
                let _call = profiler.call(&HANDLE_ANSWER);
                if let Some(key) = wire::read_refusal(metadata) {
                    let why = String::from_utf8_lossy(data).into_owned();
                    let home = arrival.from.node;
                    self.finish(key, Err(BrickError::Source { key, home, why }), profiler);
                }
            }
            _ => return false,
        }
        true
    }

    /// Sends the answers for which there is space. Returns true if none waits.
    ///
    /// An answer to a node that has ended is dropped.
    pub fn send(&mut self, port: &mut Port) -> bool {
        self.send_profiled(port, &NoProfile)
    }

    /// Sends answers as [`send`](Self::send) does, and measures the parts of the work.
    pub fn send_profiled(&mut self, port: &mut Port, profiler: &impl Profiler) -> bool {
        while let Some(&(to, key)) = self.waiting.front() {
            let _call = profiler.call(&ANSWER);
            match self.send_first(port, to, key, profiler) {
                Err(SendError::Full) => return false,
                Ok(is_brick) => self.answered += u64::from(is_brick),
                Err(_) => {}
            }
            self.waiting.pop_front();
            (self.sent, self.produced) = (0, None);
        }
        true
    }

    /// Sends the rest of the first brick, or a refusal. Returns true if it was the brick.
    fn send_first(
        &mut self,
        port: &mut Port,
        to: PortId,
        key: u64,
        profiler: &impl Profiler,
    ) -> Result<bool, SendError> {
        let bricks = &self.bricks;
        let own = bricks.my_home.and_then(|mine| {
            let (home, place) = bricks.homes.home(key)?;
            (home == mine).then_some(place)
        });
        let lent = own.and_then(|place| bricks.own(place));
        let bytes = match lent {
            Some(bytes) => Ok(bytes),
            None => {
                let produced = self.produced.get_or_insert_with(|| {
                    let _call = profiler.call(&PRODUCE);
                    let mut bytes = vec![0; bricks.options.brick_bytes];
                    if own.is_none() {
                        return Err("this node is not its home".into());
                    }
                    bricks.read_own(key, &mut bytes).map(|()| bytes)
                });
                produced.as_deref().map_err(|why| why.as_str())
            }
        };
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(why) => {
                let len = why.floor_char_boundary(REASON_MAX.min(why.len()));
                let message = Message {
                    user: wire::REFUSAL,
                    metadata: &key.to_le_bytes(),
                    ..Message::default()
                };
                return port
                    .send(to, message, &why.as_bytes()[..len])
                    .map(|()| false);
            }
        };
        loop {
            let end = bytes.len().min(self.sent + LONG_MAX);
            let head = AnswerHead {
                key,
                // A brick is far shorter than 4 GiB, or its cache would not fit into memory.
                at: self.sent as u32,
                is_last: end == bytes.len(),
            };
            let message = Message {
                user: wire::ANSWER,
                metadata: &head.write(),
                ..Message::default()
            };
            port.send(to, message, &bytes[self.sent..end])?;
            self.sent = end;
            if head.is_last {
                return Ok(true);
            }
        }
    }

    /// Records that a node has ended: the threads that wait for its bricks get an error.
    pub fn node_ended(&mut self, node: NodeId, error: SendError) {
        let bricks = &self.bricks;
        let ended = bricks.homes.nodes().iter().position(|&home| home == node);
        if let Some(home) = ended {
            let error_of = |key| BrickError::Home {
                key,
                home: node,
                error,
            };
            bricks.loading.fail(&bricks.cache, Some(home), error_of);
        }
    }

    /// Returns the number of bricks that were sent.
    pub const fn answered(&self) -> u64 {
        self.answered
    }

    /// Writes a part of an answer into its line.
    fn fill(&self, home: NodeId, metadata: &[u8], data: &[u8], profiler: &impl Profiler) {
        let Some(head) = AnswerHead::read(metadata) else {
            return;
        };
        let bricks = &self.bricks;
        let (key, expected) = (head.key, bricks.options.brick_bytes);
        if let Some(why) = head.fault(data.len(), expected) {
            self.finish(key, Err(BrickError::Source { key, home, why }), profiler);
            return;
        }
        let (cache, at) = (&bricks.cache, head.at as usize);
        let is_whole = bricks.loading.add_part(cache, head.key, at, data);
        if is_whole && head.is_last {
            self.finish(head.key, Ok(()), profiler);
        }
    }

    fn finish(&self, key: u64, outcome: Result<(), BrickError>, profiler: &impl Profiler) {
        let _call = profiler.call(&WAKE);
        self.bricks.loading.finish(&self.bricks.cache, key, outcome);
    }
}

impl Drop for BrickServer {
    /// Ends the waits of the threads of this node with an error if this was its last server.
    fn drop(&mut self) {
        let bricks = &self.bricks;
        // Relaxed: as in `new`.
        let is_last = bricks.servers.fetch_sub(1, Relaxed) == 1;
        if is_last && bricks.options.answers == Answers::Handler {
            let error_of = |key| BrickError::NoServer { key };
            bricks.loading.fail(&bricks.cache, None, error_of);
        }
    }
}
