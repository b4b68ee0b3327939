//! Loops through the crate `rayon`, measured on request.
//!
//! The program answers the requests of the benchmark on standard input, one per line:
//! `CASE WORKERS REPETITIONS`. An answer is `NANOSECONDS RESULT` or `error TEXT`. The time covers
//! only the repetitions: the pool runs and the data exist before.
#![forbid(unsafe_code)]

use std::fs;
use std::hint::black_box;
use std::io::{self, BufRead, Write};
use std::thread;
use std::time::{Duration, Instant};

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

/// The number of items of the long loops.
const MANY: usize = 4_000_000;
/// The number of items of the short loops.
const FEW: usize = 1_000;

fn main() -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "ready")?;
    output.flush()?;
    for line in io::stdin().lock().lines() {
        match answer(&line?) {
            Ok((nanoseconds, result)) => writeln!(output, "{nanoseconds} {result}")?,
            Err(error) => writeln!(output, "error {error}")?,
        }
        output.flush()?;
    }
    Ok(())
}

/// Answers one request with the time of all repetitions in nanoseconds, and the result.
fn answer(line: &str) -> Result<(u128, u64), String> {
    let mut words = line.split_whitespace();
    let mut word = || words.next().ok_or("expected CASE WORKERS REPETITIONS");
    let name = word()?;
    let workers = word()?.parse().map_err(|_| "no number of workers")?;
    let repetitions = word()?.parse().map_err(|_| "no number of repetitions")?;
    let pool = ThreadPoolBuilder::new()
        .num_threads(workers)
        .build()
        .map_err(|error| error.to_string())?;
    match name.strip_prefix("loop-") {
        Some(name) => pool.install(|| run(name, repetitions)),
        None if name == "idle" => idle(|| pool.install(|| run("few", 1_000))),
        None => Err(format!("no case {name}")),
    }
}

/// Returns the CPU time of this process, in nanoseconds, while the pool has no work for two seconds
/// after `work`.
fn idle(work: impl FnOnce() -> Result<(u128, u64), String>) -> Result<(u128, u64), String> {
    let (_, result) = work()?;
    let before = cpu_time()?;
    thread::sleep(Duration::from_secs(2));
    Ok((cpu_time()? - before, result))
}

/// Returns the CPU time of all threads of this process in nanoseconds.
fn cpu_time() -> Result<u128, String> {
    let threads = fs::read_dir("/proc/self/task").map_err(|error| error.to_string())?;
    let times = threads.flatten().map(|thread| {
        let text = fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
        let time = text.split(' ').next().and_then(|word| word.parse().ok());
        time.unwrap_or(0_u128)
    });
    Ok(times.sum())
}

/// Runs a case. Data are made before the time starts; `prepare` makes those of one repetition.
fn run(name: &str, repetitions: u64) -> Result<(u128, u64), String> {
    let numbers = || numbers(MANY);
    Ok(match name {
        "fib" => time(repetitions, || (), |()| fib(30)),
        "filter-sum" => {
            let numbers = numbers();
            time(repetitions, || (), |()| filter_sum(&numbers))
        }
        "filter-collect" => {
            let numbers = numbers();
            time(repetitions, || (), |()| filter_collect(&numbers))
        }
        "sort" => {
            let numbers = numbers();
            time(
                repetitions,
                || numbers.clone(),
                |mut numbers| {
                    numbers.par_sort_unstable();
                    numbers[MANY / 2]
                },
            )
        }
        "histogram" => {
            let numbers = numbers();
            time(repetitions, || (), |()| histogram(&numbers))
        }
        "uneven" => time(repetitions, || (), |()| uneven(FEW)),
        "few" => {
            let numbers = self::numbers(FEW);
            time(repetitions, || (), |()| sum_of_roots(&numbers))
        }
        "few-collect" => {
            let numbers = self::numbers(FEW);
            time(
                repetitions,
                || (),
                |()| {
                    let doubled: Vec<u64> = numbers.par_iter().map(|number| number / 2).collect();
                    doubled[FEW - 1]
                },
            )
        }
        "few-nested" => {
            let numbers = self::numbers(FEW);
            time(
                repetitions,
                || (),
                |()| {
                    let rows = numbers.par_chunks(FEW / 30).map(sum_of_roots);
                    rows.reduce(|| 0, u64::wrapping_add)
                },
            )
        }
        "few-uneven" => time(
            repetitions,
            || (),
            |()| {
                let work = |index: usize| spin(index as u64 / 4);
                (0..FEW)
                    .into_par_iter()
                    .map(work)
                    .reduce(|| 0, u64::wrapping_add)
            },
        ),
        _ => return Err(format!("no case {name}")),
    })
}

/// Calls `body` several times, each time with new data. Returns the time in nanoseconds, without
/// that for the data, and the last result.
fn time<T>(repetitions: u64, prepare: impl Fn() -> T, body: impl Fn(T) -> u64) -> (u128, u64) {
    let (mut nanoseconds, mut result) = (0, 0);
    for _ in 0..repetitions {
        let data = prepare();
        let began = Instant::now();
        result = black_box(body(black_box(data)));
        nanoseconds += began.elapsed().as_nanos();
    }
    (nanoseconds, result)
}

/// Returns pseudo-random numbers, always the same (splitmix64).
fn numbers(count: usize) -> Vec<u64> {
    let number = |index: u64| {
        let mut z = index.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    (1..=count as u64).map(number).collect()
}

fn fib(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

fn filter_sum(numbers: &[u64]) -> u64 {
    let odd = numbers.par_iter().filter(|number| *number % 3 == 1);
    odd.map(|number| number >> 32).sum()
}

fn filter_collect(numbers: &[u64]) -> u64 {
    let odd: Vec<u64> = numbers
        .par_iter()
        .copied()
        .filter(|number| number % 3 == 1)
        .collect();
    odd.len() as u64 ^ odd[odd.len() / 2]
}

fn histogram(numbers: &[u64]) -> u64 {
    let count = |mut bins: Vec<u32>, number: &u64| {
        bins[(number >> 54) as usize] += 1;
        bins
    };
    let add = |mut left: Vec<u32>, right: Vec<u32>| {
        left.iter_mut()
            .zip(right)
            .for_each(|(left, right)| *left += right);
        left
    };
    let bins = numbers
        .par_iter()
        .fold(|| vec![0; 1024], count)
        .reduce(|| vec![0; 1024], add);
    let weights = bins
        .iter()
        .zip(1..)
        .map(|(&bin, weight)| u64::from(bin) * weight);
    weights.sum()
}

/// Runs `count` items, the first of which takes as long as all others together.
fn uneven(count: usize) -> u64 {
    const STEPS: u64 = 2_000;
    let work = |index: usize| match index {
        0 => spin(STEPS * (count as u64 - 1)),
        _ => spin(STEPS),
    };
    let items = (0..count).into_par_iter();
    items.map(work).reduce(|| 0, u64::wrapping_add)
}

fn sum_of_roots(numbers: &[u64]) -> u64 {
    let root = |number: &u64| (*number as f64).sqrt() as u64;
    numbers.par_iter().map(root).sum()
}

/// Computes `steps` steps, each of which needs the one before: a few nanoseconds per step.
fn spin(steps: u64) -> u64 {
    (0..steps).fold(steps, |value, step| {
        (value ^ step)
            .rotate_left(5)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
    })
}
