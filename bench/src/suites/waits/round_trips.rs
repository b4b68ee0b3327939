//! Round trips of numbers between two bound threads, over any of the peers' ways to wait.
//!
//! # Memory ordering
//! | label | release side       | acquire side               | what it publishes |
//! |-------|--------------------|----------------------------|-------------------|
//! | R1    | a number is stored | the other side observes it | the noted time    |

use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};
use raddle_sync::prim::{
    Acquire, AtomicU32, AtomicU64, Futex, Relaxed, Release, clock_ns, spin_loop, thread_cpu_time,
};

use crate::two_threads::time_round_trips;

/// The number of round trips before the clock starts.
pub(super) const WARM_UP: u32 = 20;

/// The result of some round trips.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Totals {
    /// The total time. If answers are late, only the time after each decision to answer counts.
    pub(super) time: Duration,
    /// The CPU time of the waiter, if answers are late.
    pub(super) cpu: Duration,
    /// The number of correct answers.
    pub(super) right: u64,
}

/// One direction of the exchange.
pub(super) trait Direction: Send + Sync {
    /// Sends a number that differs from the last.
    fn send(&self, number: u32);

    /// Waits for a number that differs from the last.
    fn receive(&self, last: u32) -> u32;
}

/// Exchanges numbers for `trips` round trips. With `pause`, the other side answers late.
pub(super) fn play<D: Direction>(
    there: &D,
    back: &D,
    cpus: (usize, usize),
    trips: u32,
    pause: Option<Duration>,
) -> Totals {
    let decision = Decision::default();
    let mut late = Totals::default();
    let trip = |number| {
        there.send(number);
        let before = pause.map(|_| thread_cpu_time());
        let answer = back.receive(number - 1);
        if number <= WARM_UP {
            return;
        }
        if let Some(before) = before {
            late.time += decision.elapsed();
            late.cpu += thread_cpu_time().saturating_sub(before);
        }
        late.right += u64::from(answer == number);
    };
    let serve = || {
        let mut last = 0;
        for _ in 0..WARM_UP + trips {
            last = there.receive(last);
            if let Some(pause) = pause.filter(|_| last > WARM_UP) {
                thread::sleep(pause);
                decision.now();
            }
            back.send(last);
        }
    };
    let time = time_round_trips(Some(cpus), WARM_UP, trips, trip, serve);
    Totals {
        time: if pause.is_some() { late.time } else { time },
        ..late
    }
}

/// The time of the decision to answer.
#[derive(Debug, Default)]
pub(super) struct Decision(AtomicU64);

impl Decision {
    /// Notes the current time.
    pub(super) fn now(&self) {
        // Relaxed, here and below: published with the number (R1, or by the channel).
        self.0.store(clock_ns(), Relaxed);
    }

    /// Returns the time since the decision.
    pub(super) fn elapsed(&self) -> Duration {
        Duration::from_nanos(clock_ns().saturating_sub(self.0.load(Relaxed)))
    }
}

/// An atomic that is read repeatedly. With `PAUSED`, the processor pauses between two reads.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct SpinWord<const PAUSED: bool>(AtomicU32);

impl<const PAUSED: bool> Direction for SpinWord<PAUSED> {
    #[inline]
    fn send(&self, number: u32) {
        // ORDERING(R1): Release, the time.
        self.0.store(number, Release);
    }

    #[inline]
    fn receive(&self, last: u32) -> u32 {
        loop {
            // ORDERING(R1): Acquire, the time.
            let number = self.0.load(Acquire);
            if number != last {
                return number;
            }
            if PAUSED {
                spin_loop();
            }
        }
    }
}

/// A word on which the kernel lets threads sleep.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct FutexWord(Futex);

impl Direction for FutexWord {
    fn send(&self, number: u32) {
        // ORDERING(R1): Release, the time.
        self.0.word().store(number, Release);
        self.0.wake_one();
    }

    fn receive(&self, last: u32) -> u32 {
        loop {
            // ORDERING(R1): Acquire, the time.
            let number = self.0.word().load(Acquire);
            if number != last {
                return number;
            }
            self.0.wait(last, None);
        }
    }
}

/// A channel of crossbeam with capacity one.
#[derive(Debug)]
pub(super) struct Channel {
    sender: Sender<u32>,
    receiver: Receiver<u32>,
}

impl Default for Channel {
    fn default() -> Self {
        let (sender, receiver) = bounded(1);
        Self { sender, receiver }
    }
}

impl Direction for Channel {
    fn send(&self, number: u32) {
        self.sender.send(number).expect("the receiver exists");
    }

    fn receive(&self, _last: u32) -> u32 {
        self.receiver.recv().expect("the sender exists")
    }
}

#[cfg(test)]
mod tests;
