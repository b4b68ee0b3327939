//! The model side of [`prim`](super): `loom`.

use std::cell::Cell;
use std::ops::Sub;
use std::time::Duration;

pub use loom::cell::UnsafeCell;
pub use loom::hint::spin_loop;
pub use loom::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
pub use loom::sync::atomic::{
    AtomicBool, AtomicI64, AtomicIsize, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering,
    fence,
};
pub use loom::sync::{Mutex, mpsc};
pub use loom::thread::{self, yield_now};
pub use loom::thread_local;

/// How much time passes between two readings of the clock: more than anybody spins for.
const TICK: Duration = Duration::from_secs(1);

std::thread_local! {
    /// The time; only differences count, so that it may go on from one execution to the next.
    static NOW: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// A clock on which a second passes whenever somebody looks: in a model, waiting longer shows nothing new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(Duration);

impl Instant {
    /// The present.
    pub fn now() -> Self {
        Self(NOW.replace(NOW.get() + TICK))
    }

    /// The time that has passed since.
    pub fn elapsed(&self) -> Duration {
        Self::now() - *self
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

/// A model has as many CPUs as threads.
pub fn process_cpu_count() -> usize {
    usize::MAX
}

/// Nanoseconds of that clock, of which only differences count.
pub fn clock_ns() -> u64 {
    Instant::now();
    // What a model runs for is far below five hundred years.
    NOW.get().as_nanos() as u64
}

/// True when the thread has ended; loom does not tell.
pub fn has_ended<T>(_thread: &thread::JoinHandle<T>) -> bool {
    false
}

/// A number that threads may hand to each other and that loom watches: what user code would do with plain memory.
#[derive(Debug)]
pub struct Tracked(UnsafeCell<u32>);

// SAFETY: loom checks every access, and fails the model where two meet.
unsafe impl Sync for Tracked {}

impl Tracked {
    /// The number, not yet handed to anybody.
    pub fn new(number: u32) -> Self {
        Self(UnsafeCell::new(number))
    }

    /// Reads the number.
    pub fn get(&self) -> u32 {
        // SAFETY: loom sees to it that nobody writes meanwhile.
        self.0.with(|number| unsafe { *number })
    }

    /// Writes the number.
    pub fn set(&self, number: u32) {
        // SAFETY: loom sees to it that nobody else is there.
        self.0.with_mut(|place| unsafe { *place = number });
    }
}

/// The futex as a lock and a condition variable: comparing the word and going to sleep is one step.
///
/// The lock publishes nothing that the word does not: wakers take it only after their change of the word.
#[derive(Debug)]
pub struct Futex {
    word: AtomicU32,
    sleepers: loom::sync::Mutex<()>,
    woken: loom::sync::Condvar,
}

impl Futex {
    /// A futex whose word is `value`.
    pub fn new(value: u32) -> Self {
        Self {
            word: AtomicU32::new(value),
            sleepers: loom::sync::Mutex::new(()),
            woken: loom::sync::Condvar::new(),
        }
    }

    /// A model knows one process: as [`new`](Self::new).
    pub fn new_shared(value: u32) -> Self {
        Self::new(value)
    }

    /// The word; all transitions are made on it directly.
    pub fn word(&self) -> &AtomicU32 {
        &self.word
    }

    /// Sleeps while the word is `expected`; time does not pass in a model.
    pub fn wait(&self, expected: u32, _timeout: Option<Duration>) {
        let guard = self
            .sleepers
            .lock()
            .expect("no model panics under this lock");
        if self.word.load(Relaxed) == expected {
            drop(
                self.woken
                    .wait(guard)
                    .expect("no model panics under this lock"),
            );
        }
    }

    /// Wakes one thread that sleeps here, if there is one.
    pub fn wake_one(&self) {
        drop(
            self.sleepers
                .lock()
                .expect("no model panics under this lock"),
        );
        self.woken.notify_one();
    }
}
