//! All ways to place queens, by a chare (a seed) for each partial placement.
//!
//! A seed is a board with some filled rows. It creates a seed for each way to fill the next row,
//! down to the grain. Below the grain, it counts the solutions itself. No messages return: each
//! worker adds up the counts of its seeds, and after quiescence the sums are reduced.

use raddle::reduce::Sum;
use raddle::{Chares, Cx, Failure, Group, Runtime, chare};

use super::{case, failure};
use crate::error::BenchError;
use crate::harness::{Contender, Local, Unit, timed};
use crate::pools::{RaddlePools, RayonPools};
use crate::suites::Measurement;
use crate::workload::{Plain, QUEENS, Queens, Raddle, Rayon, Task};

const SOLUTIONS: u64 = 14_200;
/// The number of rows that a seed fills itself: about 5,000 seeds with 20 µs of work each.
const GRAIN: usize = QUEENS - 4;

/// Compares seeds with a grain with a chare for each node of the tree, and with joins, down to the
/// leaves and with the same grain.
pub(super) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    let case = case("queens12", Unit::Milliseconds, 1, SOLUTIONS);
    let mut own = by_seeds("raddle", GRAIN);
    let mut raddle_pools = RaddlePools::default();
    let mut rayon_pools = RayonPools::default();
    let mut cut_pools = RayonPools::default();
    let board = || std::hint::black_box(Queens::new());
    let mut peers: Vec<Box<dyn Contender>> = vec![
        Box::new(by_seeds("chare-per-node", 0)),
        Box::new(Local::new("raddle-join", move |request| {
            raddle_pools.install(request.workers, || timed(1, || board().run(&mut Raddle)))
        })),
        Box::new(Local::new("rayon", move |request| {
            rayon_pools.install(request.workers, || timed(1, || board().run(&mut Rayon)))
        })),
        Box::new(Local::new("rayon-grain", move |request| {
            let board = || board().with_grain(GRAIN);
            cut_pools.install(request.workers, || timed(1, || board().run(&mut Rayon)))
        })),
        Box::new(Local::new("plain", move |_| {
            Ok(timed(1, || board().run(&mut Plain)))
        })),
    ];
    measurement.compare(&case, &mut own, &mut peers)
}

fn by_seeds(name: &'static str, grain: usize) -> impl Contender {
    let mut runtimes = RaddlePools::default();
    Local::new(name, move |request| {
        let runtime = runtimes.of_workers(request.workers)?;
        let counts = runtime.group(|_| Count::default());
        let mut result = Ok(0);
        let sample = timed(1, || {
            result = count(runtime, counts, grain);
            result.clone().unwrap_or_default()
        });
        counts.destroy();
        result.map_err(|error| failure(&error))?;
        Ok(sample)
    })
}

fn count(runtime: &Runtime, counts: Group<Count>, grain: usize) -> Result<u64, Failure> {
    runtime.chare(move |cx| Board::expand(cx, Queens::new(), grain, counts));
    runtime.quiescence().try_wait()?;
    counts.all().add_up();
    counts.reduction().try_wait()
}

/// The solutions that the seeds of one worker have counted.
#[derive(Default)]
struct Count(u64);

#[chare]
impl Count {
    #[entry]
    fn add_up(&mut self, cx: &mut Cx<Self>) {
        cx.contribute(Sum(std::mem::take(&mut self.0)));
    }
}

/// A board with some filled rows. All its work happens when it is created.
struct Board;

#[chare]
impl Board {
    fn expand(cx: &mut Cx<Self>, queens: Queens, grain: usize, counts: Group<Count>) -> Self {
        if queens.rows_left() <= grain {
            let solutions = queens.run(&mut Plain);
            if solutions > 0 {
                counts.with_here(|count| count.0 += solutions);
            }
        } else {
            queens.for_each_next(|next| {
                cx.chare(move |cx| Self::expand(cx, next, grain, counts));
            });
        }
        cx.end();
        Self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grain_does_not_change_the_number_of_solutions() {
        let runtime = Runtime::builder().workers(3).build().expect("a runtime");
        let counts = runtime.group(|_| Count::default());
        for grain in [QUEENS, GRAIN, GRAIN - 2] {
            let solutions = count(&runtime, counts, grain).expect("no chare fails");
            assert_eq!(solutions, SOLUTIONS, "{grain}");
        }
    }
}
