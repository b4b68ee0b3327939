//! A message that MPI may still read: its bytes lie still until MPI says that it is done with them.
//!
//! The binding lends bytes to MPI for as long as they are borrowed, and a borrow cannot wait in a queue beside what it borrows. So this says
//! what the compiler cannot know; it is the only unsafe code of the transport.
//!
//! # Invariants
//! 1. While there is a request, nobody writes to the bytes, and they are neither freed nor elsewhere: where such a message is dropped, they are leaked.
//! 2. Requests are made and tested by whoever has the lock on MPI, so by one thread at a time.

use std::{fmt, mem, slice};

use mpi::Tag;
use mpi::point_to_point::Destination;
use mpi::request::{Request, StaticScope};
use mpi::topology::Process;

/// Bytes under way to another process.
pub(super) struct Sending {
    bytes: Vec<u8>,
    /// Until MPI is done with them.
    request: Option<Request<'static, [u8]>>,
}

// SAFETY: what keeps a request in its thread is the pointer by which MPI knows it. MPI lets any thread complete it that calls MPI alone, at the level of
// threads that this program asks for (MPI 3.1, section 12.4), which invariant 2 sees to.
unsafe impl Send for Sending {}

/// When MPI is done with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Done {
    /// When its bytes have been read.
    Read,
    /// When its receiver has taken it.
    Taken,
}

impl Sending {
    /// Sends bytes; never waits.
    pub(super) fn new(bytes: Vec<u8>, to: Process<'_>, tag: Tag, done: Done) -> Self {
        // SAFETY: they are `bytes.len()` bytes of a vector, which by invariant 1 stay what and where they are for as long as the request is there.
        let lent: &'static [u8] = unsafe { slice::from_raw_parts(bytes.as_ptr(), bytes.len()) };
        let request = match done {
            Done::Read => to.immediate_send_with_tag(StaticScope, lent, tag),
            Done::Taken => to.immediate_synchronous_send_with_tag(StaticScope, lent, tag),
        };
        Self {
            bytes,
            request: Some(request),
        }
    }

    /// Asks MPI whether it is done with it.
    pub(super) fn is_done(&mut self) -> bool {
        let Some(request) = self.request.take() else {
            return true;
        };
        self.request = request.test().err();
        self.request.is_none()
    }

    /// The bytes, to be used again.
    ///
    /// # Panics
    /// When MPI is not done with them.
    pub(super) fn into_bytes(mut self) -> Vec<u8> {
        assert!(self.request.is_none(), "{self:?} is under way");
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
            // The binding panics where a request is dropped.
            mem::forget(request);
            mem::forget(mem::take(&mut self.bytes));
        }
    }
}
