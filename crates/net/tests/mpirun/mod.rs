//! Has MPI start a program, for the tests of this crate and of others.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

/// The number of seconds after which `mpirun` ends a program that hangs.
const SECONDS_MAX: &str = "60";

/// The settings of Open MPI and MPICH: to run as any user, to start more processes than there are
/// CPUs, to have processes that wait yield the CPU, and to end after a time.
const VARIABLES: [(&str, &str); 8] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("OMPI_MCA_hwloc_base_binding_policy", "none"),
    ("PRTE_MCA_hwloc_default_binding_policy", "none"),
    ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
    ("OMPI_MCA_mpi_yield_when_idle", "1"),
    ("MPIEXEC_TIMEOUT", SECONDS_MAX),
];

/// Runs a program as `ranks` processes, one program at a time. `variables` is its environment, in
/// addition to that of this process.
pub(crate) fn mpirun<'a>(
    ranks: u16,
    program: impl AsRef<OsStr>,
    arguments: &[&str],
    variables: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Output {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    mpirun_beside(ranks, program, arguments, variables)
}

/// Runs a program like [`mpirun`], but at the same time as others, for programs that mostly wait.
pub(crate) fn mpirun_beside<'a>(
    ranks: u16,
    program: impl AsRef<OsStr>,
    arguments: &[&str],
    variables: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Output {
    let mut all = vec![OsString::from("-n"), ranks.to_string().into()];
    all.push(program.as_ref().to_owned());
    all.extend(arguments.iter().map(OsString::from));
    mpirun_with(&all, variables)
}

/// Runs `mpirun` with these arguments.
pub(crate) fn mpirun_with<'a>(
    arguments: &[OsString],
    variables: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Output {
    let mut command = Command::new("mpirun");
    command.envs(VARIABLES).envs(variables);
    let output = command.args(arguments).output();
    let output = output.expect("`mpirun` exists: the feature `mpi` needs an MPI library");
    // The messages of Open MPI and of MPICH.
    let errors = String::from_utf8_lossy(&output.stderr).to_lowercase();
    let has_hung = errors.contains("the user-provided time limit") || errors.contains("timed out");
    assert!(!has_hung, "a program hangs: {}", printed(&output));
    output
}

/// Runs one test of this program again, as `ranks` processes. `variables` is their environment, in
/// addition to that of this process.
pub(crate) fn again<'a>(
    test: &str,
    ranks: u16,
    variables: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Output {
    mpirun(ranks, own_program(), &arguments_of(test), variables)
}

/// Runs a test like [`again`], but at the same time as others.
pub(crate) fn again_beside<'a>(
    test: &str,
    ranks: u16,
    variables: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Output {
    mpirun_beside(ranks, own_program(), &arguments_of(test), variables)
}

fn own_program() -> PathBuf {
    env::current_exe().expect("this program is a file")
}

const fn arguments_of(test: &str) -> [&str; 3] {
    ["--exact", test, "--nocapture"]
}

/// Returns the exit status and the output of a program, for the message of a failed assertion.
pub(crate) fn printed(output: &Output) -> String {
    let out = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    format!("{}\n{out}\n{error}", output.status)
}
