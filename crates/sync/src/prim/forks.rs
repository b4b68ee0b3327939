//! Notices that this process was made by fork(2) of another one that had threads.
//!
//! A child process has a copy of all memory, and of the threads only the one that called fork(2).
//! It is told by pthread_atfork(3). A raw `clone` system call, and vfork(2), go unnoticed.

pub use side::{call_in_children, count_forks, fork_count};

#[cfg(all(not(any(loom, shuttle, miri)), unix))]
mod side {
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    static FORKS: AtomicU64 = AtomicU64::new(0);

    extern "C" fn count() {
        // Relaxed: the process has one thread here.
        FORKS.fetch_add(1, Ordering::Relaxed);
    }

    /// A number that is larger in each process that fork(2) makes, from the first call of
    /// [`count_forks`] on. Cost: a load.
    #[inline]
    pub fn fork_count() -> u64 {
        // Relaxed: it changes before a process has other threads.
        FORKS.load(Ordering::Relaxed)
    }

    /// Begins to count forks, if that has not begun.
    pub fn count_forks() {
        static IS_COUNTING: AtomicBool = AtomicBool::new(false);
        // Relaxed: where two threads begin, a fork counts twice, which does no harm.
        if !IS_COUNTING.load(Ordering::Relaxed) {
            // SAFETY: an atomic addition.
            unsafe { call_in_children(count) };
            // Relaxed: as above.
            IS_COUNTING.store(true, Ordering::Relaxed);
        }
    }

    /// Has each child process call `call` on its only thread before fork(2) returns there.
    ///
    /// # Safety
    /// `call` does nothing but what a signal handler may do: it takes no lock and allocates
    /// nothing.
    pub unsafe fn call_in_children(call: extern "C" fn()) {
        // A system that has no memory for the list of calls goes without.
        // SAFETY: the caller answers for `call`.
        let _ = unsafe { libc::pthread_atfork(None, None, Some(call)) };
    }
}

#[cfg(any(loom, shuttle, miri, not(unix)))]
mod side {
    /// There are no forks here.
    #[inline]
    pub fn fork_count() -> u64 {
        0
    }

    /// There are no forks here.
    pub fn count_forks() {}

    /// There are no forks here.
    ///
    /// # Safety
    /// None is needed.
    pub unsafe fn call_in_children(_call: extern "C" fn()) {}
}
