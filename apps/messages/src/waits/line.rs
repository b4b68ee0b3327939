//! One direction: a number that one thread tells and another waits for, and the bell that the kinds differ in.

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

/// Blocked in who waits for it, and sent to that thread alone. The system's own real-time signals have no safe interface; one signal is under
/// way at most, so that none is lost.
const SIGNAL: Signal = Signal::SIGUSR1;

/// What one thread tells another. A number is told once the one before has been heard.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Line {
    news: AtomicU64,
    decided_ns: AtomicU64,
    bell: Bell,
}

/// What wakes who waits, apart from the number: whoever rings looks at it, and the line of the number has just gone to who waits.
#[derive(Debug)]
#[repr(align(128))]
enum Bell {
    Cell(WaitCell, Way),
    Eventfd(OwnedFd),
    Signal(OnceLock<Pthread>),
    Pipe { reader: OwnedFd, writer: OwnedFd },
}

/// What the hearing thread keeps from one number to the next.
#[derive(Debug, Default)]
pub(super) struct Ear {
    last: u64,
    budget: SpinBudget,
}

impl Line {
    /// A line on which 0 has been heard.
    pub(super) fn new(kind: Kind) -> io::Result<Self> {
        let bell = match kind {
            Kind::Eventfd => Bell::Eventfd(eventfd(0, EventfdFlags::CLOEXEC)?),
            Kind::Pipe => {
                let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
                Bell::Pipe { reader, writer }
            }
            Kind::Signal => Bell::Signal(OnceLock::new()),
            _ => Bell::Cell(WaitCell::new(), kind.way().unwrap_or_default()),
        };
        Ok(Self {
            news: AtomicU64::new(0),
            decided_ns: AtomicU64::new(0),
            bell,
        })
    }

    /// Makes the calling thread the one that hears, before anything is told.
    pub(super) fn listen(&self) -> io::Result<Ear> {
        if let Bell::Signal(thread) = &self.bell {
            // For good: who hears ends with the rally.
            SigSet::from(SIGNAL).thread_block()?;
            let _it_is_this_one = thread.set(pthread_self());
        }
        Ok(Ear::default())
    }

    /// Notes when it was decided to tell what is told next.
    pub(super) fn decide(&self, at_ns: u64) {
        // Relaxed: published by what is told next (N1).
        self.decided_ns.store(at_ns, Relaxed);
    }

    /// When it was decided to tell what was heard last.
    pub(super) fn decided_ns(&self) -> u64 {
        // Relaxed: seen since what was told after it was heard (N1).
        self.decided_ns.load(Relaxed)
    }

    /// Tells a number other than the one before, and not 0.
    #[inline]
    pub(super) fn tell(&self, number: u64) {
        // ORDERING(N1): Release, so that who hears sees what was decided.
        self.news.store(number, Release);
        match &self.bell {
            Bell::Cell(cell, _) => {
                let _whether_it_slept = cell.ring();
            }
            Bell::Eventfd(file) => send(file, &1_u64.to_ne_bytes()),
            Bell::Pipe { writer, .. } => send(writer, &number.to_ne_bytes()),
            Bell::Signal(thread) => {
                let thread = thread.get().expect("who hears listened first");
                pthread_kill(*thread, SIGNAL).expect("who hears has not ended");
            }
        }
    }

    /// Waits for the next number.
    #[inline]
    pub(super) fn hear(&self, ear: &mut Ear) -> u64 {
        // ORDERING(N1): Acquire, here and below: what was decided.
        let news = || self.news.load(Acquire);
        match &self.bell {
            Bell::Cell(cell, way) => {
                let last = ear.last;
                ear.budget.wait_until(cell, *way, || news() != last);
            }
            Bell::Eventfd(file) => {
                let _how_often = receive(file);
            }
            Bell::Pipe { reader, .. } => {
                let number = receive(reader);
                assert_eq!(number, news(), "another number came through the pipe");
            }
            Bell::Signal(_) => {
                SigSet::from(SIGNAL)
                    .wait()
                    .expect("a signal that there is can be waited for");
            }
        }
        ear.last = news();
        ear.last
    }
}

/// The file is ours and has room for one number.
fn send(file: &OwnedFd, bytes: &[u8]) {
    let written = retry_on_intr(|| write(file, bytes));
    assert_eq!(written, Ok(bytes.len()), "a file of our own takes a number");
}

fn receive(file: &OwnedFd) -> u64 {
    let mut bytes = [0; 8];
    let count = retry_on_intr(|| read(file, &mut bytes));
    assert_eq!(count, Ok(bytes.len()), "a file of our own gives a number");
    u64::from_ne_bytes(bytes)
}
