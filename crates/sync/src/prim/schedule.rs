//! The side of [`prim`](super) for seeded schedules: `shuttle`.
//!
//! Whatever is left to chance here (how time passes, whether a timeout comes first) is drawn from the schedule's seed, so
//! that a schedule can be run again.

use std::cell::Cell;
use std::ops::Sub;
use std::time::Duration;

use shuttle::rand::{RngCore, thread_rng};
use shuttle::sync::{Condvar, LockResult, MutexGuard, PoisonError, TryLockError, TryLockResult};

pub use shuttle::hint::spin_loop;
pub use shuttle::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
pub use shuttle::sync::atomic::{
    AtomicBool, AtomicI64, AtomicIsize, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering,
    fence,
};
pub use shuttle::sync::mpsc;
pub use shuttle::thread::{self, yield_now};
pub use shuttle::thread_local;

/// What may pass between two readings of the clock: less and more than a wake-up costs.
const TICKS_NS: [u64; 4] = [100, 2_000, 30_000, 500_000];
/// One wait with a timeout in so many ends by it at once.
const TIMEOUT_ONE_IN: u64 = 4;

fn random_below(limit: u64) -> u64 {
    thread_rng().next_u64() % limit
}

std::thread_local! {
    /// The time; only differences count, so that it may go on from one execution to the next.
    static NOW: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// A clock that moves by chance whenever somebody looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(Duration);

impl Instant {
    /// The present.
    pub fn now() -> Self {
        let tick = TICKS_NS[random_below(TICKS_NS.len() as u64) as usize];
        Self(NOW.replace(NOW.get() + Duration::from_nanos(tick)))
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

/// True when the thread has ended; shuttle does not tell.
pub fn has_ended<T>(_thread: &thread::JoinHandle<T>) -> bool {
    false
}

/// A cell that complains when two threads are in it and one of them writes.
#[derive(Debug, Default)]
pub struct UnsafeCell<T> {
    content: std::cell::UnsafeCell<T>,
    /// Readers, or -1 for a writer.
    users: Cell<isize>,
    /// Looked at while somebody is inside, so that others can come.
    door: AtomicBool,
}

impl<T> UnsafeCell<T> {
    /// Wraps `value`.
    pub const fn new(value: T) -> Self {
        Self {
            content: std::cell::UnsafeCell::new(value),
            users: Cell::new(0),
            door: AtomicBool::new(false),
        }
    }

    /// Takes the content out.
    pub fn into_inner(self) -> T {
        self.content.into_inner()
    }

    /// Calls `read` with a pointer that may be read through while no one writes.
    ///
    /// # Panics
    /// When somebody writes.
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        assert!(self.users.get() >= 0, "read while somebody writes");
        let _leave = self.enter(1);
        read(self.content.get())
    }

    /// Calls `write` with a pointer that may be written through while no one else touches the cell.
    ///
    /// # Panics
    /// When somebody reads or writes.
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        assert!(self.users.get() == 0, "written while somebody is there");
        let _leave = self.enter(-1);
        write(self.content.get())
    }

    fn enter(&self, change: isize) -> impl Drop {
        struct Leave<'a>(&'a Cell<isize>, isize);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.set(self.0.get() - self.1);
            }
        }
        self.users.set(self.users.get() + change);
        let leave = Leave(&self.users, change);
        self.door.load(SeqCst);
        leave
    }
}

/// A mutex that is never poisoned: one thread of the system runs all threads of a schedule, and cannot say which panics.
#[derive(Debug, Default)]
pub struct Mutex<T>(shuttle::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// A mutex that protects `value`.
    pub const fn new(value: T) -> Self {
        Self(shuttle::sync::Mutex::new(value))
    }

    /// Locks the mutex.
    ///
    /// # Errors
    /// None; the type is that of the standard library.
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Locks the mutex, unless somebody has it.
    ///
    /// # Errors
    /// When somebody has it.
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            result => result,
        }
    }

    /// Returns the value, which no other thread can have.
    ///
    /// # Errors
    /// None; the type is that of the standard library.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        Ok(self.0.get_mut().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes the value out.
    ///
    /// # Errors
    /// None; the type is that of the standard library.
    pub fn into_inner(self) -> LockResult<T> {
        Ok(self.0.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The futex as a lock and a condition variable: comparing the word and going to sleep is one step.
#[derive(Debug)]
pub struct Futex {
    word: AtomicU32,
    sleepers: shuttle::sync::Mutex<()>,
    woken: Condvar,
}

impl Futex {
    /// A futex whose word is `value`.
    pub const fn new(value: u32) -> Self {
        Self {
            word: AtomicU32::new(value),
            sleepers: shuttle::sync::Mutex::new(()),
            woken: Condvar::new(),
        }
    }

    /// A model knows one process: as [`new`](Self::new).
    pub const fn new_shared(value: u32) -> Self {
        Self::new(value)
    }

    /// The word; all transitions are made on it directly.
    pub fn word(&self) -> &AtomicU32 {
        &self.word
    }

    /// Sleeps while the word is `expected`; where there is a timeout, chance says whether it comes first.
    pub fn wait(&self, expected: u32, timeout: Option<Duration>) {
        if timeout.is_some() && random_below(TIMEOUT_ONE_IN) == 0 {
            return;
        }
        let guard = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        if self.word.load(Relaxed) == expected {
            drop(self.woken.wait(guard));
        }
    }

    /// Wakes one thread that sleeps here, if there is one.
    pub fn wake_one(&self) {
        drop(self.sleepers.lock());
        self.woken.notify_one();
    }
}
