//! `raddle launch`: runs a program on several nodes.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use raddle::chare::nodes::{JobEnvironment, Progress};
use raddle::net::{Launch, TransportKind};

use crate::arguments::nodes::{NODES_MAX, transport_parser};
use crate::arguments::{TaskAndMailboxOptions, WorkOptions, WorkerOptions};
use crate::error::CliError;
use crate::report::Report;

pub(super) const EXAMPLES: &str = "\
Examples:
  raddle launch -n 4 target/release/examples/jacobi
  raddle launch -n 2 --transport socket --progress thread --workers 8 ./heat 1000 200
  raddle launch -n 2 --transport mpi ./heat 1000 200

The program must be written for several nodes: it has to call Job::from_environment of
raddle::chare::nodes. This function reads RADDLE_NODES, RADDLE_TRANSPORT and RADDLE_PROGRESS. The
options for workers apply to each node. The program replaces this command, and starts the other
nodes; with mpi, mpirun starts all nodes.";

/// `raddle launch`.
#[derive(Debug, Clone, Args)]
pub(crate) struct LaunchArguments {
    /// Number of nodes, each of which is a process; the first is the program itself
    #[arg(short, long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=NODES_MAX))]
    nodes: u16,
    /// Transport of messages between nodes [default: shm]
    #[arg(long, value_name = "NAME", ignore_case = true)]
    #[arg(value_parser = transport_parser(TransportKind::OF_PROCESSES))]
    transport: Option<TransportKind>,
    /// Receiver of messages from other nodes: workers, between tasks (pending), and also after each
    /// message to another node (send) or to any element (any-send); or a separate thread (thread)
    /// [default: pending]
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = progress_parser())]
    progress: Option<Progress>,
    /// The program, and its arguments
    #[arg(value_name = "PROGRAM", required = true, trailing_var_arg = true)]
    #[arg(value_hint = ValueHint::CommandWithArguments)]
    program: Vec<OsString>,
    /// The workers of each node.
    #[command(flatten)]
    workers: WorkerOptions,
    /// The tasks and messages of these workers.
    #[command(flatten)]
    work: TaskAndMailboxOptions,
}

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
    let mut workers = arguments.workers.clone();
    arguments.work.copy_to(&mut workers);
    workers.check()?;
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
    for (name, value) in variables(arguments, &workers) {
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
fn variables(
    arguments: &LaunchArguments,
    workers: &WorkerOptions,
) -> [(&'static str, Option<String>); 10] {
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
        ("RADDLE_WORKERS", workers.workers.map(|it| it.to_string())),
        ("RADDLE_POOL", workers.pool.map(|it| it.to_string())),
        ("RADDLE_BLOCKS", workers.blocks.map(|it| it.to_string())),
        (
            "RADDLE_AFFINITY",
            workers.affinity.as_ref().map(|it| it.to_string()),
        ),
        ("RADDLE_IDLE", workers.idle.map(|it| it.to_string())),
        (
            "RADDLE_TASK_MEMORY",
            workers.task_memory.map(|it| it.to_string()),
        ),
        ("RADDLE_MAILBOX", workers.mailbox.map(|it| it.to_string())),
    ]
}

fn progress_parser() -> impl TypedValueParser<Value = Progress> {
    PossibleValuesParser::new(Progress::ALL.map(Progress::name)).try_map(|name| {
        let mut all = Progress::ALL.into_iter();
        let found = all.find(|way| way.name().eq_ignore_ascii_case(&name));
        found.ok_or("no such way")
    })
}
