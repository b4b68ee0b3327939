//! The Pthreads mutex, as the C library has it.
//!
//! Who waits sleeps in the kernel. Its state is the C library's. The default kind, which glibc and musl treat as the normal one,
//! holds no pointer to itself, so that it may be moved.
//!
//! # Source
//! POSIX.1-2017, `pthread_mutex_lock`.

use std::cell::UnsafeCell;
use std::fmt;

use super::Lock;

/// A `pthread_mutex_t` of the default kind.
pub struct PthreadLock {
    mutex: UnsafeCell<libc::pthread_mutex_t>,
}

// SAFETY: a mutex is made to be used by many threads.
unsafe impl Send for PthreadLock {}
// SAFETY: as above.
unsafe impl Sync for PthreadLock {}

impl fmt::Debug for PthreadLock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PthreadLock")
            .finish_non_exhaustive()
    }
}

impl Default for PthreadLock {
    fn default() -> Self {
        Self::new()
    }
}

impl PthreadLock {
    /// A free lock.
    pub const fn new() -> Self {
        Self {
            mutex: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
        }
    }
}

impl Drop for PthreadLock {
    fn drop(&mut self) {
        // One whose guard was forgotten is locked for ever: POSIX forbids to destroy it, and there is nothing to free.
        if self.try_lock() {
            // SAFETY: we have it.
            unsafe { self.unlock() };
            // SAFETY: nobody has it, nor can: we own it.
            unsafe { libc::pthread_mutex_destroy(self.mutex.get()) };
        }
    }
}

#[cold]
fn fail(error: libc::c_int) -> ! {
    panic!("a mutex of the default kind is locked without errors; found error {error}")
}

// SAFETY: mutual exclusion, and the ordering of memory, are what POSIX promises.
unsafe impl Lock for PthreadLock {
    #[inline]
    fn lock(&self) {
        // SAFETY: initialised. Who has it already waits for ever, on the systems that we know.
        let failed = unsafe { libc::pthread_mutex_lock(self.mutex.get()) };
        if failed != 0 {
            fail(failed);
        }
    }

    #[inline]
    fn try_lock(&self) -> bool {
        // SAFETY: initialised.
        unsafe { libc::pthread_mutex_trylock(self.mutex.get()) == 0 }
    }

    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: the caller has it (contract).
        let failed = unsafe { libc::pthread_mutex_unlock(self.mutex.get()) };
        debug_assert_eq!(failed, 0, "the holder unlocks without errors");
    }
}
