//! Ping-pong: one message, to and fro.
//!
//! Two sides send one buffer to each other. The sides are elements of an array, single chares, or
//! workers. In a round trip the buffer goes to the other side and back, and no other message is in
//! flight. One side is on the first worker, the other side on the last.

mod chares;
mod workers;

use std::fmt;
use std::time::{Duration, Instant};

use raddle::Runtime;
use raddle::chare::Failure;

use self::chares::ChareSides;

/// The number of round trips before the timed ones. After them, both workers are awake.
const WARM_UP: u64 = 100;

/// The layer of the runtime at which messages are exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// Elements of an array.
    Array,
    /// Single chares, which are in no array.
    Chare,
    /// Workers, with messages that go to no object ([`raddle::Post`]).
    Post,
}

impl Layer {
    /// All layers, the highest first.
    pub const ALL: [Self; 3] = [Self::Array, Self::Chare, Self::Post];

    /// Returns the name, as on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Array => "array",
            Self::Chare => "chare",
            Self::Post => "post",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The two sides of a ping-pong on the workers of a runtime.
///
/// # Examples
/// ```
/// use raddle_messages::pingpong::{Layer, PingPong};
///
/// let runtime = raddle::Runtime::builder().workers(2).build()?;
/// for layer in Layer::ALL {
///     let sides = PingPong::new(&runtime, layer, 100);
///     assert_eq!(sides.run_each(20)?.len(), 20);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct PingPong<'runtime> {
    runtime: &'runtime Runtime,
    bytes: usize,
    /// `None` if the sides are workers.
    chares: Option<ChareSides>,
}

impl<'runtime> PingPong<'runtime> {
    /// Creates the two sides. They exchange a buffer of `bytes` bytes, which are not accessed.
    pub fn new(runtime: &'runtime Runtime, layer: Layer, bytes: usize) -> Self {
        let chares = match layer {
            Layer::Array => Some(ChareSides::in_array(runtime)),
            Layer::Chare => Some(ChareSides::single(runtime)),
            Layer::Post => None,
        };
        Self {
            runtime,
            bytes,
            chares,
        }
    }

    /// Runs a short warm-up and then `trips` round trips, and returns the total time of the latter.
    ///
    /// # Errors
    /// [`Failure`] if another chare of the runtime has failed.
    /// # Panics
    /// If another buffer comes back than was sent.
    pub fn run(&self, trips: u64) -> Result<Duration, Failure> {
        let times = self.record(trips, false)?;
        Ok(times[1] - times[0])
    }

    /// Runs a short warm-up and then `trips` round trips, and returns the time of each of the
    /// latter. The clock is read once per trip.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    /// # Panics
    /// As for [`run`](Self::run).
    pub fn run_each(&self, trips: u64) -> Result<Vec<Duration>, Failure> {
        let times = self.record(trips, true)?;
        Ok(times.windows(2).map(|pair| pair[1] - pair[0]).collect())
    }

    /// Makes the warm-up and `trips` round trips. Returns the recorded times: those of the start
    /// and of the end, with `each` also that of the end of each trip.
    fn record(&self, trips: u64, each: bool) -> Result<Vec<Instant>, Failure> {
        let buffer = vec![0; self.bytes].into_boxed_slice();
        let progress = RoundTrips::new(trips, each);
        let (times, buffer) = match &self.chares {
            Some(chares) => chares.run(progress, buffer)?,
            None => workers::run(self.runtime, progress, buffer),
        };
        assert_eq!(buffer.len(), self.bytes, "another buffer came back");
        Ok(times)
    }
}

/// The buffer that the sides exchange.
type Buffer = Box<[u8]>;

/// The progress of a series of round trips, kept by the side that starts them.
#[derive(Debug)]
struct RoundTrips {
    /// The number of warm-up trips that remain.
    warm_up: u64,
    /// The number of timed trips that remain.
    left: u64,
    /// True if the end of each trip is recorded, false if only the end of the last.
    each: bool,
    /// The start of the first timed trip, and the recorded ends.
    times: Vec<Instant>,
}

impl RoundTrips {
    fn new(trips: u64, each: bool) -> Self {
        let capacity = if each { trips as usize + 1 } else { 2 };
        Self {
            warm_up: WARM_UP,
            left: trips,
            each,
            times: Vec::with_capacity(capacity),
        }
    }

    /// Records that a trip has ended. Returns true if another trip follows.
    fn finish_trip(&mut self) -> bool {
        if self.warm_up > 0 {
            self.warm_up -= 1;
            if self.warm_up == 0 {
                self.times.push(Instant::now());
            }
            return self.warm_up > 0 || self.left > 0;
        }
        self.left -= 1;
        if self.each || self.left == 0 {
            self.times.push(Instant::now());
        }
        self.left > 0
    }
}

#[cfg(test)]
mod tests;
