//! The receiving side of a node: its first port, wire messages that have arrived in part or whole,
//! and wire messages to send while receiving.

use std::collections::{HashMap, VecDeque};

use super::super::net::{Data, NetError, Port, PortId, SendError};
use super::transport::{MORE, send};
use crate::remote::WireMessage;

/// The port for incoming wire messages, and their buffers. One thread at a time uses it.
pub(super) struct Receiver {
    port: Port,
    /// The received pieces of incomplete wire messages, by sender.
    parts: HashMap<PortId, Vec<u8>>,
    /// Complete wire messages that have not been passed on.
    kept: VecDeque<(u16, Vec<u8>)>,
    /// Errors to report: nodes that have ended, and lanes with invalid contents.
    ends: VecDeque<NetError>,
    /// Wire messages to send, and the number of bytes of the first one that have been sent.
    outgoing: VecDeque<(u16, Vec<u8>)>,
    sent: usize,
}

impl Receiver {
    pub(super) fn new(port: Port) -> Self {
        Self {
            port,
            parts: HashMap::new(),
            kept: VecDeque::new(),
            ends: VecDeque::new(),
            outgoing: VecDeque::new(),
            sent: 0,
        }
    }

    /// Returns true if there may be arrivals, or anything to report or send.
    pub(super) fn has_news(&self) -> bool {
        self.port.has_news()
            || !self.kept.is_empty()
            || !self.ends.is_empty()
            || !self.outgoing.is_empty()
    }

    /// Returns true if a wire message is still unsent for lack of space.
    pub(super) fn has_outgoing(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// Waits until the port has an arrival.
    pub(super) fn wait(&mut self) {
        self.port.wait();
    }

    /// Passes the arrived wire messages to `take`, in place. Returns true if there were any.
    pub(super) fn collect(&mut self, mut take: impl FnMut(u16, &[u8])) -> bool {
        let Self {
            port, parts, ends, ..
        } = self;
        let polled = port.poll(|arrival| {
            let Data::Here(bytes) = arrival.data else {
                return;
            };
            let from = arrival.from;
            if arrival.message.user == MORE {
                parts.entry(from).or_default().extend_from_slice(bytes);
                return;
            }
            match parts.remove(&from) {
                Some(mut wire_message) => {
                    wire_message.extend_from_slice(bytes);
                    take(from.node.0, &wire_message);
                }
                // A message without data only asks the receiver to check for work.
                None if bytes.is_empty() => {}
                None => take(from.node.0, bytes),
            }
        });
        match polled {
            Ok(count) => count > 0,
            Err(error) => {
                ends.push_back(error);
                true
            }
        }
    }

    /// Keeps the arrived wire messages until they are asked for. Returns true if there were any.
    pub(super) fn keep(&mut self) -> bool {
        let mut kept = std::mem::take(&mut self.kept);
        let has_come =
            self.collect(|from, wire_message| kept.push_back((from, wire_message.to_vec())));
        self.kept = kept;
        has_come
    }

    /// Takes the next error to report.
    pub(super) fn next_end(&mut self) -> Option<NetError> {
        self.ends.pop_front()
    }

    /// Takes the next wire message that was kept.
    pub(super) fn next_kept(&mut self) -> Option<(u16, Vec<u8>)> {
        self.kept.pop_front()
    }

    /// Takes the first kept wire message with a read-only value of the first node.
    pub(super) fn take_readonly(&mut self) -> Option<Vec<u8>> {
        let value_of = |(from, bytes): &(u16, Vec<u8>)| match WireMessage::read(bytes) {
            Ok((WireMessage::Readonly, value)) if *from == 0 => Some(value.to_vec()),
            _ => None,
        };
        let mut values = self.kept.iter().map(value_of).enumerate();
        let (index, value) = values.find_map(|(index, value)| Some((index, value?)))?;
        self.kept.remove(index);
        Some(value)
    }

    /// Queues wire messages and sends as many as there is space for, in order.
    pub(super) fn send(&mut self, more: Vec<(u16, Vec<u8>)>) {
        self.outgoing.extend(more);
        while let Some((node, wire_message)) = self.outgoing.front() {
            match send(&mut self.port, *node, wire_message, &mut self.sent) {
                Err(SendError::Full) => break,
                // A node that has ended needs no wire messages. Its end is reported separately.
                Ok(()) | Err(_) => {
                    self.outgoing.pop_front();
                    self.sent = 0;
                }
            }
        }
    }
}
