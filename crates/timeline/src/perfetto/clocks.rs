//! Times of packets that use other clocks than the trace itself.
//!
//! Most clocks are the system's (1 to 63). Those from 64 to 127 belong to a sequence, and may be
//! incremental: each packet has the difference to the one before. A clock snapshot has the readings
//! of several clocks at the same time, which connects them.

use std::collections::HashMap;

use super::schema::field::clock;
use super::wire::{Defect, Fields, Wire};

const TRACE: u32 = super::schema::TRACE_CLOCK as u32;
const OF_SEQUENCE: u32 = super::schema::CLOCK as u32;

/// The relation of a clock to the trace's clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// The last reading, in nanoseconds, if the clock is incremental.
    last_ns: Option<u64>,
    multiplier: u64,
    /// The trace's time minus this clock's, in nanoseconds.
    offset_ns: i128,
}

/// Clocks by number.
pub(super) type Clocks = HashMap<u32, Clock>;

/// A reading in a snapshot.
#[derive(Clone, Copy, Debug, Default)]
struct Reading {
    id: u32,
    timestamp: u64,
    is_incremental: bool,
    multiplier: u64,
}

impl Clock {
    /// Returns the trace's time for a time of this clock.
    pub(super) fn trace_ns(&mut self, timestamp: u64) -> u64 {
        let time = timestamp.saturating_mul(self.multiplier);
        let time = match &mut self.last_ns {
            Some(last) => {
                *last = last.saturating_add(time);
                *last
            }
            None => time,
        };
        let time = (i128::from(time) + self.offset_ns).max(0);
        u64::try_from(time).unwrap_or(u64::MAX)
    }
}

/// Reads a clock snapshot. `shared` has the system's clocks, and `own` those of the sequence.
pub(super) fn read_snapshot(
    message: &[u8],
    shared: &mut Clocks,
    own: &mut Clocks,
) -> Result<(), Defect> {
    let mut readings = Vec::new();
    let mut fields = Fields::new(message);
    while let Some(field) = fields.next()? {
        if let (clock::CLOCKS, Wire::Bytes(message)) = field {
            readings.push(read_reading(message)?);
        }
    }
    // The reading of the trace's clock, or of another one of which the offset is known.
    let direct = readings.iter().find(|reading| reading.id == TRACE);
    let indirect = || {
        let known = |reading: &Reading| Some(shared.get(&reading.id)?.offset_ns + reading.ns());
        readings.iter().find_map(known)
    };
    let system = || readings.iter().find(|reading| reading.id < OF_SEQUENCE);
    let trace_ns = direct
        .map(Reading::ns)
        .or_else(indirect)
        .or_else(|| system().map(Reading::ns));
    for reading in readings {
        let clock = Clock {
            last_ns: reading
                .is_incremental
                .then_some(reading.timestamp.saturating_mul(reading.multiplier)),
            multiplier: reading.multiplier,
            offset_ns: trace_ns.map_or(0, |trace_ns| trace_ns - reading.ns()),
        };
        match reading.id < OF_SEQUENCE {
            true => shared.insert(reading.id, clock),
            false => own.insert(reading.id, clock),
        };
    }
    Ok(())
}

impl Reading {
    fn ns(&self) -> i128 {
        i128::from(self.timestamp) * i128::from(self.multiplier)
    }
}

fn read_reading(message: &[u8]) -> Result<Reading, Defect> {
    let mut reading = Reading {
        multiplier: 1,
        ..Reading::default()
    };
    let mut fields = Fields::new(message);
    while let Some((number, value)) = fields.next()? {
        let Wire::Varint(value) = value else { continue };
        match number {
            clock::ID => reading.id = value as u32,
            clock::TIMESTAMP => reading.timestamp = value,
            clock::IS_INCREMENTAL => reading.is_incremental = value != 0,
            clock::MULTIPLIER => reading.multiplier = value.max(1),
            _ => {}
        }
    }
    Ok(reading)
}

#[cfg(test)]
mod tests {
    use super::super::wire::Encode;
    use super::*;

    fn snapshot(readings: &[(u32, u64, bool, u64)]) -> Vec<u8> {
        let mut message = Vec::new();
        for &(id, timestamp, is_incremental, multiplier) in readings {
            message.put_message(clock::CLOCKS, |message| {
                message.put_number(clock::ID, id.into());
                message.put_number(clock::TIMESTAMP, timestamp);
                message.put_number(clock::IS_INCREMENTAL, is_incremental.into());
                message.put_number(clock::MULTIPLIER, multiplier);
            });
        }
        message
    }

    #[test]
    fn an_incremental_clock_adds_up() {
        let (mut shared, mut own) = (Clocks::new(), Clocks::new());
        let message = snapshot(&[(64, 5, true, 1_000), (TRACE, 1_000_000, false, 1)]);
        read_snapshot(&message, &mut shared, &mut own).expect("a snapshot");
        let clock = own.get_mut(&64).expect("a clock");
        assert_eq!(clock.trace_ns(2), 1_002_000);
        assert_eq!(clock.trace_ns(3), 1_005_000);
    }

    #[test]
    fn clocks_are_connected_by_a_clock_that_both_snapshots_have() {
        let (mut shared, mut own) = (Clocks::new(), Clocks::new());
        let message = snapshot(&[(TRACE, 500, false, 1), (3, 200, false, 1)]);
        read_snapshot(&message, &mut shared, &mut own).expect("a snapshot");
        let message = snapshot(&[(65, 7, false, 1), (3, 300, false, 1)]);
        read_snapshot(&message, &mut shared, &mut own).expect("a snapshot");
        assert_eq!(own.get_mut(&65).expect("a clock").trace_ns(8), 601);
    }
}
