//! The implementation of [`prim`](super) for models: `loom`.

use std::cell::Cell;
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

/// The nanoseconds between two readings of the clock: longer than any thread spins.
const TICK_NS: u64 = 1_000_000_000;

std::thread_local! {
    /// The current time in nanoseconds. Only differences matter, so it may continue from one
    /// execution to the next.
    static NOW_NS: Cell<u64> = const { Cell::new(0) };
}

/// Returns the maximum, because a model has as many CPUs as threads.
pub fn process_cpu_count() -> usize {
    usize::MAX
}

/// Returns `None`, because a model has no CPUs.
pub fn current_cpu() -> Option<usize> {
    None
}

/// Returns the time of the model's clock in nanoseconds. Only differences are meaningful.
///
/// Each reading advances it by a second. In a model, waiting longer shows nothing new.
pub fn clock_ns() -> u64 {
    NOW_NS.replace(NOW_NS.get() + TICK_NS)
}

/// Returns zero: a model takes no CPU time.
pub fn thread_cpu_time() -> Duration {
    Duration::ZERO
}

/// Returns false, because loom does not tell whether a thread has ended.
pub fn has_ended<T>(_thread: &thread::JoinHandle<T>) -> bool {
    false
}

/// A number that threads may hand over to each other, checked by loom: it stands for plain memory
/// of a user.
#[derive(Debug)]
pub struct Tracked(UnsafeCell<u32>);

// SAFETY: loom checks every access, and fails the model if two of them conflict.
unsafe impl Sync for Tracked {}

impl Tracked {
    /// Creates the number, which no other thread has yet.
    pub fn new(number: u32) -> Self {
        Self(UnsafeCell::new(number))
    }

    /// Reads the number.
    pub fn get(&self) -> u32 {
        // SAFETY: loom checks that no thread writes meanwhile.
        self.0.with(|number| unsafe { *number })
    }

    /// Writes the number.
    pub fn set(&self, number: u32) {
        // SAFETY: loom checks that no other thread accesses the number meanwhile.
        self.0.with_mut(|place| unsafe { *place = number });
    }
}

/// A futex made of a lock and a condition variable: comparing the word and going to sleep are one
/// step.
///
/// The lock publishes nothing beyond what the word publishes, because wakers take it only after
/// they have changed the word.
#[derive(Debug)]
pub struct Futex {
    word: AtomicU32,
    sleepers: loom::sync::Mutex<()>,
    woken: loom::sync::Condvar,
}

impl Futex {
    /// Creates a futex with the word `value`.
    pub fn new(value: u32) -> Self {
        Self {
            word: AtomicU32::new(value),
            sleepers: loom::sync::Mutex::new(()),
            woken: loom::sync::Condvar::new(),
        }
    }

    /// Does the same as [`new`](Self::new), because a model has only one process.
    pub fn new_shared(value: u32) -> Self {
        Self::new(value)
    }

    /// Returns the word. All transitions are made on it directly.
    pub fn word(&self) -> &AtomicU32 {
        &self.word
    }

    /// Sleeps while the word is `expected`. There is no timeout, because time does not pass in a
    /// model.
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
