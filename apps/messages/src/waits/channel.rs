//! One direction of the exchange: a channel for numbers. The kinds of waiting differ only in the
//! event that wakes the receiver.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;

use nix::sys::pthread::{Pthread, pthread_kill, pthread_self};
use nix::sys::signal::{SigSet, Signal};
use raddle_sync::prim::{Acquire, AtomicU64, Relaxed, Release};
use raddle_sync::wait::{SpinBudget, WaitCell, Way};
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::{read, retry_on_intr, write};
use rustix::pipe::{PipeFlags, pipe_with};

use super::Kind;

/// The signal of [`Kind::Signal`]. It is blocked in the waiting thread, and is sent to that thread
/// only. The real-time signals have no safe interface. At most one signal is pending at a time, so
/// none is lost.
const SIGNAL: Signal = Signal::SIGUSR1;

/// A channel from one thread to another. A number is sent only after the previous one has been
/// received.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Channel {
    number: AtomicU64,
    decision_ns: AtomicU64,
    event: Event,
}

/// The event that wakes the receiver. It has a cache line of its own: the sender also reads it, and
/// the line of the number has just moved to the receiver.
#[derive(Debug)]
#[repr(align(128))]
enum Event {
    Cell(WaitCell, Way),
    Eventfd(OwnedFd),
    Signal(OnceLock<Pthread>),
    Pipe { reader: OwnedFd, writer: OwnedFd },
}

/// The state of the receiver between two numbers.
#[derive(Debug, Default)]
pub(super) struct Receiver {
    last: u64,
    budget: SpinBudget,
}

impl Channel {
    /// Creates a channel on which the number 0 counts as received.
    pub(super) fn new(kind: Kind) -> io::Result<Self> {
        let event = match kind {
            Kind::Eventfd => Event::Eventfd(eventfd(0, EventfdFlags::CLOEXEC)?),
            Kind::Pipe => {
                let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
                Event::Pipe { reader, writer }
            }
            Kind::Signal => Event::Signal(OnceLock::new()),
            _ => Event::Cell(WaitCell::new(), kind.way().unwrap_or_default()),
        };
        Ok(Self {
            number: AtomicU64::new(0),
            decision_ns: AtomicU64::new(0),
            event,
        })
    }

    /// Makes the calling thread the receiver. This must happen before the first number is sent.
    pub(super) fn receiver(&self) -> io::Result<Receiver> {
        if let Event::Signal(thread) = &self.event {
            // The signal stays blocked, because this thread ends with the measurement.
            SigSet::from(SIGNAL).thread_block()?;
            let _is_first = thread.set(pthread_self());
        }
        Ok(Receiver::default())
    }

    /// Records the time at which the sender decided to send the next number.
    pub(super) fn record_decision(&self, at_ns: u64) {
        // Relaxed: published by the next number (N1).
        self.decision_ns.store(at_ns, Relaxed);
    }

    /// Returns the time at which the sender decided to send the number that was received last.
    pub(super) fn decision_ns(&self) -> u64 {
        // Relaxed: published by the number that was received (N1).
        self.decision_ns.load(Relaxed)
    }

    /// Sends a number, which must differ from the previous one and from 0.
    #[inline]
    pub(super) fn send(&self, number: u64) {
        // ORDERING(N1): Release, so that the receiver sees the time of the decision.
        self.number.store(number, Release);
        match &self.event {
            Event::Cell(cell, _) => {
                let _was_asleep = cell.ring();
            }
            Event::Eventfd(file) => write_bytes(file, &1_u64.to_ne_bytes()),
            Event::Pipe { writer, .. } => write_bytes(writer, &number.to_ne_bytes()),
            Event::Signal(thread) => {
                let thread = thread
                    .get()
                    .expect("the receiver exists before a number is sent");
                pthread_kill(*thread, SIGNAL).expect("the receiver has not ended");
            }
        }
    }

    /// Waits for the next number.
    #[inline]
    pub(super) fn receive(&self, receiver: &mut Receiver) -> u64 {
        // ORDERING(N1): Acquire, here and below, to see the time of the decision.
        let number = || self.number.load(Acquire);
        match &self.event {
            Event::Cell(cell, way) => {
                let last = receiver.last;
                receiver.budget.wait_until(cell, *way, || number() != last);
            }
            Event::Eventfd(file) => {
                let _count = read_number(file);
            }
            Event::Pipe { reader, .. } => {
                let received = read_number(reader);
                assert_eq!(received, number(), "another number came through the pipe");
            }
            Event::Signal(_) => {
                SigSet::from(SIGNAL)
                    .wait()
                    .expect("a valid signal can be waited for");
            }
        }
        receiver.last = number();
        receiver.last
    }
}

/// Writes to a file of this module, which always has space for one number.
fn write_bytes(file: &OwnedFd, bytes: &[u8]) {
    let written = retry_on_intr(|| write(file, bytes));
    assert_eq!(written, Ok(bytes.len()), "the file has space for a number");
}

fn read_number(file: &OwnedFd) -> u64 {
    let mut bytes = [0; 8];
    let count = retry_on_intr(|| read(file, &mut bytes));
    assert_eq!(count, Ok(bytes.len()), "numbers are read as a whole");
    u64::from_ne_bytes(bytes)
}
