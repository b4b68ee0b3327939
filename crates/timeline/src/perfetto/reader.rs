//! Reads Perfetto's format.

use std::collections::HashMap;
use std::io::BufRead;

use super::clocks::Clocks;
use super::schema::field::{packet, trace};
use super::schema::flag;
use super::sequence::{Sequence, Thread};
use super::track_event::{Events, Fault};
use super::wire::{Defect, Fields, Wire, tag, wire_type};
use crate::error::{Place, ReadError};
use crate::expansion::{Allowance, Exceeded, Expanded, expand};
use crate::input::Input;
use crate::timeline::{Timeline, TooMany};

/// Reads a trace.
pub(crate) fn read(
    mut input: Input<impl BufRead>,
    allowance: &Allowance,
) -> Result<Timeline, ReadError> {
    let mut reader = Reader {
        events: Events::new(),
        sequences: HashMap::new(),
        clocks: Clocks::new(),
        place: Place { byte: 0, item: 0 },
        allowance,
        expanded: Vec::new(),
    };
    let mut bytes = Vec::new();
    let cut_at = loop {
        if input.peek()?.is_none() {
            break None;
        }
        reader.place.byte = input.byte();
        match reader.read_field(&mut input, &mut bytes)? {
            Field::Packet => reader.read_packet(&bytes, Level::File)?,
            Field::Other => {}
            Field::Cut => {
                reader.read_cut_packet(&bytes)?;
                break Some(input.byte());
            }
        }
    };
    Ok(reader.events.finish().finish(cut_at))
}

#[derive(Debug)]
struct Reader<'a> {
    events: Events,
    sequences: HashMap<u32, Sequence>,
    /// The system's clocks.
    clocks: Clocks,
    place: Place,
    allowance: &'a Allowance,
    /// A buffer for a batch.
    expanded: Vec<u8>,
}

/// A field of the file.
enum Field {
    Packet,
    Other,
    /// A field that the file ends within. If it is a packet, the buffer has its beginning.
    Cut,
}

/// The place of a packet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    File,
    Batch,
}

/// The fields of a packet that matter.
#[derive(Default)]
struct Packet<'a> {
    timestamp: Option<u64>,
    clock: Option<u32>,
    sequence: u32,
    clears_state: bool,
    defaults: Option<&'a [u8]>,
    snapshot: Option<&'a [u8]>,
    interned: Option<&'a [u8]>,
    thread: Option<&'a [u8]>,
    track: Option<&'a [u8]>,
    event: Option<&'a [u8]>,
    batch: Option<&'a [u8]>,
    has_zstd: bool,
}

impl Reader<'_> {
    /// Reads a field of the file. A packet's content is then in `bytes`.
    fn read_field(
        &self,
        input: &mut Input<impl BufRead>,
        bytes: &mut Vec<u8>,
    ) -> Result<Field, ReadError> {
        bytes.clear();
        let Some(begin) = self.read_varint(input)? else {
            return Ok(Field::Cut);
        };
        if begin >> 3 == 0 {
            return Err(self.malformed("field number 0".to_owned()));
        }
        let is_packet = begin == tag(trace::PACKET, wire_type::BYTES);
        let len = match begin as u32 & 7 {
            wire_type::VARINT => {
                return Ok(self
                    .read_varint(input)?
                    .map_or(Field::Cut, |_| Field::Other));
            }
            wire_type::FIXED64 => 8,
            wire_type::FIXED32 => 4,
            wire_type::BYTES => match self.read_varint(input)? {
                Some(len) => len,
                None => return Ok(Field::Cut),
            },
            other => return Err(self.malformed(format!("wire type {other}"))),
        };
        let is_whole = input.read(len, bytes)?;
        if !is_packet {
            bytes.clear();
        }
        Ok(match (is_whole, is_packet) {
            (true, true) => Field::Packet,
            (true, false) => Field::Other,
            (false, _) => Field::Cut,
        })
    }

    /// Reads a number; `None` if the file ends within it.
    fn read_varint(&self, input: &mut Input<impl BufRead>) -> Result<Option<u64>, ReadError> {
        let mut value = 0;
        for index in 0..10 {
            let Some(byte) = input.next()? else {
                return Ok(None);
            };
            value |= u64::from(byte & 0x7f) << (7 * index);
            if byte < 0x80 {
                return Ok(Some(value));
            }
        }
        Err(self.malformed("a number of more than 10 bytes".to_owned()))
    }

    /// Reads the packets of a batch that the file ends within, as far as there are any.
    fn read_cut_packet(&mut self, bytes: &[u8]) -> Result<(), ReadError> {
        let mut fields = Fields::new(bytes);
        let is_batch = fields.varint() == Ok(tag(packet::COMPRESSED_PACKETS, wire_type::BYTES));
        if is_batch && fields.varint().is_ok() {
            self.read_batch(fields.rest(), true)?;
        }
        Ok(())
    }

    /// Reads a packet and applies it.
    fn read_packet(&mut self, bytes: &[u8], level: Level) -> Result<(), ReadError> {
        self.place.item += 1;
        let packet = Packet::read(bytes).map_err(|defect| self.malformed(defect.found()))?;
        if packet.has_zstd {
            return Err(ReadError::Malformed {
                place: self.place,
                found: "packets that are compressed by zstd".to_owned(),
                expected: "packets that are compressed by zlib, or not compressed",
            });
        }
        if let Some(batch) = packet.batch {
            if level == Level::Batch {
                return Err(self.malformed("a batch within a batch".to_owned()));
            }
            return self.read_batch(batch, false);
        }
        let applied = packet.apply(&mut self.events, &mut self.sequences, &mut self.clocks);
        applied.map_err(|fault| match fault {
            Fault::Defect(defect) => self.malformed(defect.found()),
            Fault::TooMany(TooMany { what, max }) => ReadError::TooMany {
                place: self.place,
                what,
                max,
            },
        })
    }

    /// Reads the packets of a batch. If the file ends within the batch, so do the packets.
    fn read_batch(&mut self, batch: &[u8], is_cut: bool) -> Result<(), ReadError> {
        let place = self.place;
        let mut expanded = std::mem::take(&mut self.expanded);
        let outcome = expand(batch, self.allowance, &mut expanded)
            .map_err(|Exceeded { bytes_max }| ReadError::Expansion { place, bytes_max })?;
        if let (Expanded::Part(error), false) = (outcome, is_cut) {
            return Err(ReadError::Malformed {
                place,
                found: format!("a batch that cannot be expanded ({error})"),
                expected: "packets that are compressed by zlib",
            });
        }
        let mut fields = Fields::new(&expanded);
        loop {
            match fields.next() {
                Ok(Some((trace::PACKET, Wire::Bytes(packet)))) => {
                    self.read_packet(packet, Level::Batch)?;
                }
                Ok(Some(_)) => {}
                Err(Defect::Short) if is_cut => break,
                Err(defect) => return Err(self.malformed(defect.found())),
                Ok(None) => break,
            }
        }
        self.expanded = expanded;
        Ok(())
    }

    fn malformed(&self, found: String) -> ReadError {
        ReadError::Malformed {
            place: self.place,
            found,
            expected: "a packet of a Perfetto trace",
        }
    }
}

