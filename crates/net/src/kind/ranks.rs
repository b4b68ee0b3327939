//! The environment of processes that `mpirun` or `srun` has started: how many there are, and which
//! of them this process is.
//!
//! This reads environment variables only, so that it also works in a program built without MPI.

use std::env;

/// The variables with the number of processes that `mpirun` or `srun` has started, by launcher:
/// Open MPI; Hydra and PMI (MPICH, Intel MPI); Slurm.
const COUNT_VARIABLES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"];

/// The variables with the number of these processes on this machine. Slurm does not set such a
/// variable.
const LOCAL_COUNT_VARIABLES: [&str; 2] = ["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"];

/// The variables with the index of this process among those on this machine.
const LOCAL_RANK_VARIABLES: [&str; 3] = [
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID",
    "SLURM_LOCALID",
];

/// The variables with a name of the started program, which is equal in all of its processes and
/// consists of one or two words: launchers with PMIx (Open MPI, Slurm); Slurm.
const PROGRAM_VARIABLES: [&[&str]; 2] = [&["PMIX_NAMESPACE"], &["SLURM_JOB_ID", "SLURM_STEP_ID"]];

/// Returns the number of processes that MPI has started, if it has started this one.
pub(crate) fn count() -> Option<u16> {
    first_number(&COUNT_VARIABLES)
}

/// Returns the number of these processes that run on this machine, if the launcher says so.
pub(crate) fn local_count() -> Option<u16> {
    first_number(&LOCAL_COUNT_VARIABLES)
}

/// Returns the index of this process among those on this machine, if the launcher says so.
pub(crate) fn local_rank() -> Option<u16> {
    first_number(&LOCAL_RANK_VARIABLES)
}

/// Returns a name that is the same in all processes of this start, if the launcher gives one.
pub(crate) fn program() -> Option<String> {
    let words = |names: &&[&str]| {
        let words: Option<Vec<_>> = names.iter().map(|name| env::var(name).ok()).collect();
        words.map(|words| words.join("."))
    };
    PROGRAM_VARIABLES.iter().find_map(words)
}

/// Returns the value of the first of these variables that is set to a number.
fn first_number(names: &[&str]) -> Option<u16> {
    let mut names = names.iter();
    names.find_map(|name| env::var(name).ok()?.parse().ok())
}
