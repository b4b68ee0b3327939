//! Parallel loops whose grain finds itself.
//!
//! A loop runs as one piece on one worker until somebody asks for work; then it splits what is left in two and goes
//! on with the first part (lazy binary splitting). In between it runs chunks that take a few microseconds, sized by the
//! time that the chunks before took, and looks at its gate after each. So a loop costs its body where all workers are
//! busy, is shared within microseconds where they are not, and the caller tunes nothing.
//!
//! While it runs a few items, a loop offers what is left of it ([`Offer`](crate::fork::Offer)). If
//! one of these items takes long, a worker without work takes the offer: so no item waits behind
//! another while a worker has nothing to do.
//!
//! A split pays when what is left takes longer than handing half of it over ([`pace`]). How long that is, the loop
//! learns from its first chunk; a loop with few items does not wait for that and splits at once when asked.
//!
//! # Source
//! Tzannes, Caragea, Barua, Vishkin: Lazy binary-splitting: a run-time adaptive work-stealing scheduler. PPoPP 2010.

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

/// Calls `run` on this thread if it is a worker, else on one of the default runtime.
fn on_worker<R: Send>(run: impl FnOnce() -> R + Send) -> R {
    if with_worker(|worker| worker.is_some()) {
        run()
    } else {
        default_runtime().install(run)
    }
}
