//! The FIFO of a location: the order in which requests to read or write the location are granted.
//!
//! A request is put in, granted when its turn comes, and released. Adjacent readers are granted
//! together. A writer is granted alone. No request is granted before those in front of it.
//!
//! One word decides all of this. It counts the requests that were put in and the requests that were
//! released, and it records the position of the last writer. Each request has a threshold, a number
//! of releases from which on it is granted:
//!
//! - The threshold of a writer is the number of requests that were in front of it.
//! - The threshold of a reader is the number of requests up to and including the last writer in
//!   front of it. Everything in front of that writer has then been released too.
//!
//! A release therefore grants the next requests by one exchange of the word, and a thread that
//! spins on the word sees its grant as soon as the cache line arrives. A hand-over takes as long as
//! the machine needs to pass a word from CPU to CPU. [`Fifo::renew`] combines a release with the
//! next request of the same owner in one exchange, and no other request comes between the two.
//!
//! A thread that does not spin registers a waker, filed under the threshold of its request. The
//! release that reaches this number finds all wakers with one lookup, and wakes them in the
//! releasing thread. While no thread sleeps, a release looks up nothing.
//!
//! # States
//! ```text
//!             put_in                 release of those in front            release
//!  (nothing) ────────► REQUESTED ──────────────────────────────► GRANTED ─────────► (nothing)
//!                          │                                                            ▲
//!                          └── cancel: the thread that grants it also releases it ──────┘
//! ```
//! # The word
//! The three counters count modulo 2²⁰.
//!
//! | bits  | name       | meaning                                                               |
//! |-------|------------|-----------------------------------------------------------------------|
//! | 0–19  | `tail`     | the number of requests that were put in                               |
//! | 20–39 | `barrier`  | the number of requests up to and including the last writer            |
//! | 40–59 | `released` | the number of requests that were released                             |
//! | 60    | `SLEEPERS` | there is a waker or an abandoned request; changes only under the lock |
//! | 61    | `STOPPED`  | no further request is granted                                         |
//!
//! While there is no writer (`barrier` = `released`), readers come and go by changing only `tail`,
//! because no threshold depends on their number. So `released` advances only past requests that
//! another request waits behind. A grant that its owner has not seen yet is therefore never older
//! than 2¹⁹ releases, no matter how long the owner does not look and how often others read
//! meanwhile.
//!
//! # Memory ordering
//! | label | release side | acquire side | what it publishes |
//! | --- | --- | --- | --- |
//! | F1 | `release`, `renew` exchange the word | `standing` loads it | the earlier owners' writes |
//!
//! All writes of the word are exchanges, so a thread that loads the word synchronises with every
//! release before it. A thread accesses the data only after `standing` has returned `Granted`, even
//! if its request was granted at once by `put_in`.
//! # No wake-up is lost
//! A thread that goes to sleep finds, under the lock, that its request is not granted. In the same
//! exchange it sets the bit `SLEEPERS`, unless that bit is set already. The release that grants the
//! request comes later in the order of the word. It sees the bit and takes the lock after the
//! sleeper, so it finds the waker. The bit is cleared only under the lock, and only when no waker
//! and no abandoned request is left.
//! # Invariants
//! 1. `released` ≤ `barrier` ≤ `tail`, and `tail` − `released` < 2¹⁹.
//! 2. A granted request was put in and is not released. If several requests are granted, all of
//!    them are readers.
//! 3. While there is a writer, each release increments `released` by one, so each number is reached
//!    by exactly one release.
//! # Source
//! Ordered read-write locks: Clauss, Gustedt: Iterative computations with ordered read-write locks.
//! JPDC 70(5), 2010. The single counter of releases for readers and writers is our own; it derives
//! from the ticket lock (Reed, Kanodia, CACM 22(2), 1979).

mod word;

use std::collections::BTreeMap;
use std::fmt;
use std::task::Waker;

use self::word::Word;
use crate::prim::{Acquire, AtomicU64, Mutex, Relaxed, Release};

pub use self::word::REQUEST_COUNT_MAX;

/// The kind of access that a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// To read, together with other readers.
    Read,
    /// To write, alone.
    Write,
}

/// A request in a [`Fifo`]. Give it back to the same FIFO by [`release`](Fifo::release),
/// [`renew`](Fifo::renew) or [`cancel`](Fifo::cancel).
///
/// A request that is given back to another FIFO makes that FIFO grant requests too early, and its
/// own FIFO never grant the later ones. Code that guards data with a FIFO therefore keeps its
/// requests to itself, as [`Handle`](crate::ordered::Handle) does.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "if a request is never released, the requests behind it wait for ever"]
pub struct Request {
    /// The number of releases, modulo 2²⁰, from which on the request is granted.
    threshold: u32,
    access: Access,
}

