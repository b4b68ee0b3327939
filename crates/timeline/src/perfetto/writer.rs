//! Writes Perfetto's format.

use std::collections::HashMap;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::schema::field::{
    argument, clock, counter, defaults, event, interned, packet, process, thread, trace, track,
};
use super::schema::{BY_RANK, CHILDREN_BY_RANK, CLOCK, TRACE_CLOCK, flag, kind};
use super::wire::Encode;
use crate::error::undeclared;
use crate::event::{CounterTrack, Event, Track, Value};

/// The number of bytes of packets that are compressed together.
const BATCH_BYTES: usize = 1 << 19;
/// The level of compression. At level 1, 10 million slices take about 4 s to write. Level 3 makes
/// files smaller by a fifth, and takes twice the time.
const LEVEL: u32 = 1;
/// The largest capacity of a track's buffer that is kept after a batch.
const KEPT_BYTES: usize = 1 << 10;

/// A writer of Perfetto's format.
#[derive(Debug)]
pub(crate) struct PerfettoWriter<W: Write> {
    out: W,
    part: u32,
    /// The packets of the batch that come before all events: descriptors and interned data.
    head: Vec<u8>,
    /// The number of bytes of the batch.
    batch_bytes: usize,
    /// The tracks with events in the batch, in the order of their first events.
    active: Vec<usize>,
    tracks: Vec<TrackState>,
    /// The index of each track that was declared, by the caller's number.
    indexes: HashMap<u64, usize>,
    /// The last track that an event had: few are used at the same time.
    last_used: Option<(u64, usize)>,
    /// The number in the file of each process that was declared.
    processes: HashMap<u32, u64>,
    /// The number of processes and tracks.
    uuid_count: u32,
    names: Interned,
    categories: Interned,
    argument_names: Interned,
    /// A buffer for the arguments of an event.
    arguments: Vec<u8>,
    deflate: ZlibEncoder<Vec<u8>>,
    /// An empty buffer for the next compressed batch.
    spare: Vec<u8>,
}

/// A track.
#[derive(Debug)]
struct TrackState {
    /// The number in the file.
    uuid: u64,
    /// The packets with the events of the batch.
    packets: Vec<u8>,
    /// The time of the last event in the batch.
    last_ns: u64,
}

/// The numbers of texts that have been written.
#[derive(Debug)]
struct Interned {
    /// The field of new texts in the interned data.
    field: u32,
    ids: HashMap<Box<str>, u64>,
}

impl<W: Write> PerfettoWriter<W> {
    /// Creates a writer of part 0.
    pub(crate) fn new(out: W) -> Self {
        Self {
            out,
            part: 0,
            head: Vec::new(),
            batch_bytes: 0,
            active: Vec::new(),
            tracks: Vec::new(),
            indexes: HashMap::new(),
            last_used: None,
            processes: HashMap::new(),
            uuid_count: 0,
            names: Interned::new(interned::NAMES),
            categories: Interned::new(interned::CATEGORIES),
            argument_names: Interned::new(interned::ARGUMENT_NAMES),
            arguments: Vec::new(),
            deflate: ZlibEncoder::new(Vec::new(), Compression::new(LEVEL)),
            spare: Vec::new(),
        }
    }

    /// Sets the number of the part.
    ///
    /// # Panics
    /// If something has been written, or the number is the largest one.
    pub(crate) fn set_part(&mut self, part: u32) {
        assert!(
            self.uuid_count == 0,
            "part {part} is set after the first call"
        );
        assert!(part < u32::MAX, "part {part} is out of range");
        self.part = part;
    }

    /// Declares a process.
    pub(crate) fn process(&mut self, number: u32, name: &str) -> io::Result<()> {
        if self.uuid_count == 0 {
            self.put_root()?;
        }
        let uuid = match self.processes.get(&number) {
            Some(&uuid) => uuid,
            None => self.next_uuid(),
        };
        self.processes.insert(number, uuid);
        self.put_track(|descriptor| {
            descriptor.put_number(track::UUID, uuid);
            descriptor.put_message(track::PROCESS, |message| {
                message.put_number(process::PID, number.into());
                message.put_bytes(process::NAME, name.as_bytes());
            });
            descriptor.put_number(track::CHILD_ORDERING, CHILDREN_BY_RANK);
            descriptor.put_number(track::RANK, u64::from(number) & 0x7fff_ffff);
        })
    }

