//! Perfetto's format: a protobuf message with a list of packets.
//!
//! The fields that matter here are few, so they are encoded and decoded by hand (`wire`), without
//! generated code. [`schema`] has their numbers.
//!
//! # What is written
//! A packet has a track descriptor, names, a clock snapshot or an event. Packets are collected to
//! batches of about 512 KiB. Each batch is compressed (zlib) and is a packet itself. Names of
//! events, categories and arguments are written once, as interned data, and then referred to by
//! number. Such numbers belong to a sequence of packets; all packets of a writer form one sequence.
//!
//! A batch has the events of one track after the other. The time of an event is the difference to
//! the one before: an incremental clock, which a clock snapshot sets to 0 before the events of each
//! track. With whole times instead, files are 1.5 times as large, and with events in the order in
//! which they come 2.2 times (measured for a simulated program of 128 threads).
//!
//! # Identity
//! The numbers of sequences and tracks are unique over all parts of a file: the sequence is the
//! part's number plus 1, and the number of the part is the upper half of a track's number.
//!
//! # Source
//! `trace_packet.proto`, `track_event.proto`, `track_descriptor.proto` and their neighbours, at
//! <https://github.com/google/perfetto>, in `protos/perfetto/trace`.

mod clocks;
mod reader;
mod schema;
mod sequence;
#[cfg(test)]
mod tests;
mod track_event;
mod wire;
mod writer;

pub(crate) use self::reader::read;
pub(crate) use self::writer::PerfettoWriter;
