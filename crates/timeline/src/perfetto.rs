//! Perfetto's format: a protobuf message with a list of packets.
//!
//! The fields that matter here are few, so they are encoded and decoded by hand (`wire`), without
//! generated code. [`field`] has their numbers.
//!
//! # What is written
//! A packet has a track descriptor, names, a clock snapshot or an event. Packets are collected to
//! batches of about 512 KiB. Each batch is compressed (zlib) and is a packet itself. Names of
//! events, categories and arguments are sent once, as interned data, and referred to by number. Such
//! numbers belong to a sequence of packets; all packets of a writer form one sequence.
//!
//! A batch has the events of one track after the other. The time of an event is the difference to
//! the one before: an incremental clock, which a clock snapshot sets to 0 before the events of each
//! track. Compared with events in the order in which they come, and with whole times, files are
//! smaller by a factor of 2.8 (a simulation of 160 threads and 64 links).
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
mod sequence;
#[cfg(test)]
mod tests;
mod track_event;
mod wire;
mod writer;

pub(crate) use self::reader::read;
pub(crate) use self::writer::PerfettoWriter;

/// The numbers of the fields, by message.
mod field {
    /// `Trace`, the file.
    pub(super) mod trace {
        pub(in crate::perfetto) const PACKET: u32 = 1;
    }

    /// `TracePacket`.
    pub(super) mod packet {
        pub(in crate::perfetto) const CLOCK_SNAPSHOT: u32 = 6;
        pub(in crate::perfetto) const TIMESTAMP: u32 = 8;
        pub(in crate::perfetto) const SEQUENCE: u32 = 10;
        pub(in crate::perfetto) const TRACK_EVENT: u32 = 11;
        pub(in crate::perfetto) const INTERNED_DATA: u32 = 12;
        pub(in crate::perfetto) const SEQUENCE_FLAGS: u32 = 13;
        pub(in crate::perfetto) const STATE_CLEARED: u32 = 41;
        pub(in crate::perfetto) const THREAD_DESCRIPTOR: u32 = 44;
        pub(in crate::perfetto) const COMPRESSED_PACKETS: u32 = 50;
        pub(in crate::perfetto) const CLOCK: u32 = 58;
        pub(in crate::perfetto) const DEFAULTS: u32 = 59;
        pub(in crate::perfetto) const TRACK_DESCRIPTOR: u32 = 60;
        pub(in crate::perfetto) const ZSTD_PACKETS: u32 = 133;
    }

    /// `TracePacketDefaults`.
    pub(super) mod defaults {
        pub(in crate::perfetto) const TRACK_EVENT: u32 = 11;
        pub(in crate::perfetto) const CLOCK: u32 = 58;
    }

    /// `TrackDescriptor`.
    pub(super) mod track {
        pub(in crate::perfetto) const UUID: u32 = 1;
        pub(in crate::perfetto) const NAME: u32 = 2;
        pub(in crate::perfetto) const PROCESS: u32 = 3;
        pub(in crate::perfetto) const THREAD: u32 = 4;
        pub(in crate::perfetto) const PARENT: u32 = 5;
        pub(in crate::perfetto) const COUNTER: u32 = 8;
        pub(in crate::perfetto) const STATIC_NAME: u32 = 10;
        pub(in crate::perfetto) const CHILD_ORDERING: u32 = 11;
        pub(in crate::perfetto) const RANK: u32 = 12;
        pub(in crate::perfetto) const PROCESS_ORDERING: u32 = 19;
        pub(in crate::perfetto) const THREAD_ORDERING: u32 = 20;
    }

    /// `ProcessDescriptor`.
    pub(super) mod process {
        pub(in crate::perfetto) const PID: u32 = 1;
        pub(in crate::perfetto) const NAME: u32 = 6;
    }

    /// `ThreadDescriptor`.
    pub(super) mod thread {
        pub(in crate::perfetto) const PID: u32 = 1;
        pub(in crate::perfetto) const TID: u32 = 2;
        pub(in crate::perfetto) const NAME: u32 = 5;
    }

    /// `CounterDescriptor`.
    pub(super) mod counter {
        pub(in crate::perfetto) const UNIT: u32 = 3;
        pub(in crate::perfetto) const UNIT_NAME: u32 = 6;
    }

