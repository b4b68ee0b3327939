//! Ping-pong: one message, there and back.
//!
//! Two sides throw a ball, which is a buffer, to each other: elements of an array, chares that are in none, or workers. In a round trip it
//! goes there and back, and nothing else is under way. One side is on the first worker, the other on the last.

mod chares;
mod workers;

use std::fmt;
use std::time::{Duration, Instant};

use raddle::Runtime;
use raddle::chare::Failure;

use self::chares::Players;

/// Round trips before the clock runs: both workers are awake then.
const WARM_UP: u64 = 100;

/// Who throws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// Elements of an array.
    Array,
    /// Chares that are in no array.
    Chare,
    /// Workers, by messages without objects ([`raddle::Post`]).
    Post,
}

impl Layer {
    /// All of them, the highest first.
    pub const ALL: [Self; 3] = [Self::Array, Self::Chare, Self::Post];

    /// Its name.
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

/// Two sides on the workers of a runtime.
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
    /// None where workers throw.
    players: Option<Players>,
}

impl<'runtime> PingPong<'runtime> {
    /// Puts two sides up; their ball has so many bytes, which nobody looks at.
    pub fn new(runtime: &'runtime Runtime, layer: Layer, bytes: usize) -> Self {
        let players = match layer {
            Layer::Array => Some(Players::in_array(runtime)),
            Layer::Chare => Some(Players::alone(runtime)),
            Layer::Post => None,
        };
        Self {
            runtime,
            bytes,
            players,
        }
    }

    /// The time of so many round trips, after some that are not counted.
    ///
    /// # Errors
    /// [`Failure`] when another chare of the runtime has failed.
    /// # Panics
    /// When another ball comes back than was thrown.
    pub fn run(&self, trips: u64) -> Result<Duration, Failure> {
        let times = self.play(trips, false)?;
        Ok(times[1] - times[0])
    }

    /// The time of each of so many round trips, after some that are not counted; the clock is read once for each.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    /// # Panics
    /// As [`run`](Self::run).
    pub fn run_each(&self, trips: u64) -> Result<Vec<Duration>, Failure> {
        let times = self.play(trips, true)?;
        Ok(times.windows(2).map(|pair| pair[1] - pair[0]).collect())
    }

    fn play(&self, trips: u64, each: bool) -> Result<Vec<Instant>, Failure> {
        let ball = vec![0; self.bytes].into_boxed_slice();
        let rally = Rally::new(trips, each);
        let (times, ball) = match &self.players {
            Some(players) => players.play(rally, ball)?,
            None => workers::play(self.runtime, rally, ball),
        };
        assert_eq!(ball.len(), self.bytes, "another ball came back");
        Ok(times)
    }
}

/// A buffer that goes there and back.
type Ball = Box<[u8]>;

/// What the side that serves knows of the round trips.
#[derive(Debug)]
struct Rally {
    /// Round trips before the clock runs.
    warm_up: u64,
    /// Round trips that are left after those.
    left: u64,
    /// Whether the end of each is noted, or of the last alone.
    each: bool,
    times: Vec<Instant>,
}

impl Rally {
    fn new(trips: u64, each: bool) -> Self {
        let room = if each { trips as usize + 1 } else { 2 };
        Self {
            warm_up: WARM_UP,
            left: trips,
            each,
            times: Vec::with_capacity(room),
        }
    }

    /// The ball has come back; true if it is thrown again.
    fn goes_on(&mut self) -> bool {
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
