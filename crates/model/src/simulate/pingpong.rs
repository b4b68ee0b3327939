//! Ping-pong: a message there and back, in the study's three ways to receive.
//!
//! Before each round trip both sides meet, as with the study's `sync`. Each then waits for a random
//! time of at most a polling period, so that a message arrives at a random point between two polls.
//! The mean over many trips is the study's expected time.
//!
//! # Source
//! Parker 2013, section 4.3.

use rand_core::SeedableRng;
use rand_distr::{Distribution, StandardUniform};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

use super::timeline::Timeline;
use super::{
    Client, Counts, Layout, Message, Moment, Resumed, Segment, Simulation, Step, Thread, Way,
};
use crate::error::{DomainError, ModelError, above_zero};
use crate::parameters::Parameters;
use crate::units::Nanoseconds;

/// The longest message that a descriptor can describe.
pub const BYTES_MAX: u32 = 1 << 28;
/// The thread that sends the ping and waits for the answer. In the study's figures it renders.
const ASKER: u32 = 0;
/// The thread that receives on behalf of it, in [`Receive::Thread`].
const RECEIVER: u32 = 1;

/// The way in which both sides receive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Receive {
    /// Both sides poll for messages.
    Poll,
    /// Both sides sleep until a message arrives.
    #[default]
    Notify,
    /// The asking side has another thread that receives, and wakes the thread that asked.
    Thread,
}

impl Receive {
    /// All variants.
    pub const ALL: [Self; 3] = [Self::Poll, Self::Notify, Self::Thread];

    /// Returns the name of this variant, as options and files spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Poll => "poll",
            Self::Notify => "notify",
            Self::Thread => "thread",
        }
    }

    const fn way(self) -> Way {
        match self {
            Self::Poll => Way::Poll,
            Self::Notify | Self::Thread => Way::Notify,
        }
    }
}

/// A ping-pong run.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PingPong {
    /// The way in which both sides receive.
    pub receive: Receive,
    /// The number of data bytes, up to [`BYTES_MAX`].
    pub data_bytes: u32,
    /// If true, the message is sent inline.
    pub is_inline: bool,
    /// The number of round trips.
    pub trips: u32,
    /// The seed of the random numbers.
    pub seed: u64,
}

impl PingPong {
    /// Creates a run of `trips` round trips of the smallest message.
    #[must_use]
    pub const fn new(receive: Receive, trips: u32, seed: u64) -> Self {
        Self {
            receive,
            data_bytes: 0,
            is_inline: false,
            trips,
            seed,
        }
    }

    /// Simulates the round trips.
    ///
    /// # Errors
    /// [`ModelError`] if a parameter or the size is outside its range.
    ///
    /// # Examples
    /// ```
    /// use raddle_model::Parameters;
    /// use raddle_model::simulate::Silent;
    /// use raddle_model::simulate::pingpong::{PingPong, Receive};
    ///
    /// let (found, _) = PingPong::new(Receive::Notify, 10, 1).run(&Parameters::study(), Silent)?;
    /// assert_eq!(found.mean.0.round(), 916.0);
    /// # Ok::<(), raddle_model::ModelError>(())
    /// ```
    pub fn run<T: Timeline>(
        self,
        parameters: &Parameters,
        timeline: T,
    ) -> Result<(Found, T), ModelError> {
        above_zero("trips", f64::from(self.trips))?;
        if self.data_bytes > BYTES_MAX {
            let expected = format!("up to {BYTES_MAX}, the capacity of a descriptor");
            return Err(DomainError::new("bytes", f64::from(self.data_bytes), expected).into());
        }
        if self.is_inline && self.data_bytes > parameters.interface.inline_bytes_max {
            let expected = format!("{} or more, for a message of that size", self.data_bytes);
            let most = f64::from(parameters.interface.inline_bytes_max);
            let error = DomainError::new("interface.inline_bytes_max", most, expected);
            return Err(parameters.located(error));
        }
        let on_the_wire = parameters.packets().wire_bytes(u64::from(self.data_bytes));
        let wire_bytes = u32::try_from(on_the_wire).map_err(|_| {
            let expected = format!("up to {}, headers of packets and all", u32::MAX);
            DomainError::new("bytes on the wire", on_the_wire as f64, expected)
        })?;
        let threads = match self.receive {
            Receive::Thread => 2,
            _ => 1,
        };
        let client = Sides {
            what: self,
            wire_bytes,
            settling: parameters.message.notify_setup
                + parameters.message.notify
                + parameters.message.poll
                + parameters.message.wake
                + parameters.interface.trip,
            period: parameters.message.poll_period,
            random: Xoshiro256PlusPlus::seed_from_u64(self.seed),
            left: self.trips,
            began: Moment::START,
            times: Vec::with_capacity(self.trips as usize),
        };
        let mut layout = Layout::new(2, threads);
        for connection in &mut layout.connections {
            connection.segment = Segment {
                base: 0,
                bytes: BYTES_MAX.into(),
            };
        }
        let mut simulation = Simulation::new(parameters, layout, client, timeline)?;
        simulation.finish(|_| ())?;
        let (client, counts, timeline) = simulation.into_parts();
        Ok((Found::of(client.times, counts), timeline))
    }
}

