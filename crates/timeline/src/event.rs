//! The vocabulary of a timeline that is written: tracks, events and their arguments.

use std::path::Path;

/// A file format for timelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// The binary format of Perfetto.
    Perfetto,
    /// The Trace Event Format of Chrome: a JSON array.
    Chrome,
}

impl Format {
    /// Returns the format for a file with this name: Chrome's for `.json`, and otherwise
    /// Perfetto's.
    #[must_use]
    pub fn of_path(path: &Path) -> Self {
        match path.extension() {
            Some(extension) if extension.eq_ignore_ascii_case("json") => Self::Chrome,
            _ => Self::Perfetto,
        }
    }
}

/// A value of an argument.
///
/// A reader returns [`Signed`](Self::Signed) only for values below 0, and
/// [`Unsigned`](Self::Unsigned) for all others, because JSON does not separate the two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A text.
    Text(&'a str),
    /// A whole number from 0.
    Unsigned(u64),
    /// A whole number with a sign.
    Signed(i64),
    /// A floating-point number. JSON has no infinities and no NaN; they become texts.
    Float(f64),
    /// A truth value.
    Flag(bool),
}

/// An event that begins or happens.
///
/// A flow is an arrow between the event that has its number in `flows` and the event that has it in
/// `flows_ended`. The number is unique in the whole file, including all of its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Event<'a> {
    /// The name. Names are stored once, so a name should not contain numbers that always differ.
    pub name: &'a str,
    /// The category, by which viewers filter. It may be empty.
    pub category: &'a str,
    /// Named values.
    pub arguments: &'a [(&'a str, Value<'a>)],
    /// The flows that begin at this event, or continue through it.
    pub flows: &'a [u64],
    /// The flows that end at this event.
    pub flows_ended: &'a [u64],
}

impl<'a> Event<'a> {
    /// Creates an event that only has a name.
    #[must_use]
    pub const fn named(name: &'a str) -> Self {
        Self {
            name,
            category: "",
            arguments: &[],
            flows: &[],
            flows_ended: &[],
        }
    }
}

/// A track of slices and instants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Track<'a> {
    /// The number by which the writer's other calls name the track. It is unique among the tracks
    /// and counters of one writer, and is not written.
    pub id: u64,
    /// The number of the process, which has been declared.
    pub process: u32,
    /// The number of the thread, unique in the process.
    pub thread: u32,
    /// The name.
    pub name: &'a str,
    /// The position among the tracks of the process, the lowest first.
    pub rank: i32,
}

/// A track of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterTrack<'a> {
    /// The number by which the writer's other calls name the track, as [`Track::id`].
    pub id: u64,
    /// The number of the process, which has been declared.
    pub process: u32,
    /// The name, unique among the counters of the process.
    pub name: &'a str,
    /// The unit of the values. It may be empty.
    pub unit: &'a str,
}