    /// Declares a track.
    pub(crate) fn track(&mut self, declared: &Track<'_>) -> io::Result<()> {
        let parent = self.process_uuid(declared.process)?;
        let uuid = self.next_uuid();
        self.add_track(declared.id, uuid);
        self.put_track(|descriptor| {
            descriptor.put_number(track::UUID, uuid);
            descriptor.put_number(track::PARENT, parent);
            descriptor.put_message(track::THREAD, |message| {
                message.put_number(thread::PID, declared.process.into());
                message.put_number(thread::TID, declared.thread.into());
                message.put_bytes(thread::NAME, declared.name.as_bytes());
            });
            descriptor.put_number(track::RANK, i64::from(declared.rank) as u64);
        })
    }

    /// Declares a counter.
    pub(crate) fn counter_track(&mut self, declared: &CounterTrack<'_>) -> io::Result<()> {
        let parent = self.process_uuid(declared.process)?;
        let uuid = self.next_uuid();
        self.add_track(declared.id, uuid);
        let rank = self.uuid_count;
        self.put_track(|descriptor| {
            descriptor.put_number(track::UUID, uuid);
            descriptor.put_bytes(track::NAME, declared.name.as_bytes());
            descriptor.put_number(track::PARENT, parent);
            descriptor.put_message(track::COUNTER, |message| {
                if !declared.unit.is_empty() {
                    message.put_bytes(counter::UNIT_NAME, declared.unit.as_bytes());
                }
            });
            // Counters stay in the order of their declarations.
            descriptor.put_number(track::RANK, u64::from(rank) & 0x7fff_ffff);
        })
    }

    /// Begins a slice.
    pub(crate) fn begin(&mut self, track: u64, at_ns: u64, what: &Event<'_>) -> io::Result<()> {
        self.put_named(kind::BEGIN, track, at_ns, what)
    }

    /// Ends a slice.
    pub(crate) fn end(&mut self, track: u64, at_ns: u64) -> io::Result<()> {
        let index = self.index(track)?;
        self.put_event(index, at_ns, |message| {
            message.put_number(event::TYPE, kind::END);
        })
    }

    /// Writes a slice.
    pub(crate) fn slice(
        &mut self,
        track: u64,
        from_ns: u64,
        to_ns: u64,
        what: &Event<'_>,
    ) -> io::Result<()> {
        self.begin(track, from_ns, what)?;
        self.end(track, to_ns)
    }

    /// Writes an instant.
    pub(crate) fn instant(&mut self, track: u64, at_ns: u64, what: &Event<'_>) -> io::Result<()> {
        self.put_named(kind::INSTANT, track, at_ns, what)
    }

    /// Writes a value of a counter.
    pub(crate) fn count(&mut self, track: u64, at_ns: u64, value: i64) -> io::Result<()> {
        let index = self.index(track)?;
        self.put_event(index, at_ns, |message| {
            message.put_number(event::TYPE, kind::COUNTER);
            message.put_number(event::COUNT, value as u64);
        })
    }

