//! `raddle lk23` and `raddle matmul`: what they are called with.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum, ValueHint};

use super::values;
use crate::error::CliError;

pub(super) const LK23_EXAMPLES: &str = "\
Examples:
  raddle lk23 --size 4096 --turns 100
  raddle lk23 --rows 1000 --columns 3000 --block 100x500 --check
  raddle lk23 --size 512 --turns 10 --depth 1 --block 128 --threads --stats
  raddle lk23 --show-binding --show-matrix borders.svg --json

A block is a task: one operation sweeps over it, one for each neighbour copies the border that the
neighbour wants. A block makes several sweeps while a cache holds it (--depth); with --depth 1
borders go to and fro in every sweep. The result is that of the plain loops, to the last bit.";

pub(super) const MATMUL_EXAMPLES: &str = "\
Examples:
  raddle matmul --size 2048
  raddle matmul --rows 4096 --inner 512 --columns 1024 --tasks 8 --check
  raddle matmul --show-binding --show-matrix rows.csv

Each task has some rows of the result; blocks of columns of the second matrix go from task to task.
With --check the result is compared with that of three loops, and may differ by what rounding
explains: 2 k u / (1 - k u) times the sum of |a b|, for sums of k products and u = 2^-53.";

/// `raddle lk23`.
#[derive(Debug, Clone, Args)]
pub(crate) struct Lk23Arguments {
    /// Rows and columns [default: 1024]
    #[arg(long, value_name = "N", value_parser = values::matrix_side)]
    pub(crate) size: Option<u32>,
    /// Rows [default: as --size]
    #[arg(long, value_name = "N", value_parser = values::matrix_side)]
    pub(crate) rows: Option<u32>,
    /// Columns [default: as --size]
    #[arg(long, value_name = "N", value_parser = values::matrix_side)]
    pub(crate) columns: Option<u32>,
    /// Sweeps over all points, such as 100 or 1e3
    #[arg(long, value_name = "T", default_value = "100", value_parser = values::round_count)]
    pub(crate) turns: u64,
    /// Rows and columns of a block, about [default: what a worker's cache holds]
    #[arg(long, value_name = "N[xM]")]
    pub(crate) block: Option<BlockChoice>,
    /// Sweeps of a block while it is in the cache, at most [default: chosen from the block]
    #[arg(long, value_name = "D", value_parser = values::count)]
    pub(crate) depth: Option<NonZeroUsize>,
    /// Which worker runs which block
    #[arg(long, value_enum, default_value_t = BlockPlacement::Dealt)]
    pub(crate) placement: BlockPlacement,
    /// Where the numbers come from: the same seed, the same numbers
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) program: ProgramArguments,
}

/// Which worker runs which block of `raddle lk23`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BlockPlacement {
    /// Rows of blocks are dealt out, so that all workers have a part in each wave
    Dealt,
    /// Blocks that exchange much are close together
    Auto,
}

/// `raddle matmul`.
#[derive(Debug, Clone, Args)]
pub(crate) struct MatmulArguments {
    /// Rows, columns, and what is between [default: 1024]
    #[arg(long, value_name = "N", value_parser = values::matrix_side)]
    pub(crate) size: Option<u32>,
    /// Rows of the first matrix [default: as --size]
    #[arg(long, value_name = "N", value_parser = values::matrix_side)]
    pub(crate) rows: Option<u32>,
    /// Columns of the first matrix, rows of the second [default: as --size]
    #[arg(long, value_name = "N", value_parser = values::matrix_side)]
    pub(crate) inner: Option<u32>,
    /// Columns of the second matrix [default: as --size]
    #[arg(long, value_name = "N", value_parser = values::matrix_side)]
    pub(crate) columns: Option<u32>,
    /// Row tasks, and as many blocks of columns [default: two for each worker, of at least 64 rows and columns]
    #[arg(long, value_name = "N", value_parser = values::count)]
    pub(crate) tasks: Option<NonZeroUsize>,
    /// Where the numbers come from: the same seed, the same numbers
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) program: ProgramArguments,
}

/// The sides of matrices: each as it was given, or as `size`.
///
/// # Errors
/// [`CliError::WrongCall`] of a size that no side has.
pub(crate) fn sides<const N: usize>(
    size: Option<u32>,
    sides: [Option<u32>; N],
) -> Result<[usize; N], CliError> {
    if let (Some(size), true) = (size, sides.iter().all(Option::is_some)) {
        return Err(CliError::WrongCall {
            options: format!("--size {size}"),
            reason: "each side is given by an option of its own; expected a call without it"
                .to_owned(),
        });
    }
    Ok(sides.map(|side| side.or(size).unwrap_or(SIZE) as usize))
}

/// The sides of matrices where nothing is given.
const SIZE: u32 = 1024;

/// What programs of locations have in common.
#[derive(Debug, Clone, Args)]
pub(crate) struct ProgramArguments {
    /// Give each operation a thread of its own instead of making it a future on a worker; how many workers there are is --workers
    #[arg(long)]
    pub(crate) threads: bool,
    /// Run so often and report median, smallest and largest time
    #[arg(long, value_name = "R", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) repeat: u32,
    /// Compare the result with that of the plain loops
    #[arg(long)]
    pub(crate) check: bool,
    /// Write what operations exchange in a turn to this file: .csv, .mtx (Matrix Market), or .svg with where they run
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
