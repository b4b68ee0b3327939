//! Parallel loops that choose their own grain size.
//!
//! A loop runs as one piece on one worker until another worker asks for work. Then the loop splits
//! its remaining items in two, and continues with the first part (lazy binary splitting). Between
//! splits, the loop runs chunks that take a few microseconds, and checks after each one whether its
//! gate is closed. The size of a chunk follows from the time that earlier chunks took. So a loop
//! costs only its body while all workers are busy, is shared within microseconds otherwise, and
//! the caller tunes nothing.
//!
//! While it runs a few items, a loop offers its remaining items ([`Offer`](crate::fork::Offer)). If
//! one of these items takes long, a worker without work takes the offer. So no item waits behind
//! another one while a worker has nothing to do.
//!
//! A split pays off if the remaining items take longer than handing half of them over ([`pace`]). A
//! loop learns from its first chunk how long that is. A loop with few items does not wait for that,
//! and splits as soon as a worker asks.
//!
//! The modules of this directory use workers and forks. No other module of the crate uses them.
//!
//! # Source
//! Tzannes, Caragea, Barua, Vishkin: Lazy binary-splitting: a run-time adaptive work-stealing
//! scheduler. PPoPP 2010.

mod each;
mod map;
mod pace;
mod piece;
mod reduce;
mod steps;
mod stop;

use crate::runtime::default_runtime;
use crate::worker::with_worker;

pub use each::{for_each, for_each_chunk_mut, for_each_mut, for_each_piece};
pub use map::map;
pub use piece::Piece;
pub use reduce::map_reduce;

/// Calls `run` on the current thread if it is a worker, otherwise on a worker of the default
/// runtime.
fn on_worker<R: Send>(run: impl FnOnce() -> R + Send) -> R {
    if with_worker(|worker| worker.is_some()) {
        run()
    } else {
        default_runtime().install(run)
    }
}