    /// `TrackEvent`.
    pub(super) mod event {
        pub(in crate::perfetto) const CATEGORY_IID: u32 = 3;
        pub(in crate::perfetto) const ARGUMENT: u32 = 4;
        pub(in crate::perfetto) const OLD: u32 = 6;
        pub(in crate::perfetto) const TYPE: u32 = 9;
        pub(in crate::perfetto) const NAME_IID: u32 = 10;
        pub(in crate::perfetto) const TRACK: u32 = 11;
        pub(in crate::perfetto) const CATEGORY: u32 = 22;
        pub(in crate::perfetto) const NAME: u32 = 23;
        pub(in crate::perfetto) const COUNT: u32 = 30;
        pub(in crate::perfetto) const FLOW_VARINT: u32 = 36;
        pub(in crate::perfetto) const FLOW_ENDED_VARINT: u32 = 42;
        pub(in crate::perfetto) const COUNT_FLOAT: u32 = 44;
        pub(in crate::perfetto) const FLOW: u32 = 47;
        pub(in crate::perfetto) const FLOW_ENDED: u32 = 48;
    }

    /// `TrackEvent.old_event`.
    pub(super) mod old_event {
        pub(in crate::perfetto) const NAME_IID: u32 = 1;
        pub(in crate::perfetto) const PHASE: u32 = 2;
        pub(in crate::perfetto) const DURATION_US: u32 = 3;
        pub(in crate::perfetto) const PID: u32 = 18;
        pub(in crate::perfetto) const TID: u32 = 19;
    }

    /// `DebugAnnotation`.
    pub(super) mod argument {
        pub(in crate::perfetto) const NAME_IID: u32 = 1;
        pub(in crate::perfetto) const FLAG: u32 = 2;
        pub(in crate::perfetto) const UNSIGNED: u32 = 3;
        pub(in crate::perfetto) const SIGNED: u32 = 4;
        pub(in crate::perfetto) const FLOAT: u32 = 5;
        pub(in crate::perfetto) const TEXT: u32 = 6;
        pub(in crate::perfetto) const POINTER: u32 = 7;
        pub(in crate::perfetto) const JSON: u32 = 9;
        pub(in crate::perfetto) const NAME: u32 = 10;
        pub(in crate::perfetto) const TEXT_IID: u32 = 17;
    }

    /// `InternedData`, and the two fields that each of its entries has.
    pub(super) mod interned {
        pub(in crate::perfetto) const CATEGORIES: u32 = 1;
        pub(in crate::perfetto) const NAMES: u32 = 2;
        pub(in crate::perfetto) const ARGUMENT_NAMES: u32 = 3;
        pub(in crate::perfetto) const TEXTS: u32 = 29;
        pub(in crate::perfetto) const IID: u32 = 1;
        pub(in crate::perfetto) const TEXT: u32 = 2;
    }

    /// `ClockSnapshot`, and its `Clock`.
    pub(super) mod clock {
        pub(in crate::perfetto) const CLOCKS: u32 = 1;
        pub(in crate::perfetto) const ID: u32 = 1;
        pub(in crate::perfetto) const TIMESTAMP: u32 = 2;
        pub(in crate::perfetto) const IS_INCREMENTAL: u32 = 3;
        pub(in crate::perfetto) const MULTIPLIER: u32 = 4;
    }
}

/// Bits of the field `sequence_flags`.
mod flag {
    pub(super) const STATE_CLEARED: u64 = 1;
    pub(super) const NEEDS_STATE: u64 = 2;
}

/// Values of the field `TrackEvent.type`.
mod kind {
    pub(super) const BEGIN: u64 = 1;
    pub(super) const END: u64 = 2;
    pub(super) const INSTANT: u64 = 3;
    pub(super) const COUNTER: u64 = 4;
}

/// The clock of the trace (`BOOTTIME`), to which all others are converted.
const TRACE_CLOCK: u64 = 6;
/// The first clock that belongs to a sequence: the one of our events.
const CLOCK: u64 = 64;
/// The value of `child_ordering` for an order by rank.
const CHILDREN_BY_RANK: u64 = 3;
/// The value of `process_ordering` and `thread_ordering` for an order by rank.
const BY_RANK: u64 = 1;