impl<'a> Packet<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, Defect> {
        let mut packet = Self::default();
        let mut fields = Fields::new(bytes);
        while let Some(field) = fields.next()? {
            match field {
                (packet::TIMESTAMP, Wire::Varint(value)) => packet.timestamp = Some(value),
                (packet::CLOCK, Wire::Varint(value)) => packet.clock = Some(value as u32),
                (packet::SEQUENCE, Wire::Varint(value)) => packet.sequence = value as u32,
                (packet::SEQUENCE_FLAGS, Wire::Varint(value)) => {
                    packet.clears_state |= value & flag::STATE_CLEARED != 0;
                }
                (packet::STATE_CLEARED, Wire::Varint(value)) => packet.clears_state |= value != 0,
                (packet::DEFAULTS, Wire::Bytes(bytes)) => packet.defaults = Some(bytes),
                (packet::CLOCK_SNAPSHOT, Wire::Bytes(bytes)) => packet.snapshot = Some(bytes),
                (packet::INTERNED_DATA, Wire::Bytes(bytes)) => packet.interned = Some(bytes),
                (packet::THREAD_DESCRIPTOR, Wire::Bytes(bytes)) => packet.thread = Some(bytes),
                (packet::TRACK_DESCRIPTOR, Wire::Bytes(bytes)) => packet.track = Some(bytes),
                (packet::TRACK_EVENT, Wire::Bytes(bytes)) => packet.event = Some(bytes),
                (packet::COMPRESSED_PACKETS, Wire::Bytes(bytes)) => packet.batch = Some(bytes),
                (packet::ZSTD_PACKETS, _) => packet.has_zstd = true,
                _ => {}
            }
        }
        Ok(packet)
    }

    /// Adds the content to the trace and to the state of its sequence.
    fn apply(
        &self,
        events: &mut Events,
        sequences: &mut HashMap<u32, Sequence>,
        clocks: &mut Clocks,
    ) -> Result<(), Fault> {
        let sequence = sequences.entry(self.sequence).or_default();
        if self.clears_state {
            sequence.clear();
        }
        if let Some(message) = self.defaults {
            sequence.read_defaults(message)?;
        }
        if let Some(message) = self.snapshot {
            sequence.read_snapshot(message, clocks)?;
        }
        if let Some(message) = self.interned {
            sequence.read_interned(message, &mut events.builder.names)?;
        }
        if let Some(message) = self.thread {
            let thread = Thread::read(message)?;
            sequence.thread = Some(thread.numbers);
            if let Some(name) = thread.name {
                events.name_thread(thread.numbers, name);
            }
        }
        if let Some(message) = self.track {
            events.read_track(message)?;
        }
        // A time of an incremental clock counts, whatever the packet has.
        let at_ns = self
            .timestamp
            .map(|timestamp| sequence.time_ns(timestamp, self.clock, clocks));
        if let Some(message) = self.event {
            events.read_event(message, at_ns, sequence)?;
        }
        Ok(())
    }
}
