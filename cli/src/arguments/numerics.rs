//! `raddle lk23` and `raddle matmul` on the command line.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum, ValueHint};

use super::values;
use crate::error::CliError;

pub(crate) const LK23_EXAMPLES: &str = "\
Examples:
  raddle lk23 --size 4096 --turns 100
  raddle lk23 --rows 1000 --columns 3000 --block 100x500 --check
  raddle lk23 --size 512 --turns 10 --depth 1 --block 128 --threads --stats
  raddle lk23 --show-binding --show-matrix borders.svg --json

Each block is a task: one operation sweeps over it, and one for each neighbour copies the border
that the neighbour needs. A block makes several sweeps while it is in a cache (--depth); with
--depth 1 the blocks exchange borders in every sweep. The result equals that of plain loops, bit
for bit.";

pub(crate) const MATMUL_EXAMPLES: &str = "\
Examples:
  raddle matmul --size 2048
  raddle matmul --rows 4096 --inner 512 --columns 1024 --tasks 8 --check
  raddle matmul --show-binding --show-matrix rows.csv

Each task computes some rows of the result. Blocks of columns of the second matrix move from task
to task. With --check, the result is compared with that of three nested loops. An element may differ
by the bound of its rounding error: 2 k u / (1 - k u) times the sum of |a b|, for a sum of k
products and u = 2^-53.";

/// `raddle lk23`.
#[derive(Debug, Clone, Args)]
pub(crate) struct Lk23Arguments {
    /// Rows and columns [default: 1024]
    #[arg(long, value_name = "N", value_parser = values::matrix_side)]
    pub(crate) size: Option<u32>,
    /// Rows [default: --size]
    #[arg(long, value_name = "N", value_parser = values::matrix_side)]
    pub(crate) rows: Option<u32>,
    /// Columns [default: --size]
    #[arg(long, value_name = "N", value_parser = values::matrix_side)]
    pub(crate) columns: Option<u32>,
    /// Number of sweeps over all points, such as 100 or 1e3
    #[arg(long, value_name = "T", default_value = "100", value_parser = values::round_count)]
    pub(crate) turns: u64,
    /// Approximate rows and columns of a block [default: such that a block fits into the cache of a
    /// worker]
    #[arg(long, value_name = "N[xM]")]
    pub(crate) block: Option<BlockChoice>,
    /// Largest number of sweeps over a block before it exchanges borders with its neighbours
    /// [default: depends on the size of a block]
    #[arg(long, value_name = "D", value_parser = values::count)]
    pub(crate) depth: Option<NonZeroUsize>,
    /// Assignment of blocks to workers
    #[arg(long, value_enum, default_value_t = BlockPlacement::Dealt)]
    pub(crate) placement: BlockPlacement,
    /// Seed of the numbers; the same seed gives the same numbers
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) program: ProgramArguments,
}

/// The ways to assign the blocks of `raddle lk23` to workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BlockPlacement {
    /// Deals out rows of blocks, so that all workers take part in each wave
    Dealt,
    /// Places blocks that exchange much data close together
    Auto,
}

/// `raddle matmul`.
#[derive(Debug, Clone, Args)]
pub(crate) struct MatmulArguments {
    /// Rows, columns and the inner dimension [default: 1024]
    #[arg(long, value_name = "N", value_parser = values::matrix_side)]
    pub(crate) size: Option<u32>,
    /// Rows of the first matrix [default: --size]
    #[arg(long, value_name = "N", value_parser = values::matrix_side)]
    pub(crate) rows: Option<u32>,
    /// Columns of the first matrix and rows of the second [default: --size]
    #[arg(long, value_name = "N", value_parser = values::matrix_side)]
    pub(crate) inner: Option<u32>,
    /// Columns of the second matrix [default: --size]
    #[arg(long, value_name = "N", value_parser = values::matrix_side)]
    pub(crate) columns: Option<u32>,
    /// Number of tasks, which is also the number of blocks of columns [default: two per worker, but
    /// at least 64 rows and columns per task]
    #[arg(long, value_name = "N", value_parser = values::count)]
    pub(crate) tasks: Option<NonZeroUsize>,
    /// Seed of the numbers; the same seed gives the same numbers
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) program: ProgramArguments,
}

/// Returns the sides of the matrices: each as given by its option, or else by `size`.
///
/// # Errors
/// [`CliError::WrongCall`] for a `size` that has no effect because all sides are given.
pub(crate) fn sides<const N: usize>(
    size: Option<u32>,
    sides: [Option<u32>; N],
) -> Result<[usize; N], CliError> {
    if let (Some(size), true) = (size, sides.iter().all(Option::is_some)) {
        return Err(CliError::WrongCall {
            options: format!("--size {size}"),
            reason: "each side has an option of its own; expected a call without --size".to_owned(),
        });
    }
    Ok(sides.map(|side| side.or(size).unwrap_or(SIZE) as usize))
}

/// The sides of matrices by default.
const SIZE: u32 = 1024;

/// The options that all programs of locations share.
#[derive(Debug, Clone, Args)]
pub(crate) struct ProgramArguments {
    /// Run each operation on a thread of its own, instead of as a future on a worker; --workers
    /// sets the number of workers
    #[arg(long)]
    pub(crate) threads: bool,
    /// Run this many times and report median, smallest and largest time
    #[arg(long, value_name = "R", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) repeat: u32,
    /// Compare the result with that of plain loops
    #[arg(long)]
    pub(crate) check: bool,
    /// Write a matrix of the bytes that operations exchange per turn to this file: .csv, .mtx
    /// (Matrix Market), or .svg, which also shows where the operations run
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) show_matrix: Option<PathBuf>,
}

/// Rows and columns of a block: `128`, or `128x256`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockChoice {
    pub(crate) rows: NonZeroUsize,
    pub(crate) columns: NonZeroUsize,
}

impl FromStr for BlockChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (rows, columns) = text.split_once(['x', 'X', '×']).unwrap_or((text, text));
        let sides = rows.parse().ok().zip(columns.parse().ok());
        sides
            .map(|(rows, columns)| Self { rows, columns })
            .ok_or_else(|| "expected rows and columns from 1, such as 128 or 128x256".to_owned())
    }
}