/// The state of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Other requests are in front of it.
    Waiting,
    /// The data may be used.
    Granted,
    /// The FIFO was stopped, and the request will never be granted.
    Stopped,
}

/// The requests for one location, in order.
///
/// # Examples
/// ```
/// use raddle_sync::fifo::{Access, Fifo, Standing};
/// let fifo = Fifo::new();
/// let (one, other) = (fifo.put_in(Access::Read), fifo.put_in(Access::Read));
/// let writer = fifo.put_in(Access::Write);
/// assert_eq!(fifo.standing(&other), Standing::Granted);
/// fifo.release(one);
/// assert_eq!(fifo.standing(&writer), Standing::Waiting);
/// fifo.release(other);
/// assert_eq!(fifo.standing(&writer), Standing::Granted);
/// fifo.release(writer);
/// ```
#[derive(Default)]
pub struct Fifo {
    word: AtomicU64,
    /// Sleeping threads and abandoned requests, by the number of releases that grants them.
    sleepers: Mutex<BTreeMap<u32, Sleepers>>,
}

/// The sleeping threads and abandoned requests that one release grants.
#[derive(Debug, Default)]
struct Sleepers {
    wakers: Vec<Waker>,
    /// The number of cancelled requests. The thread that grants them also releases them.
    abandoned: u32,
}

impl Fifo {
    /// Creates a FIFO without requests.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a request in behind all others. Costs an exchange of the word.
    ///
    /// # Panics
    /// If there are [`REQUEST_COUNT_MAX`] requests already.
    #[inline]
    pub fn put_in(&self, access: Access) -> Request {
        // A request publishes no data, so no caller relies on the Release here.
        let (_, threshold) = self.exchange(|word| word.with_request(access));
        Request { threshold, access }
    }

    /// Returns the state of a request. Costs a load.
    #[inline]
    pub fn standing(&self, request: &Request) -> Standing {
        // ORDERING(F1): Acquire: what the requests in front did to the data.
        Word::from(self.word.load(Acquire)).standing(request.threshold)
    }

    /// Releases a granted request, which grants the next ones. Costs an exchange of the word, and
    /// wake-ups if threads sleep.
    ///
    /// # Panics
    /// If the request is not granted yet; use [`cancel`](Self::cancel) for such a request.
    #[inline]
    pub fn release(&self, request: Request) {
        // ORDERING(F1): Release: what the owner did to the data.
        let (word, ()) = self.exchange(|word| {
            word.assert_granted(request.threshold);
            (word.with_release(), ())
        });
        if word.has_sleepers() {
            self.wake(word.released());
        }
    }

    /// Puts in the next request of the owner of a granted request and releases the granted one, in
    /// one step.
    ///
    /// The owner thus keeps its position in a repeating order. A reader stays where it is while
    /// there is no writer. Costs as much as [`release`](Self::release); for such a reader, one
    /// load.
    ///
    /// # Panics
    /// Like [`put_in`](Self::put_in) and [`release`](Self::release).
    #[inline]
    pub fn renew(&self, request: &mut Request) {
        if let Some(released) = self.renew_silently(request) {
            self.wake(released);
        }
    }

    /// Renews a request as [`renew`](Self::renew) does, but leaves it to the caller to
    /// [wake](Self::wake) the sleeping threads. Returns the number of releases to pass to `wake`,
    /// if threads may sleep.
    #[inline]
    pub(crate) fn renew_silently(&self, request: &mut Request) -> Option<u32> {
        // Relaxed: the owner keeps its access, so nothing is published.
        if request.access == Access::Read && Word::from(self.word.load(Relaxed)).has_no_writer() {
            return None;
        }
        // ORDERING(F1): Release: what the owner did to the data.
        let (word, threshold) = self.exchange(|word| {
            word.assert_granted(request.threshold);
            let (word, threshold) = word.with_request(request.access);
            (word.with_release(), threshold)
        });
        request.threshold = threshold;
        word.has_sleepers().then(|| word.released())
    }

