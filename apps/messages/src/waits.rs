//! Ways to wait: two threads send a number to and fro, and each waits for it in a given way.
//!
//! If the number is returned at once, the time of a round trip shows how soon a waiting thread
//! notices an event. If it is returned late, three other figures matter: the time until the waiting
//! thread runs again, the CPU time that it uses until then, and the speed that it takes from a
//! thread on the same core. The two threads have one CPU each, run without a runtime, and share
//! only the number.
//!
//! # Memory ordering
//! | label | release side                | acquire side                    | what it publishes  |
//! |-------|-----------------------------|---------------------------------|--------------------|
//! | N1    | `Channel::send` stores the  | `Channel::receive` loads the    | the time when the  |
//! |       | number                      | number                          | reply was decided  |

mod bystander;
mod channel;
mod places;
mod round_trips;

use std::fmt;
use std::io;
use std::time::Duration;

use raddle_sync::wait::{Monitor, Way};
use raddle_topology::{BindError, PlanError, Topology};

use crate::threads::ThreadRefused;

pub use self::bystander::Bystander;
pub use self::places::{Beside, Places};

/// A way to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Spins on the word of a wait cell.
    Spin,
    /// Lets the processor monitor the word of a wait cell.
    Monitor,
    /// Polls the word of a wait cell less and less often, with pauses in between.
    Pause,
    /// Sleeps in the kernel at once, in a wait cell.
    Futex,
    /// Goes through the ways above in turn, in a wait cell. Each lasts as long as the observed gaps
    /// between events make it worthwhile.
    Auto,
    /// Reads an event counter of the kernel.
    Eventfd,
    /// Waits for a signal that is sent to the thread.
    Signal,
    /// Reads the number from a pipe.
    Pipe,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::Spin,
        Self::Monitor,
        Self::Pause,
        Self::Futex,
        Self::Auto,
        Self::Eventfd,
        Self::Signal,
        Self::Pipe,
    ];

    /// Returns the name, as on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spin => "spin",
            Self::Monitor => "monitor",
            Self::Pause => "pause",
            Self::Futex => "futex",
            Self::Auto => "auto",
            Self::Eventfd => "eventfd",
            Self::Signal => "signal",
            Self::Pipe => "pipe",
        }
    }

    /// Returns the reason why this processor does not support the kind; `None` if it does.
    pub fn missing(self) -> Option<&'static str> {
        (self == Self::Monitor && Monitor::detect().is_none()).then(Monitor::missing)
    }

    /// Returns the way to wait in a wait cell; `None` for kinds without a wait cell.
    const fn way(self) -> Option<Way> {
        match self {
            Self::Spin => Some(Way::Spin),
            Self::Monitor => Some(Way::Monitor),
            Self::Pause => Some(Way::Pause),
            Self::Futex => Some(Way::Futex),
            Self::Auto => Some(Way::Auto),
            Self::Eventfd | Self::Signal | Self::Pipe => None,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A failed measurement of waits.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WaitsError {
    /// The processor does not support the kind of waiting.
    #[error("{kind}: not on this processor: {reason}")]
    Missing {
        /// The requested kind.
        kind: Kind,
        /// The reason why it is not supported.
        reason: &'static str,
    },
    /// The threads could not be placed.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A thread could not be bound to its CPU.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// A thread could not be started.
    #[error(transparent)]
    Thread(#[from] ThreadRefused),
    /// The kernel refused a file or a signal.
    #[error("{kind}: {source}")]
    Refused {
        /// The requested kind.
        kind: Kind,
        /// The error of the system.
        source: io::Error,
    },
}

/// The result of waits for late replies.
#[derive(Debug, Clone)]
pub struct Late {
    /// For each wait, the time from the decision to reply until the waiting thread ran again.
    pub latencies: Vec<Duration>,
    /// The total CPU time of the waiting thread in all waits.
    pub cpu: Duration,
}

impl Late {
    /// Returns the mean CPU time of the waiting thread in one wait; zero if there was no wait.
    #[must_use]
    pub fn cpu_per_wait(&self) -> Duration {
        u32::try_from(self.latencies.len().max(1)).map_or(Duration::ZERO, |waits| self.cpu / waits)
    }
}

/// Two threads, with one CPU each, that wait for each other in one way.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use raddle_messages::waits::{Kind, Places, Waits};
/// use raddle_topology::{Affinity, Topology};
///
/// let topology = Topology::this_machine()?;
/// let places = Places::of(topology, &Affinity::Auto)?;
/// let waits = Waits::new(topology, &places, Kind::Auto)?;
/// assert_eq!(waits.soon(20, Duration::from_secs(60))?.len(), 20);
/// let late = waits.late(3, Duration::from_secs(60), Duration::from_micros(300))?;
/// assert_eq!(late.latencies.len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Waits<'machine> {
    topology: &'machine Topology,
    places: &'machine Places,
    kind: Kind,
}

impl<'machine> Waits<'machine> {
    /// Prepares measurements of `kind`. Each measurement starts its own two threads.
    ///
    /// # Errors
    /// [`WaitsError::Missing`] if this processor does not support the kind.
    pub fn new(
        topology: &'machine Topology,
        places: &'machine Places,
        kind: Kind,
    ) -> Result<Self, WaitsError> {
        match kind.missing() {
            Some(reason) => Err(WaitsError::Missing { kind, reason }),
            None => Ok(Self {
                topology,
                places,
                kind,
            }),
        }
    }

    /// Makes a short warm-up and then `trips` round trips with immediate replies, and returns the
    /// total time of the latter.
    ///
    /// # Errors
    /// [`WaitsError`] if a thread cannot be started or bound, or if the kernel refuses a file.
    /// # Panics
    /// If another number comes back than was sent.
    pub fn run(&self, trips: u64) -> Result<Duration, WaitsError> {
        self.total_time(trips)
    }

    /// Makes a short warm-up and then `trips` round trips with immediate replies, and returns the
    /// time of each of the latter. No trip begins after `limit`, but there is at least one. The
    /// clock is read once per trip.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    /// # Panics
    /// As for [`run`](Self::run).
    pub fn soon(&self, trips: u64, limit: Duration) -> Result<Vec<Duration>, WaitsError> {
        self.trip_times(trips, limit)
    }

    /// Measures `waits` waits for late replies: before each reply, the other side sleeps for
    /// `pause`. No wait begins after `limit`, but there is at least one.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    /// # Panics
    /// As for [`run`](Self::run).
    pub fn late(&self, waits: u64, limit: Duration, pause: Duration) -> Result<Late, WaitsError> {
        self.late_trips(waits, limit, pause)
    }

    /// Measures how fast another thread on the core of the waiting thread runs during waits for
    /// late replies. Before each reply, the other side sleeps for `pause`.
    ///
    /// Returns `None` if the waiting thread is not bound to a CPU. Each of the `rounds`, at least
    /// one, takes a fifth of a second.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    /// # Panics
    /// As for [`run`](Self::run).
    pub fn bystander(
        &self,
        rounds: usize,
        pause: Duration,
    ) -> Result<Option<Bystander>, WaitsError> {
        self.measure_bystander(rounds, pause)
    }
}

#[cfg(test)]
mod tests;
