//! The implementation of [`prim`](super) for seeded schedules: `shuttle`.
//!
//! Everything random here (how time passes, whether a timeout comes first) is drawn from the seed
//! of the schedule, so that a schedule can be run again.

use std::cell::Cell;
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

/// The possible times between two readings of the clock, shorter and longer than a wake-up takes.
const TICKS_NS: [u64; 4] = [100, 2_000, 30_000, 500_000];
/// The inverse of the probability that a wait with a timeout times out at once.
const TIMEOUT_ONE_IN: u64 = 4;

fn random_below(limit: u64) -> u64 {
    thread_rng().next_u64() % limit
}

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
/// Each reading advances it by a random time.
pub fn clock_ns() -> u64 {
    let tick = TICKS_NS[random_below(TICKS_NS.len() as u64) as usize];
    NOW_NS.replace(NOW_NS.get() + tick)
}

/// Returns zero: a model takes no CPU time.
pub fn thread_cpu_time() -> Duration {
    Duration::ZERO
}

/// Returns false, because shuttle does not tell whether a thread has ended.
pub fn has_ended<T>(_thread: &thread::JoinHandle<T>) -> bool {
    false
}

/// A cell that panics if two threads access it and one of them writes.
#[derive(Debug, Default)]
pub struct UnsafeCell<T> {
    content: std::cell::UnsafeCell<T>,
    /// The number of readers, or -1 for a writer.
    users: Cell<isize>,
    /// Loaded during an access, so that the schedule may switch to other threads.
    switch_point: AtomicBool,
}

impl<T> UnsafeCell<T> {
    /// Wraps `value`.
    pub const fn new(value: T) -> Self {
        Self {
            content: std::cell::UnsafeCell::new(value),
            users: Cell::new(0),
            switch_point: AtomicBool::new(false),
        }
    }

    /// Returns the content.
    pub fn into_inner(self) -> T {
        self.content.into_inner()
    }

    /// Calls `read` with a pointer that may be read through while no other thread writes.
    ///
    /// # Panics
    /// If another thread writes.
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        assert!(self.users.get() >= 0, "read while another thread writes");
        let _access = self.begin_access(1);
        read(self.content.get())
    }

    /// Calls `write` with a pointer that may be written through while no other thread accesses the
    /// cell.
    ///
    /// # Panics
    /// If another thread reads or writes.
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        assert!(
            self.users.get() == 0,
            "written while another thread accesses the cell"
        );
        let _access = self.begin_access(-1);
        write(self.content.get())
    }

    fn begin_access(&self, change: isize) -> impl Drop {
        struct Access<'a>(&'a Cell<isize>, isize);
        impl Drop for Access<'_> {
            fn drop(&mut self) {
                self.0.set(self.0.get() - self.1);
            }
        }
        self.users.set(self.users.get() + change);
        let access = Access(&self.users, change);
        self.switch_point.load(SeqCst);
        access
    }
}

/// A mutex that is never poisoned. One system thread runs all threads of a schedule, so it is
/// unknown which of them panics.
#[derive(Debug, Default)]
pub struct Mutex<T>(shuttle::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// Creates a mutex that protects `value`.
    pub const fn new(value: T) -> Self {
        Self(shuttle::sync::Mutex::new(value))
    }

    /// Locks the mutex.
    ///
    /// # Errors
    /// Never fails. The type is that of the standard library.
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Locks the mutex if no other thread holds it.
    ///
    /// # Errors
    /// If another thread holds the mutex.
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            result => result,
        }
    }

    /// Returns the value. No other thread can hold the mutex.
    ///
    /// # Errors
    /// Never fails. The type is that of the standard library.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        Ok(self.0.get_mut().unwrap_or_else(PoisonError::into_inner))
    }

    /// Consumes the mutex and returns the value.
    ///
    /// # Errors
    /// Never fails. The type is that of the standard library.
    pub fn into_inner(self) -> LockResult<T> {
        Ok(self.0.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A futex made of a lock and a condition variable: comparing the word and going to sleep are one
/// step.
#[derive(Debug)]
pub struct Futex {
    word: AtomicU32,
    sleepers: shuttle::sync::Mutex<()>,
    woken: Condvar,
}

impl Futex {
    /// Creates a futex with the word `value`.
    pub const fn new(value: u32) -> Self {
        Self {
            word: AtomicU32::new(value),
            sleepers: shuttle::sync::Mutex::new(()),
            woken: Condvar::new(),
        }
    }

    /// Does the same as [`new`](Self::new), because a model has only one process.
    pub const fn new_shared(value: u32) -> Self {
        Self::new(value)
    }

    /// Returns the word. All transitions are made on it directly.
    pub fn word(&self) -> &AtomicU32 {
        &self.word
    }

    /// Sleeps while the word is `expected`. If there is a timeout, it may come first at random.
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
