//! `raddle launch`: runs a program on several nodes.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use raddle::chare::nodes::JobEnvironment;
use raddle::net::{Launch, TransportKind};

use crate::arguments::LaunchArguments;
use crate::error::CliError;
use crate::report::Report;

/// The environment of `mpirun` for Open MPI, with the names of version 4 and of version 5.
///
/// It must not bind processes, since nodes bind their workers. It must start more nodes than there
/// are CPUs if asked to, as the other transports do. The `mpirun` of MPICH does both by default.
pub(super) const MPIRUN: [(&str, &str); 4] = [
    ("OMPI_MCA_hwloc_base_binding_policy", "none"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("PRTE_MCA_hwloc_default_binding_policy", "none"),
    ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
];

/// Becomes the program, which starts the other nodes, or `mpirun`, which starts all of them.
/// Returns only if that fails.
///
/// # Errors
/// [`CliError::Launch`] if the program cannot be started, [`CliError::Job`] for a variable with a
/// wrong value, [`CliError::WrongCall`] for options that have no effect on the selected pool.
pub(super) fn run(arguments: &LaunchArguments) -> Result<Option<Report>, CliError> {
    arguments.workers.check()?;
    // If MPI has started this process, the program becomes one of the nodes that MPI has started.
    let transport = match arguments.transport {
        None if Launch::rank_count().is_none() => {
            let environment = JobEnvironment::read().map_err(|source| CliError::Job {
                what: "launch".to_owned(),
                source,
            })?;
            environment.transport
        }
        given => given,
    };
    let is_by_mpi = transport.is_some_and(TransportKind::is_by_mpi);
    let mut words = if is_by_mpi {
        let nodes = arguments.nodes.to_string();
        ["mpirun".into(), "-n".into(), OsString::from(nodes)].to_vec()
    } else {
        Vec::new()
    };
    words.extend_from_slice(&arguments.program);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    if is_by_mpi {
        command.envs(MPIRUN);
    }
    for (name, value) in variables(arguments) {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    let source = command.exec();
    Err(CliError::Launch {
        program: PathBuf::from(&words[0]),
        source,
    })
}

/// Returns the environment variables for the options. A variable without a value keeps the one that
/// it has in the environment.
fn variables(arguments: &LaunchArguments) -> [(&'static str, Option<String>); 10] {
    let options = &arguments.workers;
    [
        ("RADDLE_NODES", Some(arguments.nodes.to_string())),
        (
            "RADDLE_TRANSPORT",
            arguments.transport.map(|it| it.to_string()),
        ),
        (
            "RADDLE_PROGRESS",
            arguments.progress.map(|it| it.to_string()),
        ),
        ("RADDLE_WORKERS", options.workers.map(|it| it.to_string())),
        ("RADDLE_POOL", options.pool.map(|it| it.to_string())),
        ("RADDLE_BLOCKS", options.blocks.map(|it| it.to_string())),
        (
            "RADDLE_AFFINITY",
            options.affinity.as_ref().map(|it| it.to_string()),
        ),
        ("RADDLE_IDLE", options.idle.map(|it| it.to_string())),
        (
            "RADDLE_TASK_MEMORY",
            options.task_memory.map(|it| it.to_string()),
        ),
        ("RADDLE_MAILBOX", options.mailbox.map(|it| it.to_string())),
    ]
}
