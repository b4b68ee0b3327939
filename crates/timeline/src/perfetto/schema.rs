//! The numbers of Perfetto's fields and values, as far as they matter here.

/// The numbers of the fields, by message.
pub(crate) mod field {
    /// `Trace`, the file.
    pub(crate) mod trace {
        pub(crate) const PACKET: u32 = 1;
    }

    /// `TracePacket`.
    pub(crate) mod packet {
        pub(crate) const CLOCK_SNAPSHOT: u32 = 6;
        pub(crate) const TIMESTAMP: u32 = 8;
        pub(crate) const SEQUENCE: u32 = 10;
        pub(crate) const TRACK_EVENT: u32 = 11;
        pub(crate) const INTERNED_DATA: u32 = 12;
        pub(crate) const SEQUENCE_FLAGS: u32 = 13;
        pub(crate) const STATE_CLEARED: u32 = 41;
        pub(crate) const THREAD_DESCRIPTOR: u32 = 44;
        pub(crate) const COMPRESSED_PACKETS: u32 = 50;
        pub(crate) const CLOCK: u32 = 58;
        pub(crate) const DEFAULTS: u32 = 59;
        pub(crate) const TRACK_DESCRIPTOR: u32 = 60;
        pub(crate) const ZSTD_PACKETS: u32 = 133;
    }

    /// `TracePacketDefaults`.
    pub(crate) mod defaults {
        pub(crate) const TRACK_EVENT: u32 = 11;
        pub(crate) const CLOCK: u32 = 58;
    }

    /// `TrackDescriptor`.
    pub(crate) mod track {
        pub(crate) const UUID: u32 = 1;
        pub(crate) const NAME: u32 = 2;
        pub(crate) const PROCESS: u32 = 3;
        pub(crate) const THREAD: u32 = 4;
        pub(crate) const PARENT: u32 = 5;
        pub(crate) const COUNTER: u32 = 8;
        pub(crate) const STATIC_NAME: u32 = 10;
        pub(crate) const CHILD_ORDERING: u32 = 11;
        pub(crate) const RANK: u32 = 12;
        pub(crate) const PROCESS_ORDERING: u32 = 19;
        pub(crate) const THREAD_ORDERING: u32 = 20;
    }

    /// `ProcessDescriptor`.
    pub(crate) mod process {
        pub(crate) const PID: u32 = 1;
        pub(crate) const NAME: u32 = 6;
    }

    /// `ThreadDescriptor`.
    pub(crate) mod thread {
        pub(crate) const PID: u32 = 1;
        pub(crate) const TID: u32 = 2;
        pub(crate) const NAME: u32 = 5;
    }

    /// `CounterDescriptor`.
    pub(crate) mod counter {
        pub(crate) const UNIT: u32 = 3;
        pub(crate) const UNIT_NAME: u32 = 6;
    }

    /// `TrackEvent`.
    pub(crate) mod event {
        pub(crate) const CATEGORY_IID: u32 = 3;
        pub(crate) const ARGUMENT: u32 = 4;
        pub(crate) const OLD: u32 = 6;
        pub(crate) const TYPE: u32 = 9;
        pub(crate) const NAME_IID: u32 = 10;
        pub(crate) const TRACK: u32 = 11;
        pub(crate) const CATEGORY: u32 = 22;
        pub(crate) const NAME: u32 = 23;
        pub(crate) const COUNT: u32 = 30;
        pub(crate) const FLOW_VARINT: u32 = 36;
        pub(crate) const FLOW_ENDED_VARINT: u32 = 42;
        pub(crate) const COUNT_FLOAT: u32 = 44;
        pub(crate) const FLOW: u32 = 47;
        pub(crate) const FLOW_ENDED: u32 = 48;
    }

    /// `TrackEvent.old_event`.
    pub(crate) mod old_event {
        pub(crate) const NAME_IID: u32 = 1;
        pub(crate) const PHASE: u32 = 2;
        pub(crate) const DURATION_US: u32 = 3;
        pub(crate) const PID: u32 = 18;
        pub(crate) const TID: u32 = 19;
    }

    /// `DebugAnnotation`.
    pub(crate) mod argument {
        pub(crate) const NAME_IID: u32 = 1;
        pub(crate) const FLAG: u32 = 2;
        pub(crate) const UNSIGNED: u32 = 3;
        pub(crate) const SIGNED: u32 = 4;
        pub(crate) const FLOAT: u32 = 5;
        pub(crate) const TEXT: u32 = 6;
        pub(crate) const POINTER: u32 = 7;
        pub(crate) const JSON: u32 = 9;
        pub(crate) const NAME: u32 = 10;
        pub(crate) const TEXT_IID: u32 = 17;
    }

    /// `InternedData`, and the two fields that each of its entries has.
    pub(crate) mod interned {
        pub(crate) const CATEGORIES: u32 = 1;
        pub(crate) const NAMES: u32 = 2;
        pub(crate) const ARGUMENT_NAMES: u32 = 3;
        pub(crate) const TEXTS: u32 = 29;
        pub(crate) const IID: u32 = 1;
        pub(crate) const TEXT: u32 = 2;
    }

    /// `ClockSnapshot`, and its `Clock`.
    pub(crate) mod clock {
        pub(crate) const CLOCKS: u32 = 1;
        pub(crate) const ID: u32 = 1;
        pub(crate) const TIMESTAMP: u32 = 2;
        pub(crate) const IS_INCREMENTAL: u32 = 3;
        pub(crate) const MULTIPLIER: u32 = 4;
    }
}

/// Bits of the field `sequence_flags`.
pub(crate) mod flag {
    pub(crate) const STATE_CLEARED: u64 = 1;
    pub(crate) const NEEDS_STATE: u64 = 2;
}

/// Values of the field `TrackEvent.type`.
pub(crate) mod kind {
    pub(crate) const BEGIN: u64 = 1;
    pub(crate) const END: u64 = 2;
    pub(crate) const INSTANT: u64 = 3;
    pub(crate) const COUNTER: u64 = 4;
}

/// The clock of the trace (`BOOTTIME`), to which all others are converted.
pub(crate) const TRACE_CLOCK: u64 = 6;
/// The first clock that belongs to a sequence: the one of our events.
pub(crate) const CLOCK: u64 = 64;
/// The value of `child_ordering` for an order by rank.
pub(crate) const CHILDREN_BY_RANK: u64 = 3;
/// The value of `process_ordering` and `thread_ordering` for an order by rank.
pub(crate) const BY_RANK: u64 = 1;
