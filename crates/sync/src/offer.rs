//! Who runs an offered fork: the worker that forked, or one thief.
//!
//! A fork that its worker published lies in a pool, where a thief may find it, and is remembered by its owner,
//! which comes back for it at the join. Both try to move the word; one wins.
//!
//! # States
//! ```text
//!            thief: CAS              thief: store
//!  OFFERED ──────────────► TAKEN ──────────────────► DONE       (the owner disposes of the cell)
//!     │ owner: CAS
//!     ▼
//!  RECLAIMED                                                    (who finds it in the pool disposes of it)
//! ```
//! # Memory ordering
//! | label | release side                   | acquire side                        | what it publishes            |
//! |-------|--------------------------------|-------------------------------------|------------------------------|
//! | F1    | `offer` stores `OFFERED`       | `try_take` CAS                      | the job                      |
//! | F2    | `finish` stores `DONE`         | `is_done` loads `DONE`              | the result                   |
//! | F3    | `try_reclaim` CAS              | `try_take` finds `RECLAIMED`        | the owner let go of the cell |
//! # Invariants
//! 1. Exactly one of owner and thieves leaves `OFFERED`, and that one runs the job.
//! 2. After `RECLAIMED` the owner, after `DONE` the thief, touches the cell no more.
//! # Misuse
//! An offer is one word, and its functions touch no other memory: what they answer is what the calls have made of that
//! word. Code that reads a job because of an answer relies on its own calls, and says so where it does (`unsafe`).

use crate::prim::{Acquire, AtomicU32, Relaxed, Release};

const CLOSED: u32 = 0;
const OFFERED: u32 = 1;
const TAKEN: u32 = 2;
const DONE: u32 = 3;
const RECLAIMED: u32 = 4;

/// The word that decides who runs an offered fork.
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
    /// A word that offers nothing yet.
    pub fn new() -> Self {
        Self {
            word: AtomicU32::new(CLOSED),
        }
    }

    /// Opens the offer. For the owner, before the cell goes into a pool.
    pub fn offer(&self) {
        // ORDERING(F1): Release, the thief reads the job.
        self.word.store(OFFERED, Release);
    }

    /// Takes the job; true for the one thief that shall run it. On false the cell is the caller's to dispose of.
    #[must_use = "on true the job must be run, on false the cell disposed of"]
    pub fn try_take(&self) -> bool {
        // ORDERING(F1): Acquire on success, to read the job. ORDERING(F3): Acquire on failure, since the
        // caller then reuses the cell.
        self.word
            .compare_exchange(OFFERED, TAKEN, Acquire, Acquire)
            .is_ok()
    }

    /// Takes the job back; true when no thief has it. For the owner alone.
    #[must_use = "on true the owner must run the job, on false wait for it"]
    pub fn try_reclaim(&self) -> bool {
        // ORDERING(F3): Release on success, the owner has read all it wanted from the cell.
        self.word
            .compare_exchange(OFFERED, RECLAIMED, Release, Relaxed)
            .is_ok()
    }

    /// Says that the job has been run. For the thief, whose last touch of the cell this is.
    pub fn finish(&self) {
        // ORDERING(F2): Release, the owner reads the result.
        self.word.store(DONE, Release);
    }

    /// True when a thief has run the job.
    #[inline]
    pub fn is_done(&self) -> bool {
        // ORDERING(F2): Acquire, to read the result.
        self.word.load(Acquire) == DONE
    }

    /// True when the owner took the job back, so that whoever finds the cell may remove it.
    pub fn is_reclaimed(&self) -> bool {
        // Relaxed: a hint; `try_take` decides.
        self.word.load(Relaxed) == RECLAIMED
    }
}
