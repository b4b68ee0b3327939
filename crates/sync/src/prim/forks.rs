//! Detects that this process was created by fork(2) from a process that may have had other threads.
//!
//! A child process has a copy of all memory, but only one thread: the one that called fork(2).
//! pthread_atfork(3) reports a fork. A raw `clone` system call and vfork(2) are not detected.

pub use side::{call_in_children, count_forks, default_signals_in_children, fork_count};

#[cfg(all(not(any(loom, shuttle, miri)), unix))]
mod side {
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    /// The signals that have their default effect in child processes, one bit each.
    static DEFAULT_SIGNALS: AtomicU64 = AtomicU64::new(0);
    static FORKS: AtomicU64 = AtomicU64::new(0);

    extern "C" fn count() {
        // Relaxed: the process has one thread here.
        FORKS.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns a number that is larger in each process that fork(2) creates, from the first call of
    /// [`count_forks`] on. Costs a load.
    #[inline]
    pub fn fork_count() -> u64 {
        // Relaxed: the number changes before a process has other threads.
        FORKS.load(Ordering::Relaxed)
    }

    /// Starts to count forks, unless counting has started already.
    pub fn count_forks() {
        static IS_COUNTING: AtomicBool = AtomicBool::new(false);
        // Relaxed: if two threads start, each fork counts twice, which is harmless.
        if !IS_COUNTING.load(Ordering::Relaxed) {
            // SAFETY: an atomic addition.
            unsafe { call_in_children(count) };
            // Relaxed: as above.
            IS_COUNTING.store(true, Ordering::Relaxed);
        }
    }

    extern "C" fn restore_defaults() {
        // Relaxed: the process has one thread here.
        let mut signals = DEFAULT_SIGNALS.load(Ordering::Relaxed);
        while signals != 0 {
            let signal = signals.trailing_zeros() as libc::c_int;
            // SAFETY: a signal handler may call it, and the default effect needs no function.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
            signals &= signals - 1;
        }
    }

    /// Gives signals, with numbers below 64, their default effect in each child process: there, the
    /// thread does not exist that a handler of this process relies on.
    pub fn default_signals_in_children(signals: &[i32]) {
        let bits = signals
            .iter()
            .fold(0, |bits, signal| bits | 1 << (signal & 63));
        // Relaxed: the child has a copy.
        if DEFAULT_SIGNALS.swap(bits, Ordering::Relaxed) == 0 {
            // SAFETY: `restore_defaults` reads an atomic and sets signals.
            unsafe { call_in_children(restore_defaults) };
        }
    }

    /// Makes each child process call `call` on its only thread before fork(2) returns there.
    ///
    /// # Safety
    /// `call` does only what a signal handler may do: it takes no lock and allocates no memory.
    pub unsafe fn call_in_children(call: extern "C" fn()) {
        // If the system has no memory for the list of calls, forks are not detected.
        // SAFETY: the contract of this function restricts `call`.
        let _ = unsafe { libc::pthread_atfork(None, None, Some(call)) };
    }
}

#[cfg(any(loom, shuttle, miri, not(unix)))]
mod side {
    /// Returns 0, because forks are not detected here.
    #[inline]
    pub fn fork_count() -> u64 {
        0
    }

    /// Does nothing, because forks are not detected here.
    pub fn count_forks() {}

    /// Does nothing, because forks are not detected here.
    pub fn default_signals_in_children(_signals: &[i32]) {}

    /// Does nothing, because forks are not detected here.
    ///
    /// # Safety
    /// Always safe to call.
    pub unsafe fn call_in_children(_call: extern "C" fn()) {}
}
