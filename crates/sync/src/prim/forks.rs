//! Notices that this process was made by fork(2) of another one that had threads.
//!
//! A child process has a copy of all memory, and of the threads only the one that called fork(2). It is told by
//! pthread_atfork(3). A raw `clone` system call, and vfork(2), go unnoticed.

pub use side::{fork_count, watch_forks};

#[cfg(all(not(any(loom, shuttle, miri)), unix))]
mod side {
    use std::sync::atomic::{AtomicU64, Ordering};

    static FORKS: AtomicU64 = AtomicU64::new(0);

    extern "C" fn count() {
        // Relaxed: the process has one thread here.
        FORKS.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of forks that lie between this process and the one that began to [watch](watch_forks). Cost: a load.
    #[inline]
    pub fn fork_count() -> u64 {
        // Relaxed: it changes before a process has other threads.
        FORKS.load(Ordering::Relaxed)
    }

    /// Begins to count forks, and has each child process call `in_child` on its only thread before fork(2) returns there.
    ///
    /// To be called once. The number may grow by more than one with each fork if it is called again.
    ///
    /// # Safety
    /// `in_child` does nothing but what a signal handler may do: it takes no lock and allocates nothing.
    pub unsafe fn watch_forks(in_child: extern "C" fn()) {
        for call in [count, in_child] {
            // SAFETY: `count` is an atomic addition; for the other the caller answers.
            // A system without memory for the list of handlers goes without them.
            let _ = unsafe { libc::pthread_atfork(None, None, Some(call)) };
        }
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
    ///
    /// # Safety
    /// None is needed.
    pub unsafe fn watch_forks(_in_child: extern "C" fn()) {}
}
