//! The packets that are written, and traces as other programs write them.

use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::{GzEncoder, ZlibEncoder};

use super::schema::field::{
    argument, clock, counter, defaults, event, interned, old_event, packet, process, thread, trace,
    track,
};
use super::schema::{flag, kind};
use super::wire::{Encode, Fields, Wire};
use crate::{CounterTrack, Event, EventKind, Format, Number, Timeline, Track, Value, Writer, read};

/// The messages that a dump shows as fields.
#[derive(Clone, Copy)]
enum Message {
    Packet,
    Snapshot,
    Event,
    Interned,
    Defaults,
    Track,
    Leaf,
}

/// Returns the fields of a message by number, in the style of protobuf's text format.
fn dump(message: &[u8], kind: Message) -> String {
    let mut out = String::new();
    let mut fields = Fields::new(message);
    while let Some((number, value)) = fields.next().expect("a message") {
        let inner = match (kind, number) {
            (Message::Packet, packet::CLOCK_SNAPSHOT) => Some(Message::Snapshot),
            (Message::Packet, packet::TRACK_EVENT) => Some(Message::Event),
            (Message::Packet, packet::INTERNED_DATA) => Some(Message::Interned),
            (Message::Packet, packet::DEFAULTS) => Some(Message::Defaults),
            (Message::Packet, packet::TRACK_DESCRIPTOR) => Some(Message::Track),
            (Message::Snapshot, clock::CLOCKS)
            | (Message::Event, event::ARGUMENT)
            | (Message::Interned, _)
            | (Message::Track, track::PROCESS | track::THREAD | track::COUNTER) => {
                Some(Message::Leaf)
            }
            _ => None,
        };
        let space = if out.is_empty() { "" } else { " " };
        let value = match (value, inner) {
            (Wire::Varint(value), _) => (value as i64).to_string(),
            (Wire::Fixed64(value), _) => format!("{value:#x}"),
            (Wire::Fixed32(value), _) => format!("{value:#x}"),
            (Wire::Bytes(bytes), Some(inner)) => format!("{{{}}}", dump(bytes, inner)),
            (Wire::Bytes(bytes), None) => format!("{:?}", String::from_utf8_lossy(bytes)),
        };
        write!(out, "{space}{number}:{value}").expect("a text");
    }
    out
}

/// Returns the packets of a file, which are all in one batch.
fn packets(file: &[u8]) -> Vec<String> {
    let mut fields = Fields::new(file);
    let Ok(Some((trace::PACKET, Wire::Bytes(packet)))) = fields.next() else {
        panic!("no packet");
    };
    assert_eq!(fields.next(), Ok(None));
    let Ok(Some((packet::COMPRESSED_PACKETS, Wire::Bytes(batch)))) = Fields::new(packet).next()
    else {
        panic!("no batch");
    };
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut ZlibDecoder::new(batch), &mut bytes).expect("zlib");
    let mut fields = Fields::new(&bytes);
    let mut packets = Vec::new();
    while let Some((number, Wire::Bytes(packet))) = fields.next().expect("a packet") {
        assert_eq!(number, trace::PACKET);
        packets.push(dump(packet, Message::Packet));
    }
    packets
}

