//! How new work that is bound for no worker in particular is spread.

use super::choice;

/// How new chares that are in no array, seeds, are spread over the workers. Those that wait can always be taken by idle workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SeedPolicy {
    /// Each worker keeps its own, and idle ones take from others: the oldest first.
    #[default]
    Stealing,
    /// To a worker picked at random, which makes them at once.
    Random,
    /// To the neighbour with the fewest, when the own worker has more than the average of its neighbourhood, which is its two
    /// neighbours in a ring.
    Ring,
    /// As `Ring`, with up to four neighbours in a square mesh.
    Mesh,
    /// As `Ring`, with a neighbour for each bit of the worker's index.
    Hypercube,
}

choice! {
    SeedPolicy is "seed policy", named by "`RADDLE_SEEDS`":
    Stealing "stealing", Random "random", Ring "ring", Mesh "mesh", Hypercube "hypercube";
    expected "stealing, random, ring, mesh or hypercube", else UnknownSeedPolicy
}
