//! The order in which a worker looks through the other workers for work.
//!
//! Each worker has a random permutation of the others, fixed from the start, so that workers
//! without work do not all ask the same one. Compensating threads come last, in the order in which
//! they were started.

use std::sync::Arc;

use raddle_sync::prim::{AtomicUsize, Relaxed};

/// The victims of one worker, in the order in which it looks for work.
#[derive(Clone, Debug)]
pub(super) struct Victims {
    own: usize,
    /// The workers that exist from the start, without `own`.
    order: Box<[usize]>,
    worker_count: usize,
    /// The number of workers and compensating threads started so far.
    present: Arc<AtomicUsize>,
}

impl Victims {
    /// Creates the order of worker `own`, which may be a compensating thread.
    pub(super) fn new(
        own: usize,
        worker_count: usize,
        seed: u64,
        present: Arc<AtomicUsize>,
    ) -> Self {
        Self {
            own,
            order: permuted(own, worker_count, seed),
            worker_count,
            present,
        }
    }

    /// Returns the victims that exist at the moment.
    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        // Relaxed: a thread that is seen late is asked late.
        let compensating = self.worker_count..self.present.load(Relaxed);
        let others = compensating.filter(|&other| other != self.own);
        self.order.iter().copied().chain(others)
    }
}

/// Returns a permutation of the other workers that differs from worker to worker (Fisher-Yates).
fn permuted(own: usize, worker_count: usize, seed: u64) -> Box<[usize]> {
    let mut others: Box<[usize]> = (0..worker_count).filter(|&other| other != own).collect();
    let mut state = match seed {
        0 => own as u64,
        mut seed => next_random(&mut seed) ^ own as u64,
    };
    for end in (2..=others.len()).rev() {
        let random = usize::try_from(next_random(&mut state) >> 32).expect("32 bits");
        others.swap(end - 1, random % end);
    }
    others
}

/// Advances a SplitMix64 generator and returns its next number.
///
/// # Source
/// Steele, Lea, Flood: Fast splittable pseudorandom number generators. OOPSLA 2014.
fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