#[test]
fn a_small_file_has_these_packets() {
    let mut writer = Writer::new(Format::Perfetto, Vec::new())
        .expect("memory")
        .with_part(2);
    let mut write = || {
        writer.process(5, "node 5")?;
        writer.track(&Track {
            id: 70,
            process: 5,
            thread: 0,
            name: "worker",
            rank: -3,
        })?;
        writer.counter_track(&CounterTrack {
            id: 71,
            process: 5,
            name: "queue",
            unit: "tasks",
        })?;
        let event = Event {
            category: "run",
            arguments: &[
                ("text", Value::Text("x")),
                ("unsigned", Value::Unsigned(7)),
                ("signed", Value::Signed(-7)),
                ("float", Value::Float(1.0)),
                ("flag", Value::Flag(true)),
            ],
            flows: &[17],
            ..Event::named("task")
        };
        writer.begin(70, 1_000, &event)?;
        writer.count(71, 1_500, -2)?;
        let event = Event {
            flows_ended: &[17],
            ..Event::named("task")
        };
        writer.instant(70, 1_600, &event)?;
        writer.end(70, 2_000)
    };
    write().expect("memory");
    let file = writer.finish().expect("memory");
    let process = 2_i64 << 32 | 1;
    let (worker, queue) = (process + 1, process + 2);
    let reset = "10:3 6:{1:{1:64 2:0 3:1} 1:{1:6 2:0}}";
    assert_eq!(
        packets(&file),
        [
            "10:3 13:1 59:{58:64}".to_owned(),
            "10:3 60:{1:0 19:1 20:1}".to_owned(),
            format!("10:3 60:{{1:{process} 3:{{1:5 6:\"node 5\"}} 11:3 12:5}}"),
            format!("10:3 60:{{1:{worker} 5:{process} 4:{{1:5 2:0 5:\"worker\"}} 12:-3}}"),
            format!("10:3 60:{{1:{queue} 2:\"queue\" 5:{process} 8:{{6:\"tasks\"}} 12:3}}"),
            "10:3 12:{2:{1:1 2:\"task\"}}".to_owned(),
            "10:3 12:{1:{1:1 2:\"run\"}}".to_owned(),
            "10:3 12:{3:{1:1 2:\"text\"}}".to_owned(),
            "10:3 12:{3:{1:2 2:\"unsigned\"}}".to_owned(),
            "10:3 12:{3:{1:3 2:\"signed\"}}".to_owned(),
            "10:3 12:{3:{1:4 2:\"float\"}}".to_owned(),
            "10:3 12:{3:{1:5 2:\"flag\"}}".to_owned(),
            reset.to_owned(),
            format!(
                "8:1000 10:3 13:2 11:{{11:{worker} 9:1 10:1 3:1 4:{{1:1 6:\"x\"}} \
                 4:{{1:2 3:7}} 4:{{1:3 4:-7}} 4:{{1:4 5:0x3ff0000000000000}} 4:{{1:5 2:1}} \
                 47:0x11}}"
            ),
            format!("8:600 10:3 13:2 11:{{11:{worker} 9:3 10:1 48:0x11}}"),
            format!("8:400 10:3 13:2 11:{{11:{worker} 9:2}}"),
            reset.to_owned(),
            format!("8:1500 10:3 13:2 11:{{11:{queue} 9:4 30:-2}}"),
        ]
    );
}

#[test]
fn a_time_that_goes_back_is_written_as_it_is() {
    let mut writer = Writer::new(Format::Perfetto, Vec::new()).expect("memory");
    writer.process(0, "").expect("memory");
    let track = Track {
        id: 0,
        process: 0,
        thread: 0,
        name: "",
        rank: 0,
    };
    writer.track(&track).expect("memory");
    for at_ns in [500, 300, u64::MAX, 7] {
        writer
            .instant(0, at_ns, &Event::named("now"))
            .expect("memory");
    }
    let timeline = read(&writer.finish().expect("memory")[..]).expect("a trace");
    let times: Vec<u64> = timeline
        .events()
        .iter()
        .map(|event| event.from_ns())
        .collect();
    assert_eq!(times, [7, 300, 500, u64::MAX]);
}

/// A trace that is encoded by hand.
#[derive(Default)]
struct Trace(Vec<u8>);

impl Trace {
    fn packet(mut self, write: impl FnOnce(&mut Vec<u8>)) -> Self {
        self.0.put_message(trace::PACKET, write);
        self
    }

