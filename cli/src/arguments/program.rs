//! The options that `raddle lk23` and `raddle matmul` share.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::WorkerOptions;
use crate::error::CliError;

/// The sides of matrices by default.
const SIZE: u32 = 1024;

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

impl ProgramArguments {
    /// Refuses an option that has no effect on operations that run on threads of their own.
    ///
    /// # Errors
    /// [`CliError::WrongCall`], which names the option.
    pub(crate) fn check(&self, workers: &WorkerOptions) -> Result<(), CliError> {
        match workers.mailbox {
            Some(mailbox) if self.threads => Err(CliError::WrongCall {
                options: format!("--mailbox {mailbox} --threads"),
                reason: "operations on threads send no messages; expected a call without --threads"
                    .to_owned(),
            }),
            _ => Ok(()),
        }
    }
}