    /// Writes the current batch, and flushes the output.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.write_batch()?;
        self.out.flush()
    }

    /// Completes the output, and returns it.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.flush()?;
        Ok(self.out)
    }

    /// Appends an event with a name.
    fn put_named(&mut self, kind: u64, track: u64, at_ns: u64, what: &Event<'_>) -> io::Result<()> {
        let index = self.index(track)?;
        let name = self.id(|this| &mut this.names, what.name);
        let category = self.id(|this| &mut this.categories, what.category);
        let mut arguments = std::mem::take(&mut self.arguments);
        arguments.clear();
        for (name, value) in what.arguments {
            let name = self.id(|this| &mut this.argument_names, name);
            arguments.put_message(event::ARGUMENT, |message| {
                put_argument(message, name, value)
            });
        }
        let outcome = self.put_event(index, at_ns, |message| {
            message.put_number(event::TYPE, kind);
            if name != 0 {
                message.put_number(event::NAME_IID, name);
            }
            if category != 0 {
                message.put_number(event::CATEGORY_IID, category);
            }
            message.extend_from_slice(&arguments);
            for &flow in what.flows {
                message.put_fixed64(event::FLOW, flow);
            }
            for &flow in what.flows_ended {
                message.put_fixed64(event::FLOW_ENDED, flow);
            }
        });
        self.arguments = arguments;
        outcome
    }

    /// Appends a packet with an event to those of a track. Its time is the difference to the one
    /// before, for which the first packet sets the clock to 0.
    #[inline]
    fn put_event(
        &mut self,
        index: usize,
        at_ns: u64,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> io::Result<()> {
        let sequence = self.sequence();
        let track = &mut self.tracks[index];
        let before = track.packets.len();
        if before == 0 {
            self.active.push(index);
        }
        if before == 0 || at_ns < track.last_ns {
            put_clock_reset(&mut track.packets, sequence);
            track.last_ns = 0;
        }
        track.packets.put_message(trace::PACKET, |packet| {
            packet.put_number(packet::TIMESTAMP, at_ns - track.last_ns);
            packet.put_number(packet::SEQUENCE, sequence);
            packet.put_number(packet::SEQUENCE_FLAGS, flag::NEEDS_STATE);
            packet.put_message(packet::TRACK_EVENT, |message| {
                message.put_number(event::TRACK, track.uuid);
                write(message);
            });
        });
        track.last_ns = at_ns;
        self.batch_bytes += track.packets.len() - before;
        self.end_packet()
    }

    /// Appends a packet with a track descriptor.
    fn put_track(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        self.put_head(|packet| packet.put_message(packet::TRACK_DESCRIPTOR, write));
        self.end_packet()
    }

    /// Appends the first packets: the sequence has no interned data yet, its times are those of the
    /// incremental clock, and processes and threads are ordered by their ranks.
    fn put_root(&mut self) -> io::Result<()> {
        self.put_head(|packet| {
            packet.put_number(packet::SEQUENCE_FLAGS, flag::STATE_CLEARED);
            packet.put_message(packet::DEFAULTS, |message| {
                message.put_number(defaults::CLOCK, CLOCK);
            });
        });
        self.put_track(|descriptor| {
            descriptor.put_number(track::UUID, 0);
            descriptor.put_number(track::PROCESS_ORDERING, BY_RANK);
            descriptor.put_number(track::THREAD_ORDERING, BY_RANK);
        })
    }

    /// Appends a packet that comes before the events of the batch.
    fn put_head(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let sequence = self.sequence();
        let before = self.head.len();
        self.head.put_message(trace::PACKET, |packet| {
            packet.put_number(packet::SEQUENCE, sequence);
            write(packet);
        });
        self.batch_bytes += self.head.len() - before;
    }

    /// Returns the number of a text; 0 for an empty one. A new text is appended to the interned
    /// data.
    #[inline]
    fn id(&mut self, table: impl Fn(&mut Self) -> &mut Interned, text: &str) -> u64 {
        match table(self).ids.get(text) {
            Some(&id) => id,
            None if text.is_empty() => 0,
            None => self.new_id(table, text),
        }
    }

    #[cold]
    fn new_id(&mut self, table: impl Fn(&mut Self) -> &mut Interned, text: &str) -> u64 {
        let table = table(self);
        let field = table.field;
        let id = table.ids.len() as u64 + 1;
        table.ids.insert(text.into(), id);
        self.put_head(|packet| {
            packet.put_message(packet::INTERNED_DATA, |message| {
                message.put_message(field, |message| {
                    message.put_number(interned::IID, id);
                    message.put_bytes(interned::TEXT, text.as_bytes());
                });
            });
        });
        id
    }

    fn add_track(&mut self, id: u64, uuid: u64) {
        self.indexes.insert(id, self.tracks.len());
        self.last_used = None;
        self.tracks.push(TrackState {
            uuid,
            packets: Vec::new(),
            last_ns: 0,
        });
    }

    fn sequence(&self) -> u64 {
        u64::from(self.part) + 1
    }

    fn next_uuid(&mut self) -> u64 {
        self.uuid_count += 1;
        u64::from(self.part) << 32 | u64::from(self.uuid_count)
    }

    fn process_uuid(&self, number: u32) -> io::Result<u64> {
        let uuid = self.processes.get(&number).copied();
        uuid.ok_or_else(|| undeclared("process", number.into()))
    }

    #[inline]
    fn index(&mut self, id: u64) -> io::Result<usize> {
        if let Some((last, index)) = self.last_used
            && last == id
        {
            return Ok(index);
        }
        let index = self.indexes.get(&id).copied();
        let index = index.ok_or_else(|| undeclared("track", id))?;
        self.last_used = Some((id, index));
        Ok(index)
    }

    #[inline]
    fn end_packet(&mut self) -> io::Result<()> {
        match self.batch_bytes < BATCH_BYTES {
            true => Ok(()),
            false => self.write_batch(),
        }
    }

    /// Writes the packets of the batch, track by track: similar packets next to each other are
    /// compressed best.
    fn write_batch(&mut self) -> io::Result<()> {
        if self.batch_bytes == 0 {
            return Ok(());
        }
        self.deflate.write_all(&self.head)?;
        self.head.clear();
        for index in self.active.drain(..) {
            let packets = &mut self.tracks[index].packets;
            self.deflate.write_all(packets)?;
            packets.clear();
            packets.shrink_to(KEPT_BYTES);
        }
        self.batch_bytes = 0;
        let mut compressed = self.deflate.reset(std::mem::take(&mut self.spare))?;
        let (mut begin, mut batch) = (Vec::new(), Vec::new());
        batch.put_length(packet::COMPRESSED_PACKETS, compressed.len());
        begin.put_length(trace::PACKET, batch.len() + compressed.len());
        begin.append(&mut batch);
        self.out.write_all(&begin)?;
        self.out.write_all(&compressed)?;
        compressed.clear();
        self.spare = compressed;
        Ok(())
    }
}