    /// Adds an event with an explicit name.
    fn event(self, at_ns: u64, kind: u64, write: impl FnOnce(&mut Vec<u8>)) -> Self {
        self.packet(|packet| {
            packet.put_message(packet::TRACK_EVENT, |message| {
                message.put_number(event::TYPE, kind);
                write(message);
            });
            // Fields of a packet may have any order.
            packet.put_number(packet::TIMESTAMP, at_ns);
        })
    }

    fn read(&self) -> Timeline {
        read(&self.0[..]).expect("a trace")
    }
}

/// Returns the name, start and duration of each event.
fn shown(timeline: &Timeline) -> Vec<(&str, u64, u64)> {
    let events = timeline.events().iter();
    events
        .map(|event| {
            (
                timeline.text(event.name()),
                event.from_ns(),
                event.duration_ns(),
            )
        })
        .collect()
}

#[test]
fn names_need_not_be_interned_nor_tracks_described() {
    let timeline = Trace::default()
        .event(10, kind::BEGIN, |message| {
            message.put_bytes(event::NAME, b"one");
            message.put_bytes(event::CATEGORY, b"first");
            message.put_bytes(event::CATEGORY, b"second");
            message.put_number(event::TRACK, 99);
            message.put_number(event::FLOW_VARINT, 4);
            message.put_message(event::ARGUMENT, |message| {
                message.put_bytes(argument::TEXT, b"value");
                message.put_bytes(argument::NAME, b"name");
            });
            // A nested value.
            message.put_message(event::ARGUMENT, |message| message.put_bytes(11, b""));
        })
        .packet(|packet| packet.put_bytes(1_000, b"of another kind"))
        .event(15, kind::END, |message| {
            message.put_number(event::TRACK, 99)
        })
        .read();
    assert_eq!(shown(&timeline), [("one", 10, 5)]);
    let event = &timeline.events()[0];
    assert_eq!(timeline.text(event.category()), "first");
    assert_eq!(timeline.flows(0)[0].flow, 4);
    let arguments: Vec<_> = timeline.arguments(0).collect();
    assert_eq!(arguments, [("name", Value::Text("value"))]);
    assert_eq!(timeline.problems().ignored, 1);
    assert_eq!(timeline.tracks()[event.track()].process, None);
}

#[test]
fn events_belong_to_the_default_track_of_their_sequence() {
    let sequence = |packet: &mut Vec<u8>| packet.put_number(packet::SEQUENCE, 3);
    let timeline = Trace::default()
        .packet(|packet| {
            sequence(packet);
            packet.put_message(packet::DEFAULTS, |message| {
                message.put_message(defaults::TRACK_EVENT, |message| {
                    message.put_number(event::TRACK, 8);
                });
            });
            packet.put_message(packet::INTERNED_DATA, |message| {
                message.put_message(interned::NAMES, |message| {
                    message.put_number(interned::IID, 1);
                    message.put_bytes(interned::TEXT, b"known");
                });
            });
        })
        .packet(|packet| {
            sequence(packet);
            packet.put_number(packet::TIMESTAMP, 5);
            packet.put_message(packet::TRACK_EVENT, |message| {
                message.put_number(event::TYPE, kind::INSTANT);
                message.put_number(event::NAME_IID, 1);
            });
        })
        .packet(|packet| {
            sequence(packet);
            packet.put_number(packet::SEQUENCE_FLAGS, flag::STATE_CLEARED);
            packet.put_number(packet::TIMESTAMP, 6);
            packet.put_message(packet::TRACK_EVENT, |message| {
                message.put_number(event::TYPE, kind::INSTANT);
                message.put_number(event::NAME_IID, 1);
                message.put_number(event::TRACK, 8);
            });
        })
        // The descriptor of the track, and of the track above it, come last.
        .packet(|packet| {
            packet.put_message(packet::TRACK_DESCRIPTOR, |message| {
                message.put_number(track::UUID, 8);
                message.put_bytes(track::NAME, b"lane");
                message.put_number(track::PARENT, 7);
            });
        })
        .packet(|packet| {
            packet.put_message(packet::TRACK_DESCRIPTOR, |message| {
                message.put_number(track::UUID, 7);
                message.put_message(track::PROCESS, |message| {
                    message.put_number(process::PID, 4_000);
                    message.put_bytes(process::NAME, b"program");
                });
            });
        })
        .read();
    assert_eq!(shown(&timeline), [("known", 5, 0), ("", 6, 0)]);
    assert_eq!(timeline.problems().unknown_names, 1);
    let [track] = timeline.tracks() else {
        panic!("{:?}", timeline.tracks());
    };
    assert_eq!(timeline.text(track.name), "lane");
    let process = timeline.processes()[track.process.expect("a process")];
    assert_eq!(
        (process.number, timeline.text(process.name)),
        (4_000, "program")
    );
}

