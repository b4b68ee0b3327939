//! `raddle launch`: a program on several nodes.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use raddle::chare::nodes::JobEnvironment;
use raddle::net::{Launch, TransportKind};

use crate::arguments::LaunchArguments;
use crate::error::CliError;

/// What Open MPI's `mpirun` is told by its environment, in the words of version 4 and of version 5: to bind nobody, since nodes bind their workers, and to start more nodes than there are CPUs, as by the other transports. MPICH's
/// does both unasked.
pub(super) const MPIRUN: [(&str, &str); 4] = [
    ("OMPI_MCA_hwloc_base_binding_policy", "none"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("PRTE_MCA_hwloc_default_binding_policy", "none"),
    ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
];

/// Becomes the program, which starts the other nodes, or `mpirun`, which starts them all. Returns where that fails.
///
/// # Errors
/// [`CliError::Launch`]; [`CliError::Job`] of a variable that makes no sense.
pub(crate) fn run(arguments: &LaunchArguments) -> Result<(), CliError> {
    // Within processes that MPI has started the program is one of them.
    let transport = match arguments.transport {
        None if Launch::rank_count().is_none() => {
            let said = JobEnvironment::read().map_err(|source| CliError::Job {
                what: "launch".to_owned(),
                source,
            })?;
            said.transport
        }
        said => said,
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

/// What the program is told by; what was not asked for it has from its environment.
fn variables(arguments: &LaunchArguments) -> [(&'static str, Option<String>); 10] {
    let options = &arguments.workers;
    let told = |value: Option<&dyn ToString>| value.map(ToString::to_string);
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
            told(options.affinity.as_ref().map(|it| it as _)),
        ),
        ("RADDLE_IDLE", options.idle.map(|it| it.to_string())),
        (
            "RADDLE_TASK_MEMORY",
            options.task_memory.map(|it| it.to_string()),
        ),
        ("RADDLE_MAILBOX", options.mailbox.map(|it| it.to_string())),
    ]
}
