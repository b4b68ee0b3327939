//! Chunked arrays compared with arrays in one piece: the cost of reading, and the gain in writing.

use std::hint::black_box;

use raddle::ChunkedArray;
use raddle_numerics::random;

use super::case;
use crate::error::BenchError;
use crate::harness::{Contender, Local, Unit, timed};
use crate::pools::RaddlePools;
use crate::suites::Measurement;

/// The number of elements, for any number of chunks, is a power of two. An element has 8 bytes.
const LEN_BITS: u32 = 20;
const LEN: usize = 1 << LEN_BITS;
const CHUNKS: [usize; 7] = [1, 4, 16, 64, 256, 1_024, 4_096];
const PASSES: u64 = 20;

/// The number of tasks that write into one array.
const TASKS: usize = 16;
/// The counts of numbers that a task reads. It keeps about half of them.
const NUMBERS: [usize; 7] = [16, 64, 256, 1_024, 4_096, 16_384, 65_536];
/// The approximate count of numbers that all updates of a run read.
const READ: usize = 20_000_000;

/// A way to read an array.
#[derive(Clone, Copy)]
enum Access {
    Random,
    Index,
    Iterator,
}

impl Access {
    /// Returns the sum of all elements of an array that is read in this way.
    ///
    /// Indices are hidden from the compiler. Otherwise it would read several elements of an array
    /// in one piece at once.
    fn sum(self, at: impl Fn(usize) -> u64, iterate: impl Fn() -> u64) -> u64 {
        match self {
            // A permutation: the factor is odd.
            Self::Random => (0..LEN).fold(0, |sum, index| {
                let anywhere = index.wrapping_mul(0x9E37_79B9_7F4A_7C15) & (LEN - 1);
                sum.wrapping_add(at(black_box(anywhere)))
            }),
            Self::Index => (0..LEN).fold(0, |sum, index| sum.wrapping_add(at(black_box(index)))),
            Self::Iterator => iterate(),
        }
    }
}

/// Reads all elements on one thread: at random and in order through `[]`, and through an iterator.
pub(super) fn access(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    let numbers: Vec<u64> = (0..LEN as u64)
        .map(|index| random::number(1, index))
        .collect();
    let expected = numbers
        .iter()
        .fold(0, |sum: u64, &number| sum.wrapping_add(number));
    let accesses = [
        ("random", Access::Random),
        ("index", Access::Index),
        ("iterator", Access::Iterator),
    ];
    for (name, access) in accesses {
        for chunk_count in CHUNKS {
            let chunks = numbers.chunks(LEN / chunk_count).map(<[u64]>::to_vec);
            let chunked = ChunkedArray::from_chunks(chunks);
            let name = format!("access-{name}/{chunk_count}");
            let case = case(&name, Unit::Nanoseconds, PASSES * LEN as u64, expected);
            let mut own = Local::new("raddle", |_| {
                Ok(timed(PASSES, || {
                    let array = black_box(&chunked);
                    access.sum(
                        |index| array[index],
                        || {
                            array
                                .iter()
                                .fold(0, |sum, &number| sum.wrapping_add(number))
                        },
                    )
                }))
            });
            let vec = Local::new("vec", |_| {
                Ok(timed(PASSES, || {
                    let array = black_box(&numbers);
                    access.sum(
                        |index| array[index],
                        || {
                            array
                                .iter()
                                .fold(0, |sum, &number| sum.wrapping_add(number))
                        },
                    )
                }))
            });
            measurement.compare_on(1, &case, &mut own, &mut [Box::new(vec)])?;
        }
    }
    Ok(())
}

/// Measures tasks that each keep some of their numbers.
///
/// Raddle's tasks write them into chunks of their own. In the peer, all tasks first count their
/// numbers and then write them into their parts of one array.
pub(super) fn update(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    for count in NUMBERS {
        let updates = (READ / (TASKS * count)) as u64;
        let name = format!("update/{count}");
        let expected = (0..TASKS)
            .map(|task| kept(task, count).count() as u64)
            .sum();
        let case = case(&name, Unit::Microseconds, updates, expected);
        let mut own = on_workers(
            "raddle",
            move || {
                let array = ChunkedArray::build(TASKS, |task| {
                    let mut chunk = Vec::with_capacity(kept(task, count).count());
                    chunk.extend(kept(task, count));
                    chunk
                });
                array.len() as u64
            },
            updates,
        );
        let vec = on_workers("vec", move || in_one_piece(count), updates);
        measurement.compare(&case, &mut own, &mut [Box::new(vec)])?;
    }
    Ok(())
}

fn on_workers(
    name: &'static str,
    update: impl Fn() -> u64 + Send + Sync,
    updates: u64,
) -> impl Contender {
    let mut pools = RaddlePools::default();
    Local::new(name, move |request| {
        pools.install(request.workers, || timed(updates, &update))
    })
}

/// Returns the numbers that a task keeps.
fn kept(task: usize, count: usize) -> impl Iterator<Item = u64> {
    (0..count as u64)
        .map(move |index| random::number(task as u64, index))
        .filter(|number| number % 2 == 0)
}

/// Collects the numbers in an array without chunks: first all tasks count, then all write.
fn in_one_piece(count: usize) -> u64 {
    let counts = raddle::map(0..TASKS, |task| kept(task, count).count());
    let mut array = vec![0; counts.iter().sum()];
    let mut rest = &mut array[..];
    let mut parts = Vec::with_capacity(TASKS);
    for own in counts {
        let (part, after) = rest.split_at_mut(own);
        parts.push(part);
        rest = after;
    }
    raddle::for_each_mut(&mut parts, |task, part| {
        for (place, number) in part.iter_mut().zip(kept(task, count)) {
            *place = number;
        }
    });
    black_box(&array).len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_access_reads_every_element() {
        let numbers: Vec<u64> = (0..LEN as u64).collect();
        for access in [Access::Random, Access::Index, Access::Iterator] {
            let sum = access.sum(|index| numbers[index], || numbers.iter().sum());
            assert_eq!(sum, (LEN * (LEN - 1) / 2) as u64);
        }
    }

    #[test]
    fn one_piece_contains_the_kept_numbers_of_all_tasks() {
        let all: usize = (0..TASKS).map(|task| kept(task, 100).count()).sum();
        assert_eq!(in_one_piece(100), all as u64);
    }
}
