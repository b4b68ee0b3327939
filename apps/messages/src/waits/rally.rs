//! The two threads: one throws numbers and waits for them, the other throws them back.

use std::sync::{Barrier, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use raddle_sync::prim::clock_ns;
use raddle_topology::CpuId;
use rustix::time::{ClockId, clock_gettime};

use super::line::{Ear, Line};
use super::{Late, Waits, WaitsError};
use crate::threads::{Start, spawn_in};

/// Round trips before the clock runs: both threads are awake then. They are answered at once, so that they take no time where answers are late by seconds.
const WARM_UP: u64 = 20;
/// What ends a rally; no number of a round trip comes near it.
const END: u64 = u64::MAX;

/// The two directions.
struct Lines {
    there: Line,
    back: Line,
}

impl Waits<'_> {
    pub(super) fn all_of(&self, trips: u64) -> Result<Duration, WaitsError> {
        self.play(None, |server| {
            let start = Instant::now();
            for _ in 0..trips {
                server.trip();
            }
            start.elapsed()
        })
    }

    pub(super) fn each_of(&self, trips: u64, limit: Duration) -> Result<Vec<Duration>, WaitsError> {
        self.play(None, |server| {
            let mut times = Vec::new();
            let start = Instant::now();
            let mut last = start;
            while (times.len() as u64) < trips {
                server.trip();
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

    pub(super) fn late_ones(
        &self,
        waits: u64,
        limit: Duration,
        pause: Duration,
    ) -> Result<Late, WaitsError> {
        self.play(Some(pause), |server| {
            let mut late = Late {
                latencies: Vec::new(),
                cpu: Duration::ZERO,
            };
            let start = Instant::now();
            while (late.latencies.len() as u64) < waits {
                let (latency, cpu) = server.late_trip();
                late.latencies.push(latency);
                late.cpu += cpu;
                if start.elapsed() >= limit {
                    break;
                }
            }
            late
        })
    }

    /// Has the two threads play: `serve` on the waiter's CPU, and a returner that sleeps for `pause` before it answers.
    fn play<R: Send>(
        &self,
        pause: Option<Duration>,
        serve: impl FnOnce(&mut Server<'_>) -> R + Send,
    ) -> Result<R, WaitsError> {
        let line = || {
            let kind = self.kind;
            Line::new(kind).map_err(|source| WaitsError::Refused { kind, source })
        };
        let lines = Lines {
            there: line()?,
            back: line()?,
        };
        let (start, ready) = (Start::default(), Ready::default());
        thread::scope(|scope| {
            let returner = spawn_in(scope, "returner", || {
                if !start.wait() {
                    return Ok(());
                }
                let ear = ready.together(self.sit_down(self.places.answerer, &lines.there))?;
                if let Some(ear) = ear {
                    give_back(&lines, ear, pause);
                }
                Ok::<(), WaitsError>(())
            });
            let server = spawn_in(scope, "server", || {
                if !start.wait() {
                    return Ok(None);
                }
                let ear = ready.together(self.sit_down(self.places.waiter, &lines.back))?;
                Ok::<_, WaitsError>(ear.map(|ear| Server::play(&lines, ear, serve)))
            });
            start.tell(returner.is_ok() && server.is_ok());
            let (returner, server) = (returner?, server?);
            let served = server.join().expect("who serves panics nowhere");
            returner.join().expect("who returns panics nowhere")?;
            // Nothing was played where the other one could not sit down; that error has been returned.
            served.map(|result| result.expect("both have sat down"))
        })
    }

    /// Binds the calling thread, and makes it the one that hears `line`.
    fn sit_down(&self, cpu: Option<CpuId>, line: &Line) -> Result<Ear, WaitsError> {
        if let Some(cpu) = cpu {
            self.topology.bind_this_thread(cpu)?;
        }
        let kind = self.kind;
        line.listen()
            .map_err(|source| WaitsError::Refused { kind, source })
    }
}

/// Throws the numbers.
pub(super) struct Server<'lines> {
    lines: &'lines Lines,
    ear: Ear,
    number: u64,
}

impl<'lines> Server<'lines> {
    /// Warms up, serves, and ends the rally.
    fn play<R>(lines: &'lines Lines, ear: Ear, serve: impl FnOnce(&mut Self) -> R) -> R {
        let mut server = Self {
            lines,
            ear,
            number: 0,
        };
        for _ in 0..WARM_UP {
            server.trip();
        }
        let result = serve(&mut server);
        lines.there.tell(END);
        result
    }

    /// One round trip.
    #[inline]
    fn trip(&mut self) {
        self.throw();
        self.catch();
    }

    #[inline]
    fn throw(&mut self) {
        self.number += 1;
        self.lines.there.tell(self.number);
    }

    #[inline]
    fn catch(&mut self) {
        let number = self.lines.back.hear(&mut self.ear);
        assert_eq!(number, self.number, "another number came back");
    }

    /// One round trip with a late answer: the time from the decision to answer until this thread ran, and its CPU time in the wait.
    fn late_trip(&mut self) -> (Duration, Duration) {
        self.throw();
        let before = cpu_time();
        self.catch();
        let heard_ns = clock_ns();
        let after = cpu_time();
        let latency_ns = heard_ns.saturating_sub(self.lines.back.decided_ns());
        (
            Duration::from_nanos(latency_ns),
            after.saturating_sub(before),
        )
    }
}

/// Throws back what comes, until the end: after a pause, if there is to be one, once both are warm.
fn give_back(lines: &Lines, mut ear: Ear, pause: Option<Duration>) {
    loop {
        let number = lines.there.hear(&mut ear);
        if number == END {
            return;
        }
        if let Some(pause) = pause.filter(|_| number > WARM_UP) {
            thread::sleep(pause);
            lines.back.decide(clock_ns());
        }
        lines.back.tell(number);
    }
}

/// What the calling thread has used of a CPU.
pub(crate) fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // It counts from the thread's start: neither part is negative.
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Where both threads meet before the first number.
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
    /// What one came with, when the other has come; nothing when the other came with a failure.
    fn together<T>(&self, brought: Result<T, WaitsError>) -> Result<Option<T>, WaitsError> {
        if brought.is_err() {
            let _again = self.has_failed.set(());
        }
        self.both.wait();
        let brought = brought?;
        Ok(self.has_failed.get().is_none().then_some(brought))
    }
}
