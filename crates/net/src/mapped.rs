//! Memory that several nodes see: besides what lends bytes to MPI the only place of this crate with unsafe code.
//!
//! The nodes of a program trust each other as its threads do: what one writes to memory that it was given is read by another as it stands. What
//! would let a mistake of one bring down another is checked: lengths, places, and the size of what is mapped, which is sealed, so that nobody can
//! make it shorter under those who use it.
//!
//! # What is lent, and what is copied
//! Safe code is lent bytes of this memory only while a protocol says that nothing else writes them. This is the decision
//! for every view of it:
//!
//! | memory | view | why |
//! |---|---|---|
//! | segments: written by puts, by [`Segment::write`](crate::Segment::write) on any clone | none; bytes are copied in and out | no protocol says when a put comes |
//! | the source of a put, where it is a segment | none; copied straight to the target, or to a private buffer for a packet | as above |
//! | lanes: messages that arrive | lent to the closure of [`Port::poll`](crate::Port::poll) | the sender owns them until it gives the slot away, then the receiver until it gives it back (invariant 1 of [`raddle_sync::lane`]) |
//! | the head of a region | none; copied out | it is read once |
//! | wait cells, idle sets, bits of ports | lent | they are atomics |
//! | packets from sockets and MPI | lent | they are received into private buffers |
//! | packets to MPI | lent to MPI | the buffer is owned by the request, and leaked where that is dropped early |

mod memory;
mod region;

pub(crate) use memory::{Memory, Source};
pub(crate) use region::{Region, WORDS};
