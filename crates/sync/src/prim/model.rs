//! The model side of [`prim`](super): `loom`.

use std::time::Duration;

pub use loom::cell::UnsafeCell;
pub use loom::hint::spin_loop;
pub use loom::sync::Mutex;
pub use loom::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
pub use loom::sync::atomic::{
    AtomicBool, AtomicI64, AtomicIsize, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering,
    fence,
};
pub use loom::thread::yield_now;

/// The futex as a lock and a condition variable: comparing the word and going to sleep is one step.
///
/// The lock publishes nothing that the word does not: wakers take it only after their change of the word.
#[derive(Debug)]
pub struct Futex {
    word: AtomicU32,
    sleepers: loom::sync::Mutex<()>,
    woken: loom::sync::Condvar,
}

impl Futex {
    /// A futex whose word is `value`.
    pub fn new(value: u32) -> Self {
        Self {
            word: AtomicU32::new(value),
            sleepers: loom::sync::Mutex::new(()),
            woken: loom::sync::Condvar::new(),
        }
    }

    /// The word; all transitions are made on it directly.
    pub fn word(&self) -> &AtomicU32 {
        &self.word
    }

    /// Sleeps while the word is `expected`; time does not pass in a model.
    pub fn wait(&self, expected: u32, _timeout: Option<Duration>) {
        let guard = self
            .sleepers
            .lock()
            .expect("no model panics under this lock");
        if self.word.load(Relaxed) == expected {
            drop(
                self.woken
                    .wait(guard)
                    .expect("no model panics under this lock"),
            );
        }
    }

    /// Wakes one thread that sleeps here, if there is one.
    pub fn wake_one(&self) {
        drop(
            self.sleepers
                .lock()
                .expect("no model panics under this lock"),
        );
        self.woken.notify_one();
    }
}