/// The times of the round trips.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Found {
    /// The mean time of a round trip.
    #[serde(rename = "mean_ns")]
    pub mean: Nanoseconds,
    /// The time of the shortest round trip.
    #[serde(rename = "min_ns")]
    pub min: Nanoseconds,
    /// The time of the longest round trip.
    #[serde(rename = "max_ns")]
    pub max: Nanoseconds,
    /// The number of round trips.
    pub trips: usize,
    /// The event counters.
    #[serde(skip)]
    pub counts: Counts,
}

impl Found {
    fn of(times: Vec<Moment>, counts: Counts) -> Self {
        let nanoseconds = |time: &Moment| time.nanoseconds();
        let sum: Nanoseconds = times.iter().map(nanoseconds).sum();
        Self {
            mean: sum / times.len() as f64,
            min: times.iter().min().map_or(Nanoseconds::ZERO, nanoseconds),
            max: times.iter().max().map_or(Nanoseconds::ZERO, nanoseconds),
            trips: times.len(),
            counts,
        }
    }
}

/// Both sides: node 0 asks, node 1 answers.
struct Sides {
    what: PingPong,
    wire_bytes: u32,
    /// The time after which the other side certainly waits.
    settling: Nanoseconds,
    period: Nanoseconds,
    random: Xoshiro256PlusPlus,
    left: u32,
    began: Moment,
    times: Vec<Moment>,
}

impl Sides {
    /// Sends to the other node: to its thread that receives.
    fn send(&self, to: u32) -> Step {
        let connection = match self.what.receive {
            Receive::Thread if to == 0 => RECEIVER,
            _ => ASKER,
        };
        Step::Send(Message {
            node: to,
            connection,
            wire_bytes: self.wire_bytes,
            data_bytes: self.what.data_bytes,
            is_inline: self.what.is_inline,
            rings: self.what.receive != Receive::Poll,
            hints_cache: true,
            ..Message::default()
        })
    }

    /// Waits until all others wait, and then for a random part of a polling period.
    fn pause(&mut self) -> Step {
        let share: f64 = StandardUniform.sample(&mut self.random);
        Step::Compute(self.settling * 10.0 + self.period * share)
    }

    fn ask(&mut self, resumed: Resumed, now: Moment) -> Step {
        match resumed {
            Resumed::Begun if self.left == 0 => Step::Stop,
            Resumed::Begun => Step::Meet,
            Resumed::Met => self.pause(),
            Resumed::Computed => {
                self.began = now;
                self.send(1)
            }
            Resumed::Sent if self.what.receive == Receive::Thread => Step::Sleep,
            Resumed::Sent => Step::Receive(self.what.receive.way()),
            Resumed::Received(_) | Resumed::Woken => {
                self.times.push(now.since(self.began));
                self.left -= 1;
                self.ask(Resumed::Begun, now)
            }
            Resumed::Refused | Resumed::Waked => Step::Stop,
        }
    }

    fn answer(&mut self, resumed: Resumed) -> Step {
        match resumed {
            // This side receives first, so that each trip finds it waiting.
            Resumed::Begun | Resumed::Sent => Step::Meet,
            Resumed::Met => Step::Receive(self.what.receive.way()),
            Resumed::Received(_) => self.send(0),
            _ => Step::Stop,
        }
    }
}

impl Client for Sides {
    fn step(&mut self, thread: Thread, resumed: Resumed, now: Moment) -> Step {
        match (thread.node, thread.number) {
            (0, ASKER) => self.ask(resumed, now),
            (1, ASKER) => self.answer(resumed),
            // The thread that receives for the asking thread.
            (0, RECEIVER) => match resumed {
                Resumed::Received(_) => Step::Wake(ASKER),
                _ => Step::Receive(Way::Notify),
            },
            _ => Step::Stop,
        }
    }

    fn meeting(&self) -> u32 {
        2
    }

    fn is_over(&self) -> bool {
        self.left == 0
    }
}
