//! Serialised messages to elements on other nodes.

use super::plain::Whole;

/// A serialised message to an element on another node.
pub(crate) struct Packed {
    pub(crate) handler: u16,
    pub(crate) reply: Option<u64>,
    pub(crate) args: Vec<u8>,
    /// The message went to all elements.
    pub(crate) is_to_all: bool,
}

impl Packed {
    /// The handler id of the request to end an element: no entry has it.
    pub(crate) const END_HANDLER: u16 = u16::MAX;

    /// The handler id of the request to move an element to another node.
    pub(crate) const LEAVE_HANDLER: u16 = u16::MAX - 1;

    /// The handler id of a step of a scan.
    pub(crate) const STEP_HANDLER: u16 = u16::MAX - 2;

    /// The request to end an element.
    pub(crate) const END: Self = Self::without_entry(Self::END_HANDLER, Vec::new());

    /// Creates the request to move to a worker of another node.
    pub(crate) fn leave(worker: usize) -> Self {
        let worker = postcard::to_allocvec(&worker).expect("a number is plain");
        Self::without_entry(Self::LEAVE_HANDLER, worker)
    }

    /// Creates the message of a step of a scan: its numbers, and the kind and the bytes of the
    /// contribution.
    pub(crate) fn step(step: &(u64, u32, u64, Whole<Vec<u8>>)) -> Self {
        let step = postcard::to_allocvec(step).expect("numbers and bytes are plain");
        Self::without_entry(Self::STEP_HANDLER, step)
    }

    const fn without_entry(handler: u16, args: Vec<u8>) -> Self {
        Self {
            handler,
            reply: None,
            args,
            is_to_all: false,
        }
    }
}
