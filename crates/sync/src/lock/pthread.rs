//! The Pthreads mutex, as the C library has it.
//!
//! A waiter sleeps in the kernel. The state of the mutex is the C library's: POSIX allows neither to move
//! a mutex that was used, nor to destroy one that is locked. So it lies on the heap, where the first use
//! makes it, and a lock that goes while its mutex is locked leaves that there.
//!
//! Its kind is the normal one, with which a thread that locks what it has waits for ever. With the default
//! kind POSIX leaves open what happens, and a C library may let the thread in.
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

/// The mutex. It stays where it is: only its box moves.
struct Mutex(UnsafeCell<libc::pthread_mutex_t>);

// SAFETY: a mutex is made to be used by many threads.
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
    /// A free lock.
    pub const fn new() -> Self {
        Self {
            mutex: OnceLock::new(),
        }
    }

    /// The mutex, for a call of the C library. Cost: a load; the first time, an allocation.
    #[inline]
    fn mutex(&self) -> *mut libc::pthread_mutex_t {
        self.mutex.get_or_init(Mutex::new).0.get()
    }
}

impl Mutex {
    /// A free mutex.
    #[cold]
    fn new() -> Box<Self> {
        let mutex = Box::new(Self(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER)));
        let mut kind = MaybeUninit::uninit();
        // SAFETY: room for attributes, which it initialises.
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
        // SAFETY: initialised, and where it has been from the start.
        if unsafe { libc::pthread_mutex_trylock(mutex.0.get()) } != 0 {
            // One whose guard was forgotten is locked for ever, and must not be destroyed.
            mem::forget(mutex);
            return;
        }
        // SAFETY: we have it.
        unsafe { libc::pthread_mutex_unlock(mutex.0.get()) };
        // SAFETY: no thread has it, nor can: we own it.
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
    panic!("a mutex of the normal kind is made and locked without errors; found error {error}")
}

// SAFETY: mutual exclusion, and the ordering of memory, are what POSIX promises.
unsafe impl Lock for PthreadLock {
    #[inline]
    fn lock(&self) {
        // SAFETY: initialised, and where it has been from the start. A thread that has it waits for ever.
        expect_none(unsafe { libc::pthread_mutex_lock(self.mutex()) });
    }

    #[inline]
    fn try_lock(&self) -> bool {
        // SAFETY: as in `lock`.
        unsafe { libc::pthread_mutex_trylock(self.mutex()) == 0 }
    }

    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: the caller has it (contract).
        let failed = unsafe { libc::pthread_mutex_unlock(self.mutex()) };
        debug_assert_eq!(failed, 0, "the holder unlocks without errors");
    }
}
