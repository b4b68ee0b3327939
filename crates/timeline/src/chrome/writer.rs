//! Writes the Trace Event Format.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use crate::error::undeclared;
use crate::event::{CounterTrack, Event, Track, Value};

/// The name of the values of a counter without a unit.
pub(super) const NO_UNIT: &str = "value";
/// The bytes before the first event.
pub(crate) const ARRAY_BEGIN: &[u8] = b"[\n";
/// The bytes after the last event.
pub(crate) const ARRAY_END: &[u8] = b"\n]\n";
/// The bytes between two events.
pub(crate) const SEPARATOR: &[u8] = b",\n";

/// The number of bytes that are written at once.
const BUFFER_BYTES: usize = 1 << 16;
/// The category and name of flows. All ends of a flow must have the same.
const FLOW: &str = "flow";

/// A writer of the Trace Event Format.
#[derive(Debug)]
pub(crate) struct ChromeWriter<W: Write> {
    out: W,
    buffer: Vec<u8>,
    has_events: bool,
    processes: HashSet<u32>,
    tracks: HashMap<u64, Place>,
    counters: HashMap<u64, Counter>,
}

/// The process and the thread of a track.
#[derive(Clone, Copy, Debug)]
struct Place {
    process: u32,
    thread: u32,
}

/// A counter: its texts are JSON.
#[derive(Clone, Debug)]
struct Counter {
    process: u32,
    name: String,
    unit: String,
}

impl<W: Write> ChromeWriter<W> {
    /// Creates a writer.
    pub(crate) fn new(out: W) -> io::Result<Self> {
        Ok(Self {
            out,
            buffer: ARRAY_BEGIN.to_vec(),
            has_events: false,
            processes: HashSet::new(),
            tracks: HashMap::new(),
            counters: HashMap::new(),
        })
    }

    /// Declares a process.
    pub(crate) fn process(&mut self, number: u32, name: &str) -> io::Result<()> {
        self.processes.insert(number);
        let place = Place {
            process: number,
            thread: 0,
        };
        self.metadata("process_name", place, |out| {
            out.extend(b"\"name\":");
            put_text(out, name);
        })?;
        self.metadata("process_sort_index", place, |out| {
            write!(out, "\"sort_index\":{number}")
        })
    }

    /// Declares a track.
    pub(crate) fn track(&mut self, declared: &Track<'_>) -> io::Result<()> {
        self.check_process(declared.process)?;
        let place = Place {
            process: declared.process,
            thread: declared.thread,
        };
        self.tracks.insert(declared.id, place);
        self.metadata("thread_name", place, |out| {
            out.extend(b"\"name\":");
            put_text(out, declared.name);
        })?;
        self.metadata("thread_sort_index", place, |out| {
            write!(out, "\"sort_index\":{}", declared.rank)
        })
    }

    /// Declares a counter.
    pub(crate) fn counter_track(&mut self, declared: &CounterTrack<'_>) -> io::Result<()> {
        self.check_process(declared.process)?;
        let unit = match declared.unit {
            "" => NO_UNIT,
            unit => unit,
        };
        let counter = Counter {
            process: declared.process,
            name: quoted(declared.name),
            unit: quoted(unit),
        };
        self.counters.insert(declared.id, counter);
        Ok(())
    }

    /// Begins a slice.
    pub(crate) fn begin(&mut self, track: u64, at_ns: u64, what: &Event<'_>) -> io::Result<()> {
        self.put_event("B", track, at_ns, what, |_| Ok(()))
    }

    /// Ends a slice.
    pub(crate) fn end(&mut self, track: u64, at_ns: u64) -> io::Result<()> {
        let place = self.place(track)?;
        self.put_head("E", place, at_ns)?;
        self.end_object()
    }

    /// Writes a slice.
    pub(crate) fn slice(
        &mut self,
        track: u64,
        from_ns: u64,
        to_ns: u64,
        what: &Event<'_>,
    ) -> io::Result<()> {
        if to_ns <= from_ns {
            // Viewers sort events with `dur` by it: this one would move into the next slice.
            self.begin(track, from_ns, what)?;
            return self.end(track, to_ns);
        }
        self.put_event("X", track, from_ns, what, |out| {
            out.extend(b",\"dur\":");
            put_microseconds(out, to_ns - from_ns)
        })
    }

    /// Writes an instant.
    pub(crate) fn instant(&mut self, track: u64, at_ns: u64, what: &Event<'_>) -> io::Result<()> {
        self.put_event("i", track, at_ns, what, |out| {
            out.write_all(b",\"s\":\"t\"")
        })
    }

    /// Writes a value of a counter.
    pub(crate) fn count(&mut self, track: u64, at_ns: u64, value: i64) -> io::Result<()> {
        let counter = self.counters.get(&track);
        let counter = counter.ok_or_else(|| undeclared("counter", track))?.clone();
        let place = Place {
            process: counter.process,
            thread: 0,
        };
        self.put_head("C", place, at_ns)?;
        let Counter { name, unit, .. } = counter;
        write!(self.buffer, ",\"name\":{name},\"args\":{{{unit}:{value}}}")?;
        self.end_object()
    }