    /// Gives a request back, whether it was granted or not. The requests behind it keep waiting for
    /// those in front of it; in a FIFO that was stopped, they wait for ever.
    pub fn cancel(&self, request: Request) {
        if self.is_stopped() {
            return;
        }
        let mut sleepers = self.sleepers();
        match self.mark_sleepers(request.threshold) {
            // The release that grants the request finds it here and releases it too.
            Standing::Waiting => sleepers.entry(request.threshold).or_default().abandoned += 1,
            Standing::Granted => {
                // `release` may take the lock itself.
                drop(sleepers);
                self.release(request);
            }
            Standing::Stopped => {}
        }
    }

    /// Registers a waker that is woken when the request no longer waits. Returns false, without
    /// keeping the waker, if the request does not wait now. The FIFO keeps only one waker per task.
    pub fn register_waker(&self, request: &Request, waker: &Waker) -> bool {
        let mut sleepers = self.sleepers();
        if self.mark_sleepers(request.threshold) != Standing::Waiting {
            return false;
        }
        let wakers = &mut sleepers.entry(request.threshold).or_default().wakers;
        if !wakers.iter().any(|other| other.will_wake(waker)) {
            wakers.push(waker.clone());
        }
        true
    }

    /// Stops granting requests permanently, and wakes all waiting threads. Granted requests stay
    /// granted until they are released.
    pub fn stop(&self) {
        // Relaxed: the bit publishes nothing; a thread that sees it finds the reason elsewhere.
        self.word.fetch_or(Word::STOPPED, Relaxed);
        let mut sleepers = self.sleepers();
        let all = std::mem::take(&mut *sleepers);
        self.word.fetch_and(!Word::SLEEPERS, Relaxed);
        drop(sleepers);
        for sleeper in all.into_values() {
            sleeper.wakers.into_iter().for_each(Waker::wake);
        }
    }

    /// Returns true if [`stop`](Self::stop) was called.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        // Relaxed: as in `stop`.
        Word::from(self.word.load(Relaxed)).is_stopped()
    }

    /// Returns the number of requests in the FIFO, granted or not.
    pub fn request_count(&self) -> usize {
        // Relaxed: a hint.
        Word::from(self.word.load(Relaxed)).request_count()
    }

    /// Wakes the threads that were granted by the release that changed the count to `released`, and
    /// releases the abandoned requests that it granted.
    #[cold]
    pub(crate) fn wake(&self, mut released: u32) {
        loop {
            let mut sleepers = self.sleepers();
            let Some(granted) = sleepers.remove(&released) else {
                return;
            };
            if sleepers.is_empty() {
                // Relaxed: a thread sets the bit again only under the lock.
                self.word.fetch_and(!Word::SLEEPERS, Relaxed);
            }
            // Wakers run arbitrary code, so the lock is released first.
            drop(sleepers);
            granted.wakers.into_iter().for_each(Waker::wake);
            let mut has_sleepers = false;
            for _ in 0..granted.abandoned {
                let (word, ()) = self.exchange(|word| (word.with_release(), ()));
                // Only the last of these releases can grant other requests, because each abandoned
                // request blocks all requests behind it.
                (released, has_sleepers) = (word.released(), word.has_sleepers());
            }
            if !has_sleepers {
                return;
            }
        }
    }

    /// Returns the state of a request with this threshold. If the request waits, sets the bit
    /// `SLEEPERS`. The caller holds the lock.
    fn mark_sleepers(&self, threshold: u32) -> Standing {
        let (_, standing) = self.exchange(|word| match word.standing(threshold) {
            Standing::Waiting => (word.with_sleepers(), Standing::Waiting),
            other => (word, other),
        });
        standing
    }

    fn sleepers(&self) -> impl std::ops::DerefMut<Target = BTreeMap<u32, Sleepers>> + '_ {
        self.sleepers
            .lock()
            .expect("nothing panics under this lock")
    }

    /// Replaces the word by the result of `change`. Returns the new word and the second result of
    /// `change`.
    #[inline]
    fn exchange<R>(&self, change: impl Fn(Word) -> (Word, R)) -> (Word, R) {
        // Relaxed: the exchange below checks this guess.
        let mut found = self.word.load(Relaxed);
        loop {
            let (word, result) = change(Word::from(found));
            // ORDERING(F1): Release, for the callers that rely on it.
            match self
                .word
                .compare_exchange_weak(found, word.into(), Release, Relaxed)
            {
                Ok(_) => return (word, result),
                Err(other) => found = other,
            }
        }
    }
}

impl fmt::Debug for Fifo {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Fifo")
            .field("request_count", &self.request_count())
            .field("stopped", &self.is_stopped())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
