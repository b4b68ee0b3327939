//! The FIFO of requests of a location: who may read or write it, in the order in which they asked.
//!
//! A request is put in, granted when its turn comes, and released. Readers in a row are granted together, a writer alone, nobody
//! before those in front of him. One word decides all of it: how many requests have been put in, how many have been
//! released, and where the last writer stands. A writer is granted when as many are released as stood before him; a reader, when the last
//! writer before him is, and with him all that stood before that one. So a release grants whoever is next by one exchange of the
//! word, and a thread that spins on it sees its grant as soon as the line arrives: a hand-over costs what the machine takes to pass a
//! word from CPU to CPU. A release and the owner's next request are one exchange, too ([`Fifo::renew`]), and nobody comes between.
//!
//! Who does not spin leaves a waker, under the number of releases that grants him. The release that reaches that number finds the wakers in
//! one look, wakes them in the releasing thread, and looks nowhere while nobody sleeps.
//!
//! # States
//! ```text
//!             put_in                 release of those in front            release
//!  (nothing) ────────► REQUESTED ──────────────────────────────► GRANTED ─────────► (nothing)
//!                          │                                                            ▲
//!                          └── cancel: left to whoever grants it, who releases it ──────┘
//! ```
//! # The word
//! | bits  | name       | what it counts, modulo 2²⁰                                                      |
//! |-------|------------|---------------------------------------------------------------------------------|
//! | 0–19  | `tail`     | requests that were put in                                                       |
//! | 20–39 | `barrier`  | requests up to the last writer, him included                                    |
//! | 40–59 | `released` | requests that were released                                                     |
//! | 60    | `SLEEPERS` | somebody has left a waker or a request behind; changed under the sleepers' lock |
//! | 61    | `STOPPED`  | nobody is granted anything any more                                             |
//!
//! While no writer is in (`barrier` = `released`), readers come and go by `tail` alone: nobody's number depends on theirs. So
//! `released` moves on only past requests that somebody waits behind, and no grant that its owner has not seen yet is ever
//! older than 2¹⁹ releases, however long he looks away and however often others read meanwhile.
//!
//! # Memory ordering
//! | label | release side                         | acquire side         | what it publishes                    |
//! |-------|--------------------------------------|----------------------|--------------------------------------|
//! | F1    | `release`, `renew` exchange the word | `standing` loads it  | what those in front did to the data  |
//!
//! All writes of the word are exchanges, so whoever loads it has acquired from every release before it. Nobody uses what he asked for
//! before `standing` has said so, not even where `put_in` was granted at once.
//! # No wake-up is lost
//! Who goes to sleep finds, under the lock, that he is not granted, and has the bit `SLEEPERS` set, in one exchange or since it was set
//! already. The release that grants him comes later in the order of the word, sees the bit, and takes the lock after him: it finds his
//! waker. The bit goes only under the lock, and only when nobody is left.
//! # Invariants
//! 1. `released` ≤ `barrier` ≤ `tail`, and there are fewer than 2¹⁹ requests between the first and the last.
//! 2. Who is granted was put in, and is not released: of several, all are readers.
//! 3. With a writer in, each release raises `released` by one, so each number is reached by exactly one release.
//! # Source
//! Ordered read-write locks: Clauss, Gustedt: Iterative computations with ordered read-write locks. JPDC 70(5), 2010. One counter
//! of releases that decides for readers and writers alike is ours; its ancestor is the ticket lock (Reed, Kanodia, CACM 22(2), 1979).

mod word;

use std::collections::BTreeMap;
use std::fmt;
use std::task::Waker;

use self::word::Word;
use crate::prim::{Acquire, AtomicU64, Mutex, Relaxed, Release};

pub use self::word::REQUEST_COUNT_MAX;

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// To read, together with other readers.
    Read,
    /// To write, alone.
    Write,
}

/// A place in a [`Fifo`]: to be given back to the same one, by [`release`](Fifo::release), [`renew`](Fifo::renew) or [`cancel`](Fifo::cancel).
///
/// Given back to another one, it makes that grant requests too early, and its own never: whoever guards data with a FIFO
/// keeps its requests to itself, as [`Handle`](crate::ordered::Handle) does.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "whoever stands behind a request that is never released waits for ever"]
pub struct Request {
    /// Releases, modulo 2²⁰, from which on it is granted.
    threshold: u32,
    access: Access,
}

/// How a request stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Others are in front.
    Waiting,
    /// The data may be used.
    Granted,
    /// The FIFO was stopped: it will never be granted.
    Stopped,
}

/// Requests for one thing, in their order.
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
    /// Those that sleep, and requests left behind, by the number of releases that grants them.
    sleepers: Mutex<BTreeMap<u32, Sleepers>>,
}

/// What a release finds that grants somebody who does not look.
#[derive(Debug, Default)]
struct Sleepers {
    wakers: Vec<Waker>,
    /// Requests that nobody wants any more: whoever grants them releases them.
    abandoned: u32,
}

impl Fifo {
    /// A FIFO without requests.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a request in behind all others. Cost: an exchange of the word.
    ///
    /// # Panics
    /// When [`REQUEST_COUNT_MAX`] requests are in.
    #[inline]
    pub fn put_in(&self, access: Access) -> Request {
        // Asking publishes nothing.
        let (_, threshold) = self.exchange(|word| word.with_request(access));
        Request { threshold, access }
    }

