//! Set-up that the tests of this crate share: runtimes, and reductions without a runtime, in any
//! order and grouping of the merges.

use raddle_collections::reduce::{Mismatch, Reducer};
use raddle_runtime::Runtime;

/// Starts a runtime with `worker_count` workers.
pub(crate) fn runtime(worker_count: usize) -> Runtime {
    Runtime::builder()
        .workers(worker_count)
        .build()
        .expect("the workers start")
}

/// A seeded generator of random numbers (Steele, Lea, Flood: SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) % bound as u64) as usize
    }
}

/// Sets the position of each contribution, as the runtime does before the first merge.
pub(crate) fn placed<R: Reducer>(contributions: impl IntoIterator<Item = R>) -> Vec<R> {
    contributions
        .into_iter()
        .zip(0..)
        .map(|(contribution, position)| contribution.placed(position))
        .collect()
}

/// Merges contributions in the order of the elements. There must be at least one.
pub(crate) fn in_a_row<R: Reducer>(
    contributions: impl IntoIterator<Item = R>,
) -> Result<R, Mismatch> {
    let mut contributions = placed(contributions).into_iter();
    let mut all = contributions.next().expect("an element contributes");
    for contribution in contributions {
        all.merge(contribution)?;
    }
    Ok(all)
}

/// Merges contributions in a random order and grouping, given by the seed.
pub(crate) fn in_random_order<R: Reducer>(
    contributions: impl IntoIterator<Item = R>,
    seed: u64,
) -> Result<R, Mismatch> {
    let mut random = Random(seed);
    let mut left = placed(contributions);
    while left.len() > 1 {
        let other = left.swap_remove(random.below(left.len()));
        let into = random.below(left.len());
        left[into].merge(other)?;
    }
    Ok(left.pop().expect("an element contributes"))
}

/// Returns the results of merges in the order of the elements and in two random orders.
///
/// The contributions must fit together.
pub(crate) fn results<R: Reducer>(contributions: impl Fn() -> Vec<R>, seed: u64) -> [R::Output; 3] {
    [
        in_a_row(contributions()),
        in_random_order(contributions(), seed),
        in_random_order(contributions(), !seed),
    ]
    .map(|merged| merged.expect("contributions fit together").finish())
}
