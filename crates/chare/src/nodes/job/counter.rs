//! What a node receives letters with: its first port, what has come in part, and what is to be sent while it receives.

use std::collections::{HashMap, VecDeque};

use super::super::net::{Data, NetError, Port, PortId, SendError};
use super::transport::{MORE, send};
use crate::remote::WireMessage;

/// Where letters come in. One thread at a time uses it.
pub(super) struct Counter {
    port: Port,
    /// WireMessages that have come in part.
    parts: HashMap<PortId, Vec<u8>>,
    /// WireMessages that have come and were not handed out.
    kept: VecDeque<(u16, Vec<u8>)>,
    /// Nodes that are no more, and lanes that make no sense.
    ends: VecDeque<NetError>,
    /// What is to be sent, of the first so much has gone.
    outgoing: VecDeque<(u16, Vec<u8>)>,
    sent: usize,
}

impl Counter {
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

    /// True when there is something to be done here.
    pub(super) fn has_news(&self) -> bool {
        self.port.has_news()
            || !self.kept.is_empty()
            || !self.ends.is_empty()
            || !self.outgoing.is_empty()
    }

    /// True when something that was to be sent had no room.
    pub(super) fn has_outgoing(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// Waits until something comes.
    pub(super) fn wait(&mut self) {
        self.port.wait();
    }

    /// Gives what has come to `take`, where it lies; true when there was something.
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
                // Without a letter it is a call to look.
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

    /// Keeps what has come until it is asked for; true when there was something.
    pub(super) fn keep(&mut self) -> bool {
        let mut kept = std::mem::take(&mut self.kept);
        let has_come =
            self.collect(|from, wire_message| kept.push_back((from, wire_message.to_vec())));
        self.kept = kept;
        has_come
    }

    /// What is to be told of a node that is no more.
    pub(super) fn next_end(&mut self) -> Option<NetError> {
        self.ends.pop_front()
    }

    /// The next letter that was kept.
    pub(super) fn next_kept(&mut self) -> Option<(u16, Vec<u8>)> {
        self.kept.pop_front()
    }

    /// The first read-only value of the first node, of which others are kept.
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

    /// Sends what there is room for, after what was to be sent before.
    pub(super) fn send(&mut self, more: Vec<(u16, Vec<u8>)>) {
        self.outgoing.extend(more);
        while let Some((node, wire_message)) = self.outgoing.front() {
            match send(&mut self.port, *node, wire_message, &mut self.sent) {
                Err(SendError::Full) => break,
                // Whoever is no more needs no letters; that it is, all are told.
                Ok(()) | Err(_) => {
                    self.outgoing.pop_front();
                    self.sent = 0;
                }
            }
        }
    }
}
