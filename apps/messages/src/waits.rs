//! Ways to wait: two threads throw a number to each other, and each waits for it in a given way.
//!
//! Answered at once, a round trip tells how soon a waiter hears. Answered late, what counts is how long the waiter takes to run again, which CPU
//! time it spent until then, and what it took from a thread on the same core. The two threads have a CPU each, no runtime, and nothing
//! but the number between them.
//!
//! # Memory ordering
//! | label | release side                     | acquire side                   | what it publishes                   |
//! |-------|----------------------------------|--------------------------------|-------------------------------------|
//! | N1    | `Line::tell` stores the number   | `Line::hear` sees it           | the time when the answer was decided |

mod bystander;
mod line;
mod places;
mod rally;

use std::fmt;
use std::io;
use std::time::Duration;

use raddle_sync::wait::{Monitor, Way};
use raddle_topology::{BindError, PlanError, Topology};

use crate::threads::ThreadRefused;

pub use self::bystander::Bystander;
pub use self::places::{Beside, Places};
pub(crate) use self::rally::cpu_time;

/// A way to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// In a wait cell: looks again and again.
    Spin,
    /// In a wait cell: lets the processor watch its word.
    Monitor,
    /// In a wait cell: looks ever more seldom, with pauses between.
    Pause,
    /// In a wait cell: sleeps in the kernel at once.
    Futex,
    /// In a wait cell: from one to the next, for as long as the gaps that were seen make it pay.
    Auto,
    /// Reads an event counter of the kernel.
    Eventfd,
    /// Waits for a signal, which is sent to the thread.
    Signal,
    /// Reads the number from a pipe.
    Pipe,
}

impl Kind {
    /// All of them.
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

    /// Its name.
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

    /// Why this processor does not have it, in a few words; none where it does.
    pub fn missing(self) -> Option<&'static str> {
        (self == Self::Monitor && Monitor::detect().is_none()).then(Monitor::missing)
    }

    /// The way of the wait cell, where it is one.
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

/// What stands in the way of a measurement.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WaitsError {
    /// The processor has no such wait.
    #[error("{kind}: not on this processor: {reason}")]
    Missing {
        /// What was asked for.
        kind: Kind,
        /// What the processor lacks.
        reason: &'static str,
    },
    /// There are no places for the threads.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A thread cannot be bound to its CPU.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// A thread cannot be started.
    #[error(transparent)]
    Thread(#[from] ThreadRefused),
    /// The kernel gives no file or no signal to wait for.
    #[error("{kind}: {source}")]
    Refused {
        /// What was asked for.
        kind: Kind,
        /// The system's answer.
        source: io::Error,
    },
}

/// Waits for answers that came late.
#[derive(Debug, Clone)]
pub struct Late {
    /// From the decision to answer until the waiter ran again, for each.
    pub latencies: Vec<Duration>,
    /// CPU time of the waiter in all of the waits together.
    pub cpu: Duration,
}

impl Late {
    /// CPU time of the waiter in one wait; nothing where there was none.
    #[must_use]
    pub fn cpu_per_wait(&self) -> Duration {
        u32::try_from(self.latencies.len().max(1)).map_or(Duration::ZERO, |waits| self.cpu / waits)
    }
}

/// Two threads with a CPU each, that wait for each other in one way.
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
    /// Two threads at their places; they start with each measurement.
    ///
    /// # Errors
    /// [`WaitsError::Missing`].
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

    /// The time of so many round trips that are answered at once, all together, after some that are not counted.
    ///
    /// # Errors
    /// [`WaitsError`]: a thread that cannot be bound, a file that the kernel refuses.
    /// # Panics
    /// When another number comes back than was thrown.
    pub fn run(&self, trips: u64) -> Result<Duration, WaitsError> {
        self.all_of(trips)
    }

    /// The time of each of so many round trips that are answered at once, or of those that began within `limit`: one at least. The clock is
    /// read once for each.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    /// # Panics
    /// As [`run`](Self::run).
    pub fn soon(&self, trips: u64, limit: Duration) -> Result<Vec<Duration>, WaitsError> {
        self.each_of(trips, limit)
    }

    /// So many waits, or those that began within `limit`, one at least, for an answer that comes when the other side has slept for `pause`.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    /// # Panics
    /// As [`run`](Self::run).
    pub fn late(&self, waits: u64, limit: Duration, pause: Duration) -> Result<Late, WaitsError> {
        self.late_ones(waits, limit, pause)
    }

    /// What a thread on the same core gets done while one waits for answers that come when the other side has slept for `pause`.
    ///
    /// None where the waiter is bound to no CPU. Cost: a fifth of a second of measurement for each of `rounds`, of which there is one at least.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    /// # Panics
    /// As [`run`](Self::run).
    pub fn bystander(
        &self,
        rounds: usize,
        pause: Duration,
    ) -> Result<Option<Bystander>, WaitsError> {
        self.beside(rounds, pause)
    }
}

#[cfg(test)]
mod tests;
