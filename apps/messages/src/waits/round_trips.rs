//! The two threads: one sends numbers and waits for them, and the other sends them back.

use std::sync::{Barrier, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use raddle_sync::prim::{clock_ns, thread_cpu_time};
use raddle_topology::CpuId;

use super::channel::{Channel, Receiver};
use super::{Late, Waits, WaitsError};
use crate::threads::{Start, spawn_in};

/// The number of round trips before the timed ones. After them, both threads are awake. Their
/// replies are immediate, so that they take little time even if later replies take seconds.
const WARM_UP: u64 = 20;
/// The number that ends a measurement. The number of a round trip never comes near it.
const END: u64 = u64::MAX;

/// The channels between the two threads, one for each direction.
struct Channels {
    there: Channel,
    back: Channel,
}

impl Waits<'_> {
    pub(super) fn total_time(&self, trips: u64) -> Result<Duration, WaitsError> {
        self.run_threads(None, |initiator| {
            let start = Instant::now();
            for _ in 0..trips {
                initiator.trip();
            }
            start.elapsed()
        })
    }

    pub(super) fn trip_times(
        &self,
        trips: u64,
        limit: Duration,
    ) -> Result<Vec<Duration>, WaitsError> {
        self.run_threads(None, |initiator| {
            let mut times = Vec::new();
            let start = Instant::now();
            let mut last = start;
            while (times.len() as u64) < trips {
                initiator.trip();
                let now = Instant::now();
                times.push(now - last);
                last = now;
                if now - start >= limit {
                    break;
                }
            }
            times
        })
    }

    pub(super) fn late_trips(
        &self,
        waits: u64,
        limit: Duration,
        pause: Duration,
    ) -> Result<Late, WaitsError> {
        self.run_threads(Some(pause), |initiator| {
            let mut late = Late {
                latencies: Vec::new(),
                cpu: Duration::ZERO,
            };
            let start = Instant::now();
            while (late.latencies.len() as u64) < waits {
                let (latency, cpu) = initiator.late_trip();
                late.latencies.push(latency);
                late.cpu += cpu;
                if start.elapsed() >= limit {
                    break;
                }
            }
            late
        })
    }

    /// Starts the two threads. The first calls `measure` on the CPU of the waiter. The second sends
    /// the numbers back, and sleeps for `pause` before each reply.
    fn run_threads<R: Send>(
        &self,
        pause: Option<Duration>,
        measure: impl FnOnce(&mut Initiator<'_>) -> R + Send,
    ) -> Result<R, WaitsError> {
        let channel = || {
            let kind = self.kind;
            Channel::new(kind).map_err(|source| WaitsError::Refused { kind, source })
        };
        let channels = Channels {
            there: channel()?,
            back: channel()?,
        };
        let (start, ready) = (Start::default(), Ready::default());
        thread::scope(|scope| {
            let returner = spawn_in(scope, "returner", || {
                if !start.wait() {
                    return Ok(());
                }
                let receiver = self.prepare(self.places.answerer, &channels.there);
                if let Some(receiver) = ready.meet(receiver)? {
                    return_all(&channels, receiver, pause);
                }
                Ok::<(), WaitsError>(())
            });
            let initiator = spawn_in(scope, "initiator", || {
                if !start.wait() {
                    return Ok(None);
                }
                let receiver = self.prepare(self.places.waiter, &channels.back);
                let receiver = ready.meet(receiver)?;
                let run = |receiver| Initiator::run(&channels, receiver, measure);
                Ok::<_, WaitsError>(receiver.map(run))
            });
            start.announce(returner.is_ok() && initiator.is_ok());
            let (returner, initiator) = (returner?, initiator?);
            let measured = initiator.join().expect("the initiator never panics");
            returner.join().expect("the returner never panics")?;
            // If the returner could not be prepared, nothing was measured, and its error has just
            // been returned.
            measured.map(|result| result.expect("both threads are prepared"))
        })
    }

    /// Binds the calling thread, and makes it the receiver of `channel`.
    fn prepare(&self, cpu: Option<CpuId>, channel: &Channel) -> Result<Receiver, WaitsError> {
        if let Some(cpu) = cpu {
            self.topology.bind_this_thread(cpu)?;
        }
        let kind = self.kind;
        channel
            .receiver()
            .map_err(|source| WaitsError::Refused { kind, source })
    }
}

/// The thread that sends the numbers first.
pub(super) struct Initiator<'channels> {
    channels: &'channels Channels,
    receiver: Receiver,
    number: u64,
}

impl<'channels> Initiator<'channels> {
    /// Makes the warm-up trips, calls `measure`, and ends the returner.
    fn run<R>(
        channels: &'channels Channels,
        receiver: Receiver,
        measure: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let mut initiator = Self {
            channels,
            receiver,
            number: 0,
        };
        for _ in 0..WARM_UP {
            initiator.trip();
        }
        let result = measure(&mut initiator);
        channels.there.send(END);
        result
    }

    /// Makes one round trip.
    #[inline]
    fn trip(&mut self) {
        self.send();
        self.receive();
    }

    #[inline]
    fn send(&mut self) {
        self.number += 1;
        self.channels.there.send(self.number);
    }

    #[inline]
    fn receive(&mut self) {
        let number = self.channels.back.receive(&mut self.receiver);
        assert_eq!(number, self.number, "another number came back");
    }

    /// Makes one round trip with a late reply. Returns the time from the decision to reply until
    /// this thread ran, and the CPU time of this thread in the wait.
    fn late_trip(&mut self) -> (Duration, Duration) {
        self.send();
        let before = thread_cpu_time();
        self.receive();
        let received_ns = clock_ns();
        let after = thread_cpu_time();
        let latency_ns = received_ns.saturating_sub(self.channels.back.decision_ns());
        (
            Duration::from_nanos(latency_ns),
            after.saturating_sub(before),
        )
    }
}

/// Sends every number back until [`END`]. After the warm-up, sleeps for `pause` before
/// each reply.
fn return_all(channels: &Channels, mut receiver: Receiver, pause: Option<Duration>) {
    loop {
        let number = channels.there.receive(&mut receiver);
        if number == END {
            return;
        }
        if let Some(pause) = pause.filter(|_| number > WARM_UP) {
            thread::sleep(pause);
            channels.back.record_decision(clock_ns());
        }
        channels.back.send(number);
    }
}

/// The meeting point of both threads before the first number.
struct Ready {
    both: Barrier,
    has_failed: OnceLock<()>,
}

impl Default for Ready {
    fn default() -> Self {
        Self {
            both: Barrier::new(2),
            has_failed: OnceLock::new(),
        }
    }
}

impl Ready {
    /// Waits for the other thread. Returns the value or the error of this thread, and `None` if
    /// only the other thread has failed.
    fn meet<T>(&self, prepared: Result<T, WaitsError>) -> Result<Option<T>, WaitsError> {
        if prepared.is_err() {
            let _is_first = self.has_failed.set(());
        }
        self.both.wait();
        let prepared = prepared?;
        Ok(self.has_failed.get().is_none().then_some(prepared))
    }
}
