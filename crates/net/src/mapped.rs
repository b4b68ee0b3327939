//! Memory that several nodes share. This is the only unsafe code of this crate, except for the code
//! that lends bytes to MPI.
//!
//! The nodes of a program trust each other as its threads do: a node reads what another node writes
//! to shared memory without validating the contents. Values by which a mistake of one node could
//! crash another are checked: lengths, offsets, and the size of a mapping. The size is sealed, so
//! that no process can shrink memory that others have mapped.
//!
//! # Which bytes are lent, and which are copied
//! Safe code gets a reference to bytes of this memory only while a protocol guarantees that nothing
//! else writes them. This is the decision for every view of it:
//!
//! | memory | view |
//! |---|---|
//! | segments | none: bytes are copied in and out (1) |
//! | read-only segments | lent: the system refuses all writes (`read_only`) |
//! | a segment as the source of a put | none: copied to the target or a private buffer (1) |
//! | lanes: messages that arrive | lent to the closure of [`Port::poll`](crate::Port::poll) (2) |
//! | the head of a region | none: it is read once, and copied out |
//! | wait cells, idle sets, bits of ports | lent: they are atomics |
//! | packets from sockets and MPI | lent: they are received into private buffers |
//! | packets to MPI | lent to MPI (3) |
//!
//! 1. Puts, and [`Segment::write`](crate::Segment::write) on any clone, write to segments. No
//!    protocol says when a put happens.
//! 2. The sender owns the bytes until it hands the slot over, then the receiver until it hands the
//!    slot back (invariant 1 of [`raddle_sync::lane`]).
//! 3. The request owns the buffer, and leaks it if the request is dropped early.

mod memory;
mod read_only;
mod region;

pub(crate) use memory::{Memory, Source};
pub(crate) use read_only::ReadOnly;
pub(crate) use region::{Region, WORDS};

/// The number of bytes of a page.
pub(crate) const PAGE: u64 = 4096;