impl Interned {
    fn new(field: u32) -> Self {
        Self {
            field,
            ids: HashMap::new(),
        }
    }
}

/// Appends a packet that sets the incremental clock to 0, the time 0 of the trace.
fn put_clock_reset(packets: &mut Vec<u8>, sequence: u64) {
    packets.put_message(trace::PACKET, |packet| {
        packet.put_number(packet::SEQUENCE, sequence);
        packet.put_message(packet::CLOCK_SNAPSHOT, |message| {
            message.put_message(clock::CLOCKS, |message| {
                message.put_number(clock::ID, CLOCK);
                message.put_number(clock::TIMESTAMP, 0);
                message.put_number(clock::IS_INCREMENTAL, 1);
            });
            message.put_message(clock::CLOCKS, |message| {
                message.put_number(clock::ID, TRACE_CLOCK);
                message.put_number(clock::TIMESTAMP, 0);
            });
        });
    });
}

fn put_argument(message: &mut Vec<u8>, name: u64, value: &Value<'_>) {
    message.put_number(argument::NAME_IID, name);
    match *value {
        Value::Text(text) => message.put_bytes(argument::TEXT, text.as_bytes()),
        Value::Unsigned(number) => message.put_number(argument::UNSIGNED, number),
        Value::Signed(number) => message.put_number(argument::SIGNED, number as u64),
        Value::Float(number) => message.put_fixed64(argument::FLOAT, number.to_bits()),
        Value::Flag(is_set) => message.put_number(argument::FLAG, is_set.into()),
    }
}
