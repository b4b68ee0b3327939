//! The answers that a node owes to one other node, which has asked for bytes of its segments.
//!
//! The thread that pumps the requests sends the answers, so no thread of the program takes part. An
//! answer for which there is no space waits, and does not keep other packets from arriving:
//! otherwise two nodes that answer each other could wait for each other.
//!
//! # Invariants
//! 1. The number of answers that wait is bounded, because each port may have at most
//!    [`GETS_MAX`] reads on their way.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use raddle_sync::hand_over::Reader;
use raddle_sync::lane::LONG_MAX;

use crate::address::Shape;
use crate::descriptor::{Descriptor, Flags};
use crate::error::{Refusal, SendError};
use crate::gets::{GETS_MAX, Token};
use crate::mapped::Memory;
use crate::packet::Kind;
use crate::transport::Outgoing;

/// The answers that wait for space, in the order of the requests.
#[derive(Debug)]
pub(super) struct Answers {
    waiting: VecDeque<Answer>,
    count_max: usize,
    /// The part of an answer that is being sent.
    part: Vec<u8>,
}

/// An answer: some bytes of a segment of this node, for a port of the other node.
#[derive(Debug)]
pub(super) struct Answer {
    /// The index of the port.
    pub(super) to: u16,
    pub(super) reply: Reply,
    pub(super) memory: Arc<Memory>,
    /// The bytes that have not been sent yet, as offsets into the segment.
    pub(super) bytes: Range<u64>,
    /// The number of bytes that have been sent.
    pub(super) done: u64,
}

/// The right to put an answer into the memory of the node that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) connection: u16,
    pub(crate) key: u64,
    pub(crate) token: Token,
}

impl Reply {
    /// The number of bytes that travel as the metadata of a request. The token is its user field.
    pub(crate) const BYTES: usize = 10;

    /// Returns the metadata of a request.
    pub(crate) fn write(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..2].copy_from_slice(&self.connection.to_le_bytes());
        bytes[2..].copy_from_slice(&self.key.to_le_bytes());
        bytes
    }

    /// Reads the metadata and the user field of a request.
    pub(super) fn read(metadata: &[u8], user: u32) -> Result<Self, Refusal> {
        let bytes: &[u8; Self::BYTES] = metadata.try_into().map_err(|_| Refusal::Malformed)?;
        Ok(Self {
            connection: u16::from_le_bytes([bytes[0], bytes[1]]),
            key: u64::from_le_bytes(std::array::from_fn(|index| bytes[2 + index])),
            token: Token(user),
        })
    }

    /// Returns the descriptor of the packet that puts `len` bytes at an offset of the answer.
    fn descriptor(&self, at: u64, len: u64) -> Descriptor {
        Descriptor {
            connection: self.connection,
            flags: Flags::default(),
            metadata_len: 0,
            user: self.token.0,
            key: self.key,
            part: Some((at, len)),
        }
    }
}

impl Answers {
    /// Creates an empty list of answers to a node of a program of this shape.
    pub(super) const fn new(shape: Shape) -> Self {
        Self {
            waiting: VecDeque::new(),
            count_max: shape.ports as usize * GETS_MAX,
            part: Vec::new(),
        }
    }

    /// Adds an answer.
    ///
    /// # Errors
    /// [`Refusal::Malformed`] if the other node has more requests under way than it may.
    pub(super) fn push(&mut self, answer: Answer) -> Result<(), Refusal> {
        if self.waiting.len() == self.count_max {
            return Err(Refusal::Malformed);
        }
        self.waiting.push_back(answer);
        Ok(())
    }

    /// Returns true if no answer waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Drops all answers, because the other node has ended.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
    }

    /// Sends the answers for which there is space. `send` sends a packet to a port.
    pub(super) fn send(
        &mut self,
        mut send: impl FnMut(u16, Outgoing<'_>) -> Result<(), SendError>,
    ) {
        while let Some(answer) = self.waiting.front_mut() {
            let left = answer.bytes.end - answer.bytes.start;
            let len = left.min(LONG_MAX as u64);
            // At most `LONG_MAX`.
            self.part.resize(len as usize, 0);
            // The offset lies within a segment of this process, so it fits `usize`.
            answer
                .memory
                .read(answer.bytes.start as usize, &mut self.part);
            let head = answer.reply.descriptor(answer.done, len).write();
            let is_last = len == left;
            let sent = send(
                answer.to,
                Outgoing {
                    short: &[&head],
                    long: &self.part,
                    kind: if is_last { Kind::Got } else { Kind::Part },
                    doorbell: is_last,
                    reader: Reader::Soon,
                },
            );
            match sent {
                Ok(()) => {
                    answer.bytes.start += len;
                    answer.done += len;
                }
                Err(SendError::Full) => return,
                // The other node, or this one, has ended.
                Err(_) => return self.clear(),
            }
            if is_last {
                self.waiting.pop_front();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { nodes: 2, ports: 1 };

    fn answer(len: u64) -> Answer {
        let (memory, _file) = Memory::create("segment", 1 << 20).expect("memory");
        Answer {
            to: 0,
            reply: Reply {
                connection: 7,
                key: 9,
                token: Token(3),
            },
            memory: Arc::new(memory),
            bytes: 100..100 + len,
            done: 0,
        }
    }

    #[test]
    fn a_reply_is_read_as_it_was_written() {
        let reply = answer(1).reply;
        assert_eq!(Reply::read(&reply.write(), 3), Ok(reply));
        assert_eq!(Reply::read(&[0; 9], 3), Err(Refusal::Malformed));
        assert_eq!(Reply::read(&[0; 11], 3), Err(Refusal::Malformed));
    }

    #[test]
    fn a_long_answer_goes_on_when_there_is_space() {
        let mut answers = Answers::new(SHAPE);
        let len = 2 * LONG_MAX as u64 + 10;
        answers.push(answer(len)).expect("the first");
        let mut parts = Vec::new();
        let mut calls = 0;
        while !answers.is_empty() {
            answers.send(|_, outgoing| {
                calls += 1;
                if calls % 2 == 1 {
                    return Err(SendError::Full);
                }
                let (descriptor, ..) = Descriptor::read(outgoing.short[0]).expect("a descriptor");
                parts.push((descriptor.part, outgoing.kind));
                Ok(())
            });
        }
        let long = LONG_MAX as u64;
        let expected = [
            (Some((0, long)), Kind::Part),
            (Some((long, long)), Kind::Part),
            (Some((2 * long, 10)), Kind::Got),
        ];
        assert_eq!(parts, expected);
    }

    #[test]
    fn more_requests_than_a_node_may_have_are_refused() {
        let mut answers = Answers::new(SHAPE);
        for _ in 0..GETS_MAX {
            answers.push(answer(1)).expect("allowed");
        }
        assert_eq!(answers.push(answer(1)), Err(Refusal::Malformed));
        answers.send(|_, _| Err(SendError::Died(crate::NodeId(1))));
        assert!(answers.is_empty());
    }
}
