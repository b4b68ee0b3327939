//! Round trips between two threads without a runtime: the driver of all bare peers.

use std::thread;
use std::time::{Duration, Instant};

use crate::error::BenchError;
use crate::probe;

/// Returns the first two CPUs that this process may use.
///
/// # Errors
/// [`BenchError::Contender`] if there is only one.
pub(crate) fn cpus() -> Result<(usize, usize), BenchError> {
    probe::two_cpus().ok_or_else(|| BenchError::contender("two threads", "there are no two CPUs"))
}

/// Times `trips` round trips between two threads, each bound to one of `cpus`, if given.
///
/// The first thread calls `trip` for each round trip, with numbers that count up from 1. The clock
/// starts after `warm_up` trips. The second thread runs `serve`, which answers all trips and
/// returns.
///
/// # Panics
/// If one of the closures panics.
pub(crate) fn time_round_trips(
    cpus: Option<(usize, usize)>,
    warm_up: u32,
    trips: u32,
    mut trip: impl FnMut(u32) + Send,
    serve: impl FnOnce() + Send,
) -> Duration {
    thread::scope(|scope| {
        scope.spawn(move || {
            if let Some((_, second)) = cpus {
                probe::pin(second);
            }
            serve();
        });
        let client = scope.spawn(move || {
            if let Some((first, _)) = cpus {
                probe::pin(first);
            }
            // The first trip also waits until the other thread runs.
            (1..=warm_up).for_each(&mut trip);
            let began = Instant::now();
            (warm_up + 1..=warm_up + trips).for_each(&mut trip);
            began.elapsed()
        });
        client.join().expect("no round trip panics")
    })
}

#[cfg(test)]
mod tests;
