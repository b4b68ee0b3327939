//! The production implementation of [`prim`](super): `std` and the kernel's futex.

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

use super::fine_timer::FineTimer;

/// Returns true if the thread has ended, so that joining it takes no time.
pub fn has_ended<T>(thread: &thread::JoinHandle<T>) -> bool {
    thread.is_finished()
}

/// A cell that gives access to its content by raw pointers, with the same interface as that of
/// loom.
#[derive(Debug, Default)]
pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// Wraps `value`.
    pub const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// Returns the content.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }

    /// Calls `read` with a pointer that may be read through while no other thread writes.
    #[inline]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    /// Calls `write` with a pointer that may be written through while no other thread accesses the
    /// cell.
    #[inline]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}

/// Returns the number of CPUs that the threads of this process may use together, regardless of the
/// CPUs that the calling thread is bound to.
///
/// This is the number that the first thread may use, or that the calling thread may use if that is
/// more. A limit on CPU time by control groups counts if the calling thread is not bound. In a
/// bound thread, `available_parallelism` alone would return 1.
pub fn process_cpu_count() -> usize {
    use rustix::thread::sched_getaffinity;
    let count_of = |thread| sched_getaffinity(thread).map(|cpus| cpus.count() as usize);
    let allowed = std::thread::available_parallelism().map_or(1, usize::from);
    match count_of(None) {
        Ok(of_this) if allowed >= of_this => {
            // The id of a process is also the id of its first thread.
            of_this.max(count_of(Some(rustix::process::getpid())).unwrap_or(1))
        }
        // If a filter of system calls refuses the affinity mask, the standard library counts in
        // another way.
        _ => allowed,
    }
}

/// Returns the number of the CPU on which the current thread runs, if the system tells it cheaply.
/// The thread may run elsewhere a moment later.
pub fn current_cpu() -> Option<usize> {
    #[cfg(all(target_os = "linux", not(miri)))]
    return Some(rustix::thread::sched_getcpu());
    #[cfg(not(all(target_os = "linux", not(miri))))]
    None
}

/// Returns nanoseconds on a clock that all processes of the machine share, and that never goes
/// backwards.
#[cfg(target_os = "linux")]
pub fn clock_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    // The clock starts with the machine, so neither part is negative.
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Returns the CPU time that the calling thread has used. Unlike the time that has passed, it does
/// not grow while another thread runs instead. Cost: about 0.2 µs, on some systems a system call.
pub fn thread_cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    // The clock starts with the thread, so neither part is negative.
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// A word on which threads sleep in the kernel until it is changed and they are woken.
///
/// In memory that several processes share, the futex must be created by
/// [`new_shared`](Self::new_shared), and the kernel then takes a little longer to find it. On
/// Linux, a wake without a sleeper costs a system call (about 0.2 µs). After a wake with a sleeper,
/// the sleeper takes 5 to 50 µs to run again.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Futex {
    word: AtomicU32,
    /// True if several processes share the futex; never changes.
    is_shared: bool,
}

impl Futex {
    /// Creates a futex with the word `value`.
    pub const fn new(value: u32) -> Self {
        Self {
            word: AtomicU32::new(value),
            is_shared: false,
        }
    }

    /// Creates a futex with the word `value`, in memory that several processes share.
    pub const fn new_shared(value: u32) -> Self {
        Self {
            word: AtomicU32::new(value),
            is_shared: true,
        }
    }

    /// Returns the word. All transitions are made on it directly.
    #[inline]
    pub fn word(&self) -> &AtomicU32 {
        &self.word
    }

    /// Sleeps while the word is `expected`, for at most `timeout`.
    ///
    /// May also return because of a signal or a spurious wake-up, so callers loop.
    pub fn wait(&self, expected: u32, timeout: Option<Duration>) {
        use rustix::thread::futex;
        let _fine_timer = timeout.and_then(FineTimer::for_timeout);
        let timeout = timeout.map(|duration| futex::Timespec {
            tv_sec: duration.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: duration.subsec_nanos().into(),
        });
        // Every outcome (woken, word changed, interrupted, timed out) means that the caller checks
        // again.
        let _ = futex::wait(&self.word, self.flags(), expected, timeout.as_ref());
    }

    /// Wakes one thread that sleeps here, if there is one.
    pub fn wake_one(&self) {
        // The call cannot fail for this futex, because its word is mapped and aligned.
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
