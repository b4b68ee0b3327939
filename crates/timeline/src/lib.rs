//! Timelines: events of a program over time, as files for Perfetto and Chrome.
//!
//! A [`Writer`] writes events while they happen. [`read`] reads a file back as a [`Timeline`], also
//! files of other programs.
//!
//! # Data model
//! | term     | meaning                                                                        |
//! |----------|--------------------------------------------------------------------------------|
//! | process  | a number (a node of a job, or a process id) and a name; it has tracks          |
//! | track    | a line of a viewer, such as a thread; it has slices and instants               |
//! | slice    | an event with a start and an end; the slices of a track nest                   |
//! | instant  | an event at one point in time                                                  |
//! | counter  | a track of values over time instead of events                                  |
//! | argument | a named value of an event                                                      |
//! | flow     | an arrow from one event to another, on any tracks, such as a message           |
//!
//! Times are whole nanoseconds (`u64`) after any fixed point in time.
//!
//! # Formats
//! - [`Format::Perfetto`]: binary and compressed, about 5 to 10 bytes for a slice. It is the format
//!   of <https://ui.perfetto.dev>.
//! - [`Format::Chrome`]: the Trace Event Format, a JSON array. It is meant for small traces, and
//!   for programs that read JSON.
//!
//! # Parts
//! Several processes can write one file. Each makes a part, with its own [`Writer`] and
//! [`Writer::with_part`], and [`concatenate`] joins the parts.
//!
//! # Examples
//! ```
//! use raddle_timeline::{Event, Format, Track, Writer, read};
//!
//! let mut writer = Writer::new(Format::Perfetto, Vec::new())?;
//! writer.process(0, "node 0")?;
//! let worker = Track { id: 7, process: 0, thread: 1, name: "worker 0", rank: 0 };
//! writer.track(&worker)?;
//! writer.slice(7, 1_000, 3_000, &Event::named("task"))?;
//! let bytes = writer.finish()?;
//!
//! let timeline = read(&bytes[..])?;
//! let event = &timeline.events()[0];
//! assert_eq!(timeline.text(event.name()), "task");
//! assert_eq!(event.duration_ns(), 2_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

// `writer` selects the writer of a format, and `reader` detects the format of a file. `perfetto`
// and `chrome` have a writer and a reader each. The readers pass what they find to
// `timeline/builder.rs`, which sorts the events and finds the parent of each slice.

mod chrome;
mod error;
mod event;
mod expansion;
mod input;
mod parts;
mod perfetto;
mod reader;
mod timeline;
mod writer;

pub use self::error::{Place, ReadError};
pub use self::event::{CounterTrack, Event, Format, Track, Value};
pub use self::parts::concatenate;
pub use self::reader::read;
pub use self::timeline::{
    Arrow, EventKind, EventRecord, FlowMark, NameId, Number, Problems, ProcessRecord, Sample,
    Timeline, TrackRecord,
};
pub use self::writer::Writer;
