//! The Pthreads mutex of the C library.
//!
//! A waiter sleeps in the kernel. The state of the mutex belongs to the C library. POSIX does not
//! allow to move a mutex that was used, or to destroy one that is locked. The mutex is therefore on
//! the heap, where the first use creates it. A lock that is dropped while its mutex is locked leaks
//! the mutex.
//!
//! The mutex is of the normal kind: a thread that locks a mutex that it holds waits for ever. For
//! the default kind, POSIX leaves the behaviour undefined, and a C library might let the thread in.
//!
//! # Source
//! POSIX.1-2017, `pthread_mutex_lock`, `pthread_mutexattr_settype`, `pthread_mutex_destroy`.

use std::cell::UnsafeCell;
use std::fmt;
use std::mem::{self, MaybeUninit};
use std::sync::OnceLock;

use super::Lock;

/// A `pthread_mutex_t` of the normal kind.
#[derive(Default)]
pub struct PthreadLock {
    mutex: OnceLock<Box<Mutex>>,
}

/// The mutex. It never moves; only its box does.
struct Mutex(UnsafeCell<libc::pthread_mutex_t>);

// SAFETY: a mutex is designed to be used by many threads.
unsafe impl Send for Mutex {}
// SAFETY: as above.
unsafe impl Sync for Mutex {}

impl fmt::Debug for PthreadLock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PthreadLock")
            .finish_non_exhaustive()
    }
}

impl PthreadLock {
    /// Creates a free lock.
    pub const fn new() -> Self {
        Self {
            mutex: OnceLock::new(),
        }
    }

    /// Returns the mutex for a call of the C library. Costs a load, and the first time an
    /// allocation.
    #[inline]
    fn mutex(&self) -> *mut libc::pthread_mutex_t {
        self.mutex.get_or_init(Mutex::new).0.get()
    }
}

impl Mutex {
    /// Creates a free mutex.
    #[cold]
    fn new() -> Box<Self> {
        let mutex = Box::new(Self(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER)));
        let mut kind = MaybeUninit::uninit();
        // SAFETY: memory for the attributes, which the call initialises.
        expect_none(unsafe { libc::pthread_mutexattr_init(kind.as_mut_ptr()) });
        // SAFETY: initialised above.
        expect_none(unsafe {
            libc::pthread_mutexattr_settype(kind.as_mut_ptr(), libc::PTHREAD_MUTEX_NORMAL)
        });
        // SAFETY: the mutex was not used yet, and the attributes are initialised.
        expect_none(unsafe { libc::pthread_mutex_init(mutex.0.get(), kind.as_ptr()) });
        // SAFETY: initialised above, and not used again.
        expect_none(unsafe { libc::pthread_mutexattr_destroy(kind.as_mut_ptr()) });
        mutex
    }
}

impl Drop for PthreadLock {
    fn drop(&mut self) {
        let Some(mutex) = self.mutex.take() else {
            return;
        };
        // SAFETY: the mutex is initialised, and has never moved.
        if unsafe { libc::pthread_mutex_trylock(mutex.0.get()) } != 0 {
            // The guard of this mutex was forgotten. It stays locked for ever, and must not be
            // destroyed.
            mem::forget(mutex);
            return;
        }
        // SAFETY: this thread holds the mutex.
        unsafe { libc::pthread_mutex_unlock(mutex.0.get()) };
        // SAFETY: no thread holds or can get the mutex, because this function owns it.
        unsafe { libc::pthread_mutex_destroy(mutex.0.get()) };
    }
}

#[inline]
fn expect_none(error: libc::c_int) {
    if error != 0 {
        fail(error);
    }
}

#[cold]
fn fail(error: libc::c_int) -> ! {
    panic!("a normal mutex is created and locked without errors; found error {error}")
}

// SAFETY: POSIX guarantees mutual exclusion and the memory ordering.
unsafe impl Lock for PthreadLock {
    #[inline]
    fn lock(&self) {
        // SAFETY: the mutex is initialised, and has never moved. A thread that holds it waits for
        // ever.
        expect_none(unsafe { libc::pthread_mutex_lock(self.mutex()) });
    }

    #[inline]
    fn try_lock(&self) -> bool {
        // SAFETY: as in `lock`.
        unsafe { libc::pthread_mutex_trylock(self.mutex()) == 0 }
    }

    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: the caller holds the mutex (contract).
        let failed = unsafe { libc::pthread_mutex_unlock(self.mutex()) };
        debug_assert_eq!(failed, 0, "the holder unlocks without errors");
    }
}