#[test]
fn old_events_belong_to_threads() {
    let old = |phase: u8, thread: u64| {
        move |message: &mut Vec<u8>| {
            message.put_bytes(event::NAME, b"old");
            message.put_message(event::OLD, |message| {
                message.put_number(old_event::PHASE, phase.into());
                message.put_number(old_event::DURATION_US, 2);
                message.put_number(old_event::PID, 1);
                message.put_number(old_event::TID, thread);
            });
        }
    };
    let timeline = Trace::default()
        .event(1_000, 0, old(b'X', 5))
        .event(1_500, 0, old(b'B', 6))
        .event(1_700, 0, old(b'E', 6))
        .event(1_800, 0, old(b'I', 5))
        .event(1_900, 0, old(b'?', 5))
        .packet(|packet| {
            packet.put_message(packet::TRACK_DESCRIPTOR, |message| {
                message.put_number(track::UUID, 1);
                message.put_message(track::THREAD, |message| {
                    message.put_number(thread::PID, 1);
                    message.put_number(thread::TID, 5);
                    message.put_bytes(thread::NAME, b"main");
                });
            });
        })
        .read();
    assert_eq!(
        shown(&timeline),
        [
            ("old", 1_000, 2_000),
            ("old", 1_800, 0),
            ("old", 1_500, 200)
        ]
    );
    assert_eq!(timeline.problems().ignored, 1);
    let [main, other] = timeline.tracks() else {
        panic!("{:?}", timeline.tracks());
    };
    assert_eq!((main.thread, timeline.text(main.name)), (Some(5), "main"));
    assert_eq!((other.thread, timeline.text(other.name)), (Some(6), ""));
    assert_eq!(timeline.events()[1].parent(), Some(0));
}

#[test]
fn counters_may_have_fractions() {
    let timeline = Trace::default()
        .packet(|packet| {
            packet.put_message(packet::TRACK_DESCRIPTOR, |message| {
                message.put_number(track::UUID, 2);
                message.put_message(track::COUNTER, |message| {
                    message.put_number(counter::UNIT, 3);
                });
            });
        })
        .event(1, kind::COUNTER, |message| {
            message.put_number(event::TRACK, 2);
            message.put_fixed64(event::COUNT_FLOAT, 0.5_f64.to_bits());
        })
        .event(2, kind::COUNTER, |message| {
            message.put_number(event::TRACK, 2)
        })
        .read();
    let [sample] = timeline.samples() else {
        panic!("{:?}", timeline.samples());
    };
    assert_eq!((sample.at_ns(), sample.value()), (1, Number::Float(0.5)));
    let unit = timeline.tracks()[sample.track()].unit.expect("a counter");
    assert_eq!(timeline.text(unit), "bytes");
    assert_eq!(timeline.problems().ignored, 1);
}

#[test]
fn a_whole_file_may_be_compressed() {
    let trace = Trace::default().event(3, kind::INSTANT, |_| ());
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(&trace.0).expect("memory");
    let bytes = gzip.finish().expect("memory");
    assert_eq!(shown(&read(&bytes[..]).expect("a trace")), [("", 3, 0)]);
    for len in 1..bytes.len() {
        let timeline = read(&bytes[..len]).expect("a trace that is cut off");
        assert!(timeline.events().len() <= 1);
    }
}

