//! The production side of [`prim`](super): `std` and the kernel's futex.

use std::time::Duration;

pub use std::hint::spin_loop;
pub use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
pub use std::sync::atomic::{
    AtomicBool, AtomicI64, AtomicIsize, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering,
    fence,
};
pub use std::sync::{Mutex, mpsc};
pub use std::thread::{self, yield_now};
pub use std::thread_local;
pub use std::time::Instant;

use super::fine_timer::FineTimer;

/// True when the thread has ended, so that joining it takes no time.
pub fn has_ended<T>(thread: &thread::JoinHandle<T>) -> bool {
    thread.is_finished()
}

/// A cell whose content is reached through raw pointers; the same shape as loom's.
#[derive(Debug, Default)]
pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// Wraps `value`.
    pub const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// Takes the content out.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }

    /// Calls `read` with a pointer that may be read through while no one writes.
    #[inline]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    /// Calls `write` with a pointer that may be written through while no one else touches the cell.
    #[inline]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}

/// How many CPUs the threads of this process may use together, whatever the calling thread is bound to.
///
/// That is what its first thread may use, or the calling one if that is more. A share of time that control groups allow counts where the calling thread is not
/// bound; `available_parallelism` alone says 1 in every thread that is.
pub fn process_cpu_count() -> usize {
    use rustix::thread::sched_getaffinity;
    let count_of = |thread| sched_getaffinity(thread).map(|cpus| cpus.count() as usize);
    let allowed = std::thread::available_parallelism().map_or(1, usize::from);
    match count_of(None) {
        Ok(of_this) if allowed >= of_this => {
            // A process has the number of its first thread.
            of_this.max(count_of(Some(rustix::process::getpid())).unwrap_or(1))
        }
        // Where a filter of system calls refuses the mask, the standard library counts otherwise.
        _ => allowed,
    }
}

/// Nanoseconds on a clock that all processes of the machine share, and that never goes back.
#[cfg(target_os = "linux")]
pub fn clock_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    // The clock counts from the start of the machine: neither part is negative.
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// A word in which threads sleep in the kernel until it is changed and they are woken.
///
/// In memory that several processes share it must be made as such; the kernel takes a little longer to find it then.
/// Cost here and on Linux in general: a wake without a sleeper is a system call (about 0.2 µs), a wake
/// with one takes the sleeper 5 to 50 µs to run again.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Futex {
    word: AtomicU32,
    /// Whether several processes share it; never changes.
    is_shared: bool,
}

impl Futex {
    /// A futex whose word is `value`.
    pub const fn new(value: u32) -> Self {
        Self {
            word: AtomicU32::new(value),
            is_shared: false,
        }
    }

    /// A futex whose word is `value`, for memory that several processes share.
    pub const fn new_shared(value: u32) -> Self {
        Self {
            word: AtomicU32::new(value),
            is_shared: true,
        }
    }

    /// The word; all transitions are made on it directly.
    #[inline]
    pub fn word(&self) -> &AtomicU32 {
        &self.word
    }

    /// Sleeps while the word is `expected`, at most `timeout` long.
    ///
    /// Returns also when a signal or a stray wake-up comes: callers loop.
    pub fn wait(&self, expected: u32, timeout: Option<Duration>) {
        use rustix::thread::futex;
        let _fine_timer = timeout.and_then(FineTimer::for_timeout);
        let timeout = timeout.map(|duration| futex::Timespec {
            tv_sec: duration.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: duration.subsec_nanos().into(),
        });
        // Every outcome (woken, word changed, interrupted, timed out) means: look again.
        let _ = futex::wait(&self.word, self.flags(), expected, timeout.as_ref());
    }

    /// Wakes one thread that sleeps here, if there is one.
    pub fn wake_one(&self) {
        // The call fails on no futex of our own: the word is mapped and aligned.
        let _ = rustix::thread::futex::wake(&self.word, self.flags(), 1);
    }

    fn flags(&self) -> rustix::thread::futex::Flags {
        if self.is_shared {
            rustix::thread::futex::Flags::empty()
        } else {
            rustix::thread::futex::Flags::PRIVATE
        }
    }
}
