//! Two bound threads that throw numbers to each other, over whatever the peers wait with.
//!
//! # Memory ordering
//! | label | release side                   | acquire side           | what it publishes          |
//! |-------|--------------------------------|------------------------|----------------------------|
//! | R1    | a number is stored             | the other side sees it | the time that was noted    |

use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use raddle_sync::prim::{
    Acquire, AtomicU32, AtomicU64, Futex, Relaxed, Release, clock_ns, spin_loop,
};
use rustix::time::{ClockId, clock_gettime};

use crate::probe;

/// Round trips before the clock runs.
pub(super) const WARM_UP: u32 = 20;
/// What ends it; no number of a round trip comes near it.
pub(super) const END: u32 = u32::MAX;

/// What came of some round trips.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Tally {
    /// Of all of them; where answers are late, of what came after the decision to answer.
    pub(super) time: Duration,
    /// CPU time of the waiter in late waits.
    pub(super) cpu: Duration,
    /// Numbers that came back as they were thrown.
    pub(super) right: u64,
}

/// One way of a number.
pub(super) trait Direction: Send + Sync {
    /// Sends a number other than the last.
    fn tell(&self, number: u32);

    /// Waits for a number other than the last.
    fn hear(&self, last: u32) -> u32;
}

/// Plays so many round trips.
pub(super) fn play<D: Direction>(
    there: &D,
    back: &D,
    (first, second): (usize, usize),
    trips: u32,
    pause: Option<Duration>,
) -> Tally {
    let decided = Decided::default();
    thread::scope(|scope| {
        scope.spawn(|| {
            probe::pin(second);
            let mut last = 0;
            loop {
                last = there.hear(last);
                if last == END {
                    return;
                }
                if let Some(pause) = pause.filter(|_| last > WARM_UP) {
                    thread::sleep(pause);
                    decided.now();
                }
                back.tell(last);
            }
        });
        let server = scope.spawn(|| {
            probe::pin(first);
            let mut tally = Tally::default();
            let mut start = Instant::now();
            for number in 1..=WARM_UP + trips {
                if number == WARM_UP + 1 {
                    tally = Tally::default();
                    start = Instant::now();
                }
                there.tell(number);
                let before = pause.map(|_| cpu_time());
                let answer = back.hear(number - 1);
                if let Some(before) = before {
                    tally.time += decided.elapsed();
                    tally.cpu += cpu_time().saturating_sub(before);
                }
                tally.right += u64::from(answer == number);
            }
            if pause.is_none() {
                tally.time = start.elapsed();
            }
            there.tell(END);
            tally
        });
        server.join().expect("who serves panics nowhere")
    })
}

/// What the calling thread has used of a CPU.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // It counts from the thread's start: neither part is negative.
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// When it was decided to answer.
#[derive(Debug, Default)]
pub(super) struct Decided(AtomicU64);

impl Decided {
    /// It is decided now.
    pub(super) fn now(&self) {
        // Relaxed, here and below: published by the number (R1, or the channel's own).
        self.0.store(clock_ns(), Relaxed);
    }

    /// The time since then.
    pub(super) fn elapsed(&self) -> Duration {
        Duration::from_nanos(clock_ns().saturating_sub(self.0.load(Relaxed)))
    }
}

/// An atomic that is looked at again and again; `PAUSED`, with the processor's pause between.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct SpinWord<const PAUSED: bool>(AtomicU32);

impl<const PAUSED: bool> Direction for SpinWord<PAUSED> {
    #[inline]
    fn tell(&self, number: u32) {
        // ORDERING(R1): Release, the time.
        self.0.store(number, Release);
    }

    #[inline]
    fn hear(&self, last: u32) -> u32 {
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

/// A word that the kernel wakes at.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct FutexWord(Futex);

impl Direction for FutexWord {
    fn tell(&self, number: u32) {
        // ORDERING(R1): Release, the time.
        self.0.word().store(number, Release);
        self.0.wake_one();
    }

    fn hear(&self, last: u32) -> u32 {
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

/// A channel of crossbeam with room for one number.
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
    fn tell(&self, number: u32) {
        self.sender.send(number).expect("its receiver is here");
    }

    fn hear(&self, _last: u32) -> u32 {
        self.receiver.recv().expect("its sender is here")
    }
}
