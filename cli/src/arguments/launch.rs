//! `raddle launch` on the command line.

use std::ffi::OsString;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use raddle::chare::nodes::Progress;
use raddle::net::TransportKind;

use super::nodes::{NODES_MAX, transport_parser};
use super::options::WorkerOptions;

/// Shown below the help.
pub(super) const EXAMPLES: &str = "\
Examples:
  raddle launch -n 4 target/release/examples/jacobi
  raddle launch -n 2 --transport socket --progress thread --workers 8 ./heat 1000 200
  raddle launch -n 2 --transport mpi ./heat 1000 200

The program is one that is written for several nodes: it begins with what Job::from_environment of
raddle::chare::nodes says. It is told by RADDLE_NODES, RADDLE_TRANSPORT and RADDLE_PROGRESS, and by
the variables of the options for workers, which are for each node. It takes the place of this
command, and starts the other nodes; by mpi, mpirun starts all of them.";

/// `raddle launch`.
#[derive(Debug, Clone, Args)]
pub(crate) struct LaunchArguments {
    /// Nodes, which are processes; the first is the program itself
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=NODES_MAX))]
    pub(crate) nodes: u16,
    /// How messages travel between nodes [default: shm]
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = transport_parser(&TransportKind::OF_PROCESSES))]
    pub(crate) transport: Option<TransportKind>,
    /// Who receives what comes from other nodes: workers in passing, also after each send, or a thread [default: pending]
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = progress_parser())]
    pub(crate) progress: Option<Progress>,
    /// The program, and its arguments
    #[arg(value_name = "PROGRAM", required = true, trailing_var_arg = true, value_hint = ValueHint::CommandWithArguments)]
    pub(crate) program: Vec<OsString>,
    /// Of each node.
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
