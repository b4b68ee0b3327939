//! The writer of timelines in every format.

use std::io::{self, Write};

use crate::chrome::ChromeWriter;
use crate::event::{CounterTrack, Event, Format, Track};
use crate::perfetto::PerfettoWriter;

/// A timeline that is written while its events happen.
///
/// Memory does not grow with the number of events, only with the number of tracks and different
/// names. Output is written in large pieces, so `W` needs no buffer.
///
/// Events of one track must be written in the order of time. Those of different tracks may
/// interleave in any way.
///
/// A writer that is dropped without [`finish`](Self::finish) loses its last events.
///
/// # Errors
/// All methods return the errors of `W`. An error of kind [`io::ErrorKind::InvalidInput`] means
/// that a track or process was not declared.
#[derive(Debug)]
pub struct Writer<W: Write> {
    format: Inner<W>,
}

#[derive(Debug)]
enum Inner<W: Write> {
    // Boxed because it has the state of a compressor.
    Perfetto(Box<PerfettoWriter<W>>),
    Chrome(ChromeWriter<W>),
}

/// Calls the method of the format's writer.
macro_rules! delegate {
    ($self:ident, $writer:ident => $call:expr) => {
        match &mut $self.format {
            Inner::Perfetto($writer) => $call,
            Inner::Chrome($writer) => $call,
        }
    };
}

impl<W: Write> Writer<W> {
    /// Creates a writer to `out`.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(format: Format, out: W) -> io::Result<Self> {
        let format = match format {
            Format::Perfetto => Inner::Perfetto(Box::new(PerfettoWriter::new(out))),
            Format::Chrome => Inner::Chrome(ChromeWriter::new(out)?),
        };
        Ok(Self { format })
    }

    /// Makes this timeline a part of a larger one, with a number that no other part has. Without
    /// this call it is part 0. [`concatenate`](crate::concatenate) joins parts.
    ///
    /// Parts have their own track ids ([`Track::id`]). The numbers of processes and flows are those
    /// of the whole timeline.
    ///
    /// # Panics
    /// If something has been written before, or `part` is `u32::MAX`.
    #[must_use]
    pub fn with_part(mut self, part: u32) -> Self {
        if let Inner::Perfetto(writer) = &mut self.format {
            writer.set_part(part);
        }
        self
    }

    /// Declares a process, which comes before its tracks.
    ///
    /// # Errors
    /// See [`Writer`].
    pub fn process(&mut self, process: u32, name: &str) -> io::Result<()> {
        delegate!(self, writer => writer.process(process, name))
    }

    /// Declares a track, which comes before its events.
    ///
    /// # Errors
    /// See [`Writer`].
    pub fn track(&mut self, track: &Track<'_>) -> io::Result<()> {
        delegate!(self, writer => writer.track(track))
    }

    /// Declares a track of a counter, which comes before its values.
    ///
    /// # Errors
    /// See [`Writer`].
    pub fn counter_track(&mut self, track: &CounterTrack<'_>) -> io::Result<()> {
        delegate!(self, writer => writer.counter_track(track))
    }

    /// Begins a slice inside of the slices of the track that have not ended.
    ///
    /// # Errors
    /// See [`Writer`].
    pub fn begin(&mut self, track: u64, at_ns: u64, event: &Event<'_>) -> io::Result<()> {
        delegate!(self, writer => writer.begin(track, at_ns, event))
    }

    /// Ends the slice of the track that began last and has not ended.
    ///
    /// # Errors
    /// See [`Writer`].
    pub fn end(&mut self, track: u64, at_ns: u64) -> io::Result<()> {
        delegate!(self, writer => writer.end(track, at_ns))
    }

    /// Writes a whole slice. The next event of the track is at `to_ns` or later.
    ///
    /// # Errors
    /// See [`Writer`].
    pub fn slice(
        &mut self,
        track: u64,
        from_ns: u64,
        to_ns: u64,
        event: &Event<'_>,
    ) -> io::Result<()> {
        delegate!(self, writer => writer.slice(track, from_ns, to_ns, event))
    }

    /// Writes an instant.
    ///
    /// # Errors
    /// See [`Writer`].
    pub fn instant(&mut self, track: u64, at_ns: u64, event: &Event<'_>) -> io::Result<()> {
        delegate!(self, writer => writer.instant(track, at_ns, event))
    }

    /// Writes the value of a counter from now on.
    ///
    /// # Errors
    /// See [`Writer`].
    pub fn count(&mut self, track: u64, at_ns: u64, value: i64) -> io::Result<()> {
        delegate!(self, writer => writer.count(track, at_ns, value))
    }

    /// Passes all events so far to the output. A reader can then read them, even if the program
    /// never calls [`finish`](Self::finish). Frequent calls make the compression worse.
    ///
    /// # Errors
    /// See [`Writer`].
    pub fn flush(&mut self) -> io::Result<()> {
        delegate!(self, writer => writer.flush())
    }

    /// Completes the timeline, and returns the output. Slices that have not ended stay open: a
    /// reader lets them end with the timeline.
    ///
    /// # Errors
    /// See [`Writer`].
    pub fn finish(self) -> io::Result<W> {
        match self.format {
            Inner::Perfetto(writer) => writer.finish(),
            Inner::Chrome(writer) => writer.finish(),
        }
    }
}
