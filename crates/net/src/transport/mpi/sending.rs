//! A message that MPI may still read. Its bytes stay unchanged, and at the same address, until MPI
//! is done with them.
//!
//! The binding borrows the bytes for as long as MPI uses them, but a queue cannot store a borrow
//! next to the bytes that it borrows. So this module states what the compiler cannot know. It is
//! the only unsafe code of the transport.
//!
//! # Invariants
//! 1. While there is a request, nothing writes to the bytes, and they are neither freed nor moved.
//!    If such a message is dropped, they are leaked.
//! 2. Requests are created and tested under the lock on MPI, and so by one thread at a time.

use std::{fmt, mem, slice};

use mpi::Tag;
use mpi::point_to_point::Destination;
use mpi::request::{Request, StaticScope};
use mpi::topology::Process;

/// Bytes on their way to another process.
pub(super) struct Sending {
    bytes: Vec<u8>,
    /// The request, until MPI is done with the bytes.
    request: Option<Request<'static, [u8]>>,
}

// SAFETY: a request is not `Send` only because of the pointer by which MPI knows it. At the level
// of thread support that this program requests, MPI lets any thread complete a request, as long as
// one thread at a time calls MPI (MPI 3.1, section 12.4). That is invariant 2.
unsafe impl Send for Sending {}

/// The event after which MPI is done with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Done {
    /// MPI has read the bytes.
    Read,
    /// The receiver has received the message.
    Received,
}

impl Sending {
    /// Sends bytes. Never waits.
    pub(super) fn new(bytes: Vec<u8>, to: Process<'_>, tag: Tag, done: Done) -> Self {
        // SAFETY: these are the `bytes.len()` bytes of a vector. By invariant 1 they stay
        // unchanged, and at the same address, for as long as the request exists.
        let lent: &'static [u8] = unsafe { slice::from_raw_parts(bytes.as_ptr(), bytes.len()) };
        let request = match done {
            Done::Read => to.immediate_send_with_tag(StaticScope, lent, tag),
            Done::Received => to.immediate_synchronous_send_with_tag(StaticScope, lent, tag),
        };
        Self {
            bytes,
            request: Some(request),
        }
    }

    /// Asks MPI whether it is done with the message.
    pub(super) fn is_done(&mut self) -> bool {
        let Some(request) = self.request.take() else {
            return true;
        };
        self.request = request.test().err();
        self.request.is_none()
    }

    /// Returns the buffer, for reuse.
    ///
    /// # Panics
    /// If MPI is not done with it.
    pub(super) fn into_bytes(mut self) -> Vec<u8> {
        assert!(self.request.is_none(), "{self:?} is on its way");
        mem::take(&mut self.bytes)
    }
}

impl fmt::Debug for Sending {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Sending({} bytes)", self.bytes.len())
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        if let Some(request) = self.request.take() {
            // The binding panics if a request is dropped.
            mem::forget(request);
            mem::forget(mem::take(&mut self.bytes));
        }
    }
}
