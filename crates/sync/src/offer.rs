//! The word that decides whether the owner or a thief runs an offered fork.
//!
//! A fork that its worker has published is in a pool, where a thief may find it. The owner
//! remembers the fork and comes back for it at the join. Both try to change the word, and one of
//! them succeeds.
//!
//! # States
//! ```text
//!            thief: CAS              thief: store
//!  OFFERED ──────────────► TAKEN ──────────────────► DONE     (the owner disposes of the cell)
//!     │ owner: CAS
//!     ▼
//!  RECLAIMED                           (the thread that finds it in the pool disposes of it)
//! ```
//! # Memory ordering
//! | label | release side | acquire side | what it publishes |
//! | --- | --- | --- | --- |
//! | F1 | `offer` stores `OFFERED` | `try_take` CAS | the job |
//! | F2 | `finish` stores `DONE` | `is_done` loads `DONE` | the result |
//! | F3 | `try_reclaim` CAS | `try_take` finds `RECLAIMED` | the owner let go of the cell |
//! # Invariants
//! 1. Exactly one thread leaves `OFFERED`, either the owner or one thief. That thread runs the job.
//! 2. After `RECLAIMED` the owner no longer accesses the cell; after `DONE` the thief no longer
//!    does.
//! # Misuse
//! An offer is one word, and its functions access no other memory. Their results depend only on the
//! sequence of calls. Code that reads a job because of a result relies on its own calls, and says
//! so where it does (`unsafe`).

use crate::prim::{Acquire, AtomicU32, Relaxed, Release};

const CLOSED: u32 = 0;
const OFFERED: u32 = 1;
const TAKEN: u32 = 2;
const DONE: u32 = 3;
const RECLAIMED: u32 = 4;

/// The word that decides which thread runs an offered fork.
#[derive(Debug)]
pub struct Offer {
    word: AtomicU32,
}

impl Default for Offer {
    fn default() -> Self {
        Self::new()
    }
}

impl Offer {
    /// Creates a word that offers nothing yet.
    pub fn new() -> Self {
        Self {
            word: AtomicU32::new(CLOSED),
        }
    }

    /// Opens the offer. Only for the owner, before it puts the cell into a pool.
    pub fn offer(&self) {
        // ORDERING(F1): Release: the thief reads the job.
        self.word.store(OFFERED, Release);
    }

    /// Takes the job. Returns true for the one thief that must run it; on false the caller disposes
    /// of the cell.
    #[must_use = "on true the job must be run, on false the cell disposed of"]
    pub fn try_take(&self) -> bool {
        // ORDERING(F1): Acquire on success, to read the job. ORDERING(F3): Acquire on failure,
        // because the caller then reuses the cell.
        self.word
            .compare_exchange(OFFERED, TAKEN, Acquire, Acquire)
            .is_ok()
    }

    /// Takes the job back. Returns true if no thief has taken it. Only for the owner.
    #[must_use = "on true the owner must run the job, on false wait for it"]
    pub fn try_reclaim(&self) -> bool {
        // ORDERING(F3): Release on success: the owner has finished reading the cell.
        self.word
            .compare_exchange(OFFERED, RECLAIMED, Release, Relaxed)
            .is_ok()
    }

    /// Records that the job has been run. For the thief, which must not access the cell afterwards.
    pub fn finish(&self) {
        // ORDERING(F2): Release: the owner reads the result.
        self.word.store(DONE, Release);
    }

    /// Returns true if a thief has run the job.
    #[inline]
    pub fn is_done(&self) -> bool {
        // ORDERING(F2): Acquire, to read the result.
        self.word.load(Acquire) == DONE
    }

    /// Returns true if the owner took the job back, so that the thread that finds the cell may
    /// remove it.
    pub fn is_reclaimed(&self) -> bool {
        // Relaxed: a hint; `try_take` decides.
        self.word.load(Relaxed) == RECLAIMED
    }
}
