//! `raddle launch` on the command line.

use std::ffi::OsString;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use raddle::chare::nodes::Progress;
use raddle::net::TransportKind;

use super::nodes::{NODES_MAX, transport_parser};
use super::options::WorkerOptions;

pub(crate) const EXAMPLES: &str = "\
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
    pub(crate) nodes: u16,
    /// Transport of messages between nodes [default: shm]
    #[arg(long, value_name = "NAME", ignore_case = true)]
    #[arg(value_parser = transport_parser(TransportKind::OF_PROCESSES))]
    pub(crate) transport: Option<TransportKind>,
    /// Receiver of messages from other nodes: workers, between tasks (pending), and also after each
    /// message to another node (send) or to any element (any-send); or a separate thread (thread)
    /// [default: pending]
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = progress_parser())]
    pub(crate) progress: Option<Progress>,
    /// The program, and its arguments
    #[arg(value_name = "PROGRAM", required = true, trailing_var_arg = true)]
    #[arg(value_hint = ValueHint::CommandWithArguments)]
    pub(crate) program: Vec<OsString>,
    /// The workers of each node.
    #[command(flatten)]
    pub(crate) workers: WorkerOptions,
}

fn progress_parser() -> impl TypedValueParser<Value = Progress> {
    PossibleValuesParser::new(Progress::ALL.map(Progress::name)).try_map(|name| {
        let mut all = Progress::ALL.into_iter();
        let found = all.find(|way| way.name().eq_ignore_ascii_case(&name));
        found.ok_or("no such way")
    })
}