#[test]
fn a_slice_of_a_killed_program_ends_with_the_timeline() {
    let timeline = Trace::default()
        .event(3, kind::END, |_| ())
        .event(5, kind::BEGIN, |message| {
            message.put_bytes(event::NAME, b"a")
        })
        .event(7, kind::BEGIN, |message| {
            message.put_bytes(event::NAME, b"b")
        })
        .event(8, kind::END, |_| ())
        .event(20, kind::INSTANT, |message| {
            message.put_number(event::TRACK, 1)
        })
        .read();
    assert_eq!(shown(&timeline), [("a", 5, 15), ("b", 7, 1), ("", 20, 0)]);
    assert_eq!(timeline.events()[0].kind(), EventKind::Unfinished);
    assert_eq!(timeline.events()[1].kind(), EventKind::Slice);
    let problems = timeline.problems();
    assert_eq!((problems.unfinished, problems.ends_without_slice), (1, 1));
    assert_eq!(timeline.warnings().len(), 2);
}

fn error(bytes: &[u8]) -> String {
    let error = read(bytes).expect_err("no trace");
    error.to_string()
}

#[test]
fn errors_name_the_byte_and_the_packet() {
    let mut trace = Trace::default().event(1, kind::INSTANT, |_| ());
    let len = trace.0.len();
    trace
        .0
        .put_message(trace::PACKET, |packet| packet.extend([0x0b, 7]));
    assert_eq!(
        error(&trace.0),
        format!(
            "byte {len}, packet or event 2: wire type 3; expected a packet of a Perfetto trace"
        )
    );
    let short = Trace::default().packet(|packet| packet.extend([0x42, 9, 1]));
    assert!(error(&short.0).contains("ends within a field"));
    let no_zlib = Trace::default().packet(|packet| {
        packet.put_bytes(packet::COMPRESSED_PACKETS, b"no zlib");
    });
    assert!(error(&no_zlib.0).contains("cannot be expanded"));
    let zstd = Trace::default().packet(|packet| packet.put_bytes(packet::ZSTD_PACKETS, b""));
    assert!(error(&zstd.0).contains("zstd"));
    let long = [&[0x0a, 0][..], &[0xff; 12]].concat();
    assert!(error(&long).starts_with("byte 2, packet or event 1: a number of more than 10"));
    assert!(error(&[0x0a, 0, 0, 0]).starts_with("byte 2, packet or event 1: field number 0"));
    assert!(error(b"ELF").contains("0x45"));
    assert!(error(&[0x1f; 20]).contains("gzip"));
}

fn batch(bytes: &[u8]) -> Trace {
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
    zlib.write_all(bytes).expect("memory");
    let batch = zlib.finish().expect("memory");
    Trace::default().packet(|packet| packet.put_bytes(packet::COMPRESSED_PACKETS, &batch))
}

#[test]
fn a_small_batch_cannot_become_large() {
    let bomb = batch(&vec![0x0a; 16 << 20]);
    assert!(error(&bomb.0).contains("expands to more than"));
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    // Empty packets.
    gzip.write_all(&[0x0a, 0].repeat(8 << 20)).expect("memory");
    assert!(error(&gzip.finish().expect("memory")).contains("expands to more than"));
    // Levels of compression share one limit.
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    let repeated = batch(&vec![0; 400 << 10]).0.repeat(100);
    gzip.write_all(&repeated).expect("memory");
    read(&gzip.finish().expect("memory")[..]).expect_err("a bomb");
}

#[test]
fn a_batch_within_a_batch_is_an_error() {
    let inner = batch(&Trace::default().event(1, kind::INSTANT, |_| ()).0);
    assert_eq!(inner.read().events().len(), 1);
    assert!(error(&batch(&inner.0).0).contains("a batch within a batch"));
}
