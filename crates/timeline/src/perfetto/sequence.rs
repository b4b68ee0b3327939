//! The state of a sequence of packets: interned texts, defaults and clocks.

use std::collections::HashMap;

use super::clocks::{self, Clocks};
use super::schema::field::{defaults, event, interned, thread};
use super::wire::{Defect, Fields, Wire};
use crate::timeline::{NameId, Names};

/// The state of a sequence.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    pub(super) names: HashMap<u64, NameId>,
    pub(super) categories: HashMap<u64, NameId>,
    pub(super) argument_names: HashMap<u64, NameId>,
    pub(super) texts: HashMap<u64, NameId>,
    /// The track of events that name none.
    pub(super) default_track: Option<u64>,
    /// The process and thread of events without any track.
    pub(super) thread: Option<(u32, u32)>,
    default_clock: Option<u32>,
    clocks: Clocks,
}

impl Sequence {
    /// Forgets the state, as the writer of the sequence has.
    pub(super) fn clear(&mut self) {
        *self = Self {
            thread: self.thread,
            ..Self::default()
        };
    }

    /// Reads `TracePacketDefaults`.
    pub(super) fn read_defaults(&mut self, message: &[u8]) -> Result<(), Defect> {
        (self.default_track, self.default_clock) = (None, None);
        let mut fields = Fields::new(message);
        while let Some(field) = fields.next()? {
            match field {
                (defaults::CLOCK, Wire::Varint(id)) => self.default_clock = Some(id as u32),
                (defaults::TRACK_EVENT, Wire::Bytes(message)) => {
                    let mut fields = Fields::new(message);
                    while let Some(field) = fields.next()? {
                        if let (event::TRACK, Wire::Varint(uuid)) = field {
                            self.default_track = Some(uuid);
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Reads `InternedData`.
    pub(super) fn read_interned(
        &mut self,
        message: &[u8],
        names: &mut Names,
    ) -> Result<(), Defect> {
        let mut fields = Fields::new(message);
        while let Some((number, value)) = fields.next()? {
            let table = match number {
                interned::CATEGORIES => &mut self.categories,
                interned::NAMES => &mut self.names,
                interned::ARGUMENT_NAMES => &mut self.argument_names,
                interned::TEXTS => &mut self.texts,
                _ => continue,
            };
            let Wire::Bytes(message) = value else {
                continue;
            };
            let (mut id, mut text) = (0, &[][..]);
            let mut fields = Fields::new(message);
            while let Some(field) = fields.next()? {
                match field {
                    (interned::IID, Wire::Varint(value)) => id = value,
                    (interned::TEXT, Wire::Bytes(value)) => text = value,
                    _ => {}
                }
            }
            table.insert(id, names.id_of_bytes(text));
        }
        Ok(())
    }

    /// Reads a clock snapshot.
    pub(super) fn read_snapshot(
        &mut self,
        message: &[u8],
        shared: &mut Clocks,
    ) -> Result<(), Defect> {
        clocks::read_snapshot(message, shared, &mut self.clocks)
    }

    /// Returns the time of a packet. `clock` is its own clock, if it names one.
    pub(super) fn time_ns(
        &mut self,
        timestamp: u64,
        clock: Option<u32>,
        shared: &mut Clocks,
    ) -> u64 {
        let Some(clock) = clock.or(self.default_clock) else {
            return timestamp;
        };
        match self
            .clocks
            .get_mut(&clock)
            .or_else(|| shared.get_mut(&clock))
        {
            Some(clock) => clock.trace_ns(timestamp),
            None => timestamp,
        }
    }
}

/// A thread as a `ThreadDescriptor` has it.
#[derive(Debug, Default)]
pub(super) struct Thread<'a> {
    /// The numbers of the process and of the thread.
    pub(super) numbers: (u32, u32),
    pub(super) name: Option<&'a [u8]>,
}

impl<'a> Thread<'a> {
    /// Reads a `ThreadDescriptor`.
    pub(super) fn read(message: &'a [u8]) -> Result<Self, Defect> {
        let mut found = Self::default();
        let mut fields = Fields::new(message);
        while let Some(field) = fields.next()? {
            match field {
                (thread::PID, Wire::Varint(number)) => found.numbers.0 = number as u32,
                (thread::TID, Wire::Varint(number)) => found.numbers.1 = number as u32,
                (thread::NAME, Wire::Bytes(text)) => found.name = Some(text),
                _ => {}
            }
        }
        Ok(found)
    }
}
