//! Has MPI start a program: for tests, of other crates, too.

use std::env;
use std::ffi::OsStr;
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

/// After so many seconds `mpirun` ends a program that hangs.
const SECONDS_MAX: &str = "60";

/// What Open MPI and MPICH are told: to start more processes than there are CPUs, as whoever runs the tests, who let each other run, and to end.
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

/// Runs a program as so many processes, one program at a time; `variables` is its environment besides that of this process.
pub(crate) fn mpirun<'a>(
    ranks: u16,
    program: impl AsRef<OsStr>,
    arguments: &[&str],
    variables: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Output {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut command = Command::new("mpirun");
    command.envs(VARIABLES).envs(variables);
    command.args(["-n", &ranks.to_string()]).arg(program);
    let output = command.args(arguments).output();
    let output = output.expect("mpirun is there: the feature `mpi` needs an MPI library");
    // As Open MPI says it, and MPICH.
    let said = String::from_utf8_lossy(&output.stderr).to_lowercase();
    let has_hung = said.contains("the user-provided time limit") || said.contains("timed out");
    assert!(!has_hung, "a program hangs: {}", told(&output));
    output
}

/// Runs one test of this program again, as so many processes; `variables` is their environment besides that of this process.
#[allow(dead_code, reason = "some have MPI start another program")]
pub(crate) fn again<'a>(
    test: &str,
    ranks: u16,
    variables: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Output {
    let program = env::current_exe().expect("this program is a file");
    mpirun(ranks, program, &["--exact", test, "--nocapture"], variables)
}

/// What a program has printed, for those who look for why a test failed.
pub(crate) fn told(output: &Output) -> String {
    let out = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    format!("{}\n{out}\n{error}", output.status)
}
