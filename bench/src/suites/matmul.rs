//! Products of square matrices by locations: `matmul-4096` and `matmul-1024`.
//!
//! The figure is a rate, so a ratio above 1 means that Raddle does more. Peers: `faer`, the crate
//! that computes Raddle's block products, in its own parallel mode; `openblas`, if it is installed.
//! A run is timed from the first block product to the last. The matrices are created before that.
//!
//! The compared result is Σ|x·(C·y)|, row by row, in steps of 2⁻¹⁰. It is known in advance as
//! A·(B·y). Every contender has the weights: x is the first column of A, y the first row of B. All
//! weights are different, so a row or a block of columns in the wrong place is detected.
//!
//! # Source
//! Gustedt, Jeannot, Mansouri: Fully-abstracted affinity optimization for task-based models. Inria
//! RR-8993, 2016, sections 5.2 and 6.2.2.

use std::path::PathBuf;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use raddle_numerics::lk23::Form;
use raddle_numerics::matmul::{Input, Product};

use crate::error::BenchError;
use crate::harness::{Case, Contender, Local, Sample, Unit, timed};
use crate::peer::OPENBLAS;
use crate::pools::{RaddlePools, RayonPools};
use crate::suites::Measurement;

/// The names of the cases.
pub(crate) const CASES: [&str; 2] = ["matmul-4096", "matmul-1024"];

/// The seed of the numbers. The C++ peer uses the same seed.
const SEED: u64 = 42;
/// The number of steps per unit of the compared sum.
const STEPS: f64 = 1024.0;
/// The tolerance for rounding, in steps. No weight is above 1, so the weights do not amplify the
/// rounding errors of C.
const TOLERANCE: u64 = 4;

/// Runs the suite.
///
/// # Errors
/// Those of [`Measurement::compare`].
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    for (name, size, repetitions) in [(CASES[0], 4096, 1), (CASES[1], 1024, 1)] {
        if measurement.wants(name) {
            compare(measurement, name, size, repetitions)?;
        }
    }
    Ok(())
}

fn compare(
    measurement: &mut Measurement<'_>,
    name: &'static str,
    size: usize,
    repetitions: u64,
) -> Result<(), BenchError> {
    let input = Input {
        rows: size,
        inner: size,
        columns: size,
        seed: SEED,
    };
    let a: Vec<f64> = (0..size * size)
        .map(|at| input.a(at / size, at % size))
        .collect();
    let b: Vec<f64> = (0..size * size)
        .map(|at| input.b(at / size, at % size))
        .collect();
    let check = Check::of(&a, &b, size);
    let shape = PathBuf::from(size.to_string());
    let case = Case {
        suite: "matmul",
        name,
        unit: Unit::MillionsPerSecond {
            name: "GFLOP/s",
            events: (input.flops() / 1e3) as u64,
        },
        repetitions,
        file: Some(&shape),
        expected: check.expected(&a, &b),
        tolerance: TOLERANCE,
    };
    let (mut pools, mut rayon_pools) = (RaddlePools::default(), RayonPools::default());
    let mut raddle = Local::new("raddle", |request| {
        let runtime = pools.of_workers(request.workers)?;
        let tasks = Product::task_count(&input, request.workers);
        let program = Product::new(runtime, &input, tasks, Form::Future, |_| ());
        let ran = program
            .run_on(runtime)
            .map_err(|error| BenchError::contender("raddle", error))?;
        let values = ran
            .values()
            .map_err(|error| BenchError::contender("raddle", error))?;
        Ok(Sample {
            time: ran.outcome.elapsed,
            result: check.result(&values),
        })
    });
    let mut c = vec![0.0; size * size];
    let mut peers: Vec<Box<dyn Contender + '_>> = vec![Box::new(Local::new("faer", |request| {
        c.fill(0.0);
        let how = if request.workers > 1 {
            Par::rayon(request.workers)
        } else {
            Par::Seq
        };
        let (a, b) = (
            MatRef::from_row_major_slice(&a, size, size),
            MatRef::from_row_major_slice(&b, size, size),
        );
        let mut sample = rayon_pools.install(request.workers, || {
            timed(1, || {
                matmul(
                    MatMut::from_row_major_slice_mut(&mut c, size, size),
                    Accum::Add,
                    a,
                    b,
                    1.0,
                    how,
                );
                0
            })
        })?;
        sample.result = check.result(&c);
        Ok(sample)
    }))];
    peers.extend(measurement.peer(OPENBLAS));
    measurement.compare(&case, &mut raddle, &mut peers)
}

/// Weights for the rows and the columns of C, with which two products are compared.
struct Check {
    of_rows: Vec<f64>,
    of_columns: Vec<f64>,
}

impl Check {
    fn of(a: &[f64], b: &[f64], size: usize) -> Self {
        Self {
            of_rows: a.iter().step_by(size).copied().collect(),
            of_columns: b[..size].to_vec(),
        }
    }

    /// Returns the expected result for the product of two matrices, without computing the product.
    fn expected(&self, a: &[f64], b: &[f64]) -> u64 {
        let inner = times(b, &self.of_columns);
        self.weighted_sum(&times(a, &inner))
    }

    /// Returns the result for a computed C.
    fn result(&self, c: &[f64]) -> u64 {
        self.weighted_sum(&times(c, &self.of_columns))
    }

    fn weighted_sum(&self, sums: &[f64]) -> u64 {
        let weighted = self
            .of_rows
            .iter()
            .zip(sums)
            .map(|(x, sum)| (x * sum).abs());
        (weighted.sum::<f64>() * STEPS).round() as u64
    }
}

/// Multiplies a square matrix by a vector.
fn times(matrix: &[f64], vector: &[f64]) -> Vec<f64> {
    let rows = matrix.chunks_exact(vector.len());
    rows.map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
        .collect()
}

#[cfg(test)]
mod tests;