    /// Tells how a request stands. Cost: a load.
    #[inline]
    pub fn standing(&self, request: &Request) -> Standing {
        // ORDERING(F1): Acquire, what those in front did to the data.
        Word::from(self.word.load(Acquire)).standing(request.threshold)
    }

    /// Gives a granted request back, and grants whoever is next. Cost: an exchange of the word, and wake-ups where somebody sleeps.
    ///
    /// # Panics
    /// When the request was not granted yet: that is what [`cancel`](Self::cancel) is for.
    #[inline]
    pub fn release(&self, request: Request) {
        // ORDERING(F1): Release, what its owner did to the data.
        let (word, ()) = self.exchange(|word| {
            word.assert_granted(request.threshold);
            (word.with_release(), ())
        });
        if word.has_sleepers() {
            self.wake(word.released());
        }
    }

    /// Puts in the next request of the owner of a granted one, and gives that one back, in one step.
    ///
    /// So the owner keeps his place in the order of those that come again and again. A reader stays where he is while no writer waits.
    /// Cost: as [`release`](Self::release); for such a reader, a load.
    ///
    /// # Panics
    /// As [`put_in`](Self::put_in) and [`release`](Self::release).
    #[inline]
    pub fn renew(&self, request: &mut Request) {
        if let Some(released) = self.renew_silently(request) {
            self.wake(released);
        }
    }

    /// As [`renew`](Self::renew), and leaves it to the caller to [wake](Self::wake) those who sleep: they are granted by
    /// the number of releases that it returns.
    #[inline]
    pub(crate) fn renew_silently(&self, request: &mut Request) -> Option<u32> {
        // Relaxed: nothing changes hands.
        if request.access == Access::Read && Word::from(self.word.load(Relaxed)).has_no_writer() {
            return None;
        }
        // ORDERING(F1): Release, what its owner did to the data.
        let (word, threshold) = self.exchange(|word| {
            word.assert_granted(request.threshold);
            let (word, threshold) = word.with_request(request.access);
            (word.with_release(), threshold)
        });
        request.threshold = threshold;
        word.has_sleepers().then(|| word.released())
    }

    /// Gives a request back whether it was granted or not. Who stands behind keeps waiting for those in front; in a FIFO that was stopped,
    /// for ever.
    pub fn cancel(&self, request: Request) {
        if self.is_stopped() {
            return;
        }
        let mut sleepers = self.sleepers();
        match self.mark_sleepers(request.threshold) {
            Standing::Waiting => sleepers.entry(request.threshold).or_default().abandoned += 1,
            Standing::Granted => {
                drop(sleepers);
                self.release(request);
            }
            Standing::Stopped => {}
        }
    }

    /// Leaves a waker for the moment when the request does not wait any more; false when it does not even now. A waker of the same task is kept once.
    pub fn leave(&self, request: &Request, waker: &Waker) -> bool {
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

    /// Stops granting for ever, and wakes all that wait. Requests that were granted stay so until they are given back.
    pub fn stop(&self) {
        // Relaxed: it publishes nothing; who sees it looks for the reason elsewhere.
        self.word.fetch_or(Word::STOPPED, Relaxed);
        let mut sleepers = self.sleepers();
        let all = std::mem::take(&mut *sleepers);
        self.word.fetch_and(!Word::SLEEPERS, Relaxed);
        drop(sleepers);
        for sleeper in all.into_values() {
            sleeper.wakers.into_iter().for_each(Waker::wake);
        }
    }

    /// True when [`stop`](Self::stop) was called.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        // Relaxed: as there.
        Word::from(self.word.load(Relaxed)).is_stopped()
    }

    /// How many requests are in, granted or not.
    pub fn request_count(&self) -> usize {
        // Relaxed: a look that decides nothing.
        Word::from(self.word.load(Relaxed)).request_count()
    }

    /// Wakes those who are granted by the release that made the count `released`, and releases what was left behind.
    #[cold]
    pub(crate) fn wake(&self, mut released: u32) {
        loop {
            let mut sleepers = self.sleepers();
            let Some(granted) = sleepers.remove(&released) else {
                return;
            };
            if sleepers.is_empty() {
                // Relaxed: whoever sets it again does so under the lock.
                self.word.fetch_and(!Word::SLEEPERS, Relaxed);
            }
            drop(sleepers);
            granted.wakers.into_iter().for_each(Waker::wake);
            let mut is_last_heard = false;
            for _ in 0..granted.abandoned {
                let (word, ()) = self.exchange(|word| (word.with_release(), ()));
                // Only the last of them can grant anybody: all stand in the way of whoever comes behind them.
                (released, is_last_heard) = (word.released(), word.has_sleepers());
            }
            if !is_last_heard {
                return;
            }
        }
    }

    /// Under the lock: sets the bit that somebody sleeps, if a request of that threshold waits, and tells how it stands.
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

    /// Replaces the word by what `change` makes of it; returns the new word, and what else it made.
    #[inline]
    fn exchange<R>(&self, change: impl Fn(Word) -> (Word, R)) -> (Word, R) {
        // Relaxed: the exchange decides.
        let mut found = self.word.load(Relaxed);
        loop {
            let (word, result) = change(Word::from(found));
            // ORDERING(F1): Release, for those callers that say so.
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