    /// Writes the events so far.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        self.out.flush()
    }

    /// Completes the output, and returns it.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.buffer.extend(ARRAY_END);
        self.flush()?;
        Ok(self.out)
    }

    fn check_process(&self, number: u32) -> io::Result<()> {
        match self.processes.contains(&number) {
            true => Ok(()),
            false => Err(undeclared("process", number.into())),
        }
    }

    fn place(&self, track: u64) -> io::Result<Place> {
        let place = self.tracks.get(&track).copied();
        place.ok_or_else(|| undeclared("track", track))
    }

    fn metadata<T>(
        &mut self,
        what: &str,
        Place { process, thread }: Place,
        put: impl FnOnce(&mut Vec<u8>) -> T,
    ) -> io::Result<()> {
        self.begin_object();
        write!(
            self.buffer,
            "\"ph\":\"M\",\"pid\":{process},\"tid\":{thread},\"name\":\"{what}\",\"args\":{{"
        )?;
        put(&mut self.buffer);
        self.buffer.push(b'}');
        self.end_object()
    }

    fn put_event(
        &mut self,
        phase: &str,
        track: u64,
        at_ns: u64,
        what: &Event<'_>,
        put_more: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
    ) -> io::Result<()> {
        let place = self.place(track)?;
        self.put_head(phase, place, at_ns)?;
        let out = &mut self.buffer;
        put_more(out)?;
        out.extend(b",\"name\":");
        put_text(out, what.name);
        if !what.category.is_empty() {
            out.extend(b",\"cat\":");
            put_text(out, what.category);
        }
        if !what.arguments.is_empty() {
            out.extend(b",\"args\":");
            let mut separator = b'{';
            for (name, value) in what.arguments {
                out.push(separator);
                separator = b',';
                put_text(out, name);
                out.push(b':');
                put_value(out, value)?;
            }
            out.push(b'}');
        }
        self.end_object()?;
        for (&flow, phase) in (what.flows.iter().zip(std::iter::repeat("s")))
            .chain(what.flows_ended.iter().zip(std::iter::repeat("f")))
        {
            self.put_head(phase, place, at_ns)?;
            write!(
                self.buffer,
                ",\"name\":\"{FLOW}\",\"cat\":\"{FLOW}\",\"id\":{flow}"
            )?;
            if phase == "f" {
                self.buffer.extend(b",\"bp\":\"e\"");
            }
            self.end_object()?;
        }
        Ok(())
    }

    /// Appends the beginning of an event.
    fn put_head(
        &mut self,
        phase: &str,
        Place { process, thread }: Place,
        at_ns: u64,
    ) -> io::Result<()> {
        self.begin_object();
        write!(
            self.buffer,
            "\"ph\":\"{phase}\",\"pid\":{process},\"tid\":{thread},\"ts\":"
        )?;
        put_microseconds(&mut self.buffer, at_ns)
    }

    fn begin_object(&mut self) {
        if std::mem::replace(&mut self.has_events, true) {
            self.buffer.extend(SEPARATOR);
        }
        self.buffer.push(b'{');
    }

    fn end_object(&mut self) -> io::Result<()> {
        self.buffer.push(b'}');
        if self.buffer.len() >= BUFFER_BYTES {
            self.out.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }
}

/// Appends a time. The result is exact: no floating-point number is involved.
fn put_microseconds(out: &mut Vec<u8>, ns: u64) -> io::Result<()> {
    write!(out, "{}.{:03}", ns / 1_000, ns % 1_000)
}

fn put_value(out: &mut Vec<u8>, value: &Value<'_>) -> io::Result<()> {
    match *value {
        Value::Text(text) => put_text(out, text),
        Value::Unsigned(number) => write!(out, "{number}")?,
        Value::Signed(number) => write!(out, "{number}")?,
        Value::Float(number) if number.is_finite() => write!(out, "{number:?}")?,
        Value::Float(number) => write!(out, "\"{number}\"")?,
        Value::Flag(is_set) => write!(out, "{is_set}")?,
    }
    Ok(())
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    out.extend(quoted(text).bytes());
}

/// Returns a text as JSON.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            control if control < ' ' => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(control)));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_as_json_wants_it() {
        assert_eq!(quoted("a \"b\" \\ \n\u{1}ü"), r#""a \"b\" \\ \n\u0001ü""#);
    }

    #[test]
    fn times_have_three_decimals_and_all_digits() {
        let text = |ns| {
            let mut out = Vec::new();
            put_microseconds(&mut out, ns).expect("memory");
            String::from_utf8(out).expect("text")
        };
        assert_eq!(text(0), "0.000");
        assert_eq!(text(1_002_003), "1002.003");
        assert_eq!(text(u64::MAX), "18446744073709551.615");
    }
}
