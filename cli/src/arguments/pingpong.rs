//! `raddle pingpong` on the command line.

use std::time::Duration;

use clap::{Args, ValueEnum};
use raddle::chare::nodes::JobEnvironment;
use raddle::net::{Launch, TransportKind};
use raddle_messages::waits::Kind;

use super::Options;
use super::nodes::{NODES_MAX, ReceiveChoice, transport_parser};
use super::values::{self, Bytes};
use crate::error::CliError;
use crate::output;

/// Shown below the help.
pub(super) const EXAMPLES: &str = "\
Examples:
  raddle pingpong
  raddle pingpong --layer post --bytes 16,1K,64K --trips 1e6
  raddle pingpong --workers 2 --affinity 0,1 --mailbox locked --json
  raddle pingpong --wait all
  raddle pingpong --wait auto --trips 1e4 --late 2ms --affinity 0,1 --json
  raddle pingpong --nodes 2 --transport socket --receive notify --size 1,3456,64K
  raddle pingpong --nodes 2 --overheads
  mpirun --bind-to none -n 2 raddle pingpong
  raddle pingpong --nodes 2 --symmetric --compute 50us

The message goes from the first worker to the last and back, and nothing else is under way. The
clock is read after each round trip, which is a part of its time.

With --wait two threads without a runtime, each on a CPU of its own, throw a number to each other.
First it is answered at once. Then the other side sleeps before it answers: reported is the time
from its decision to answer until the waiter runs again, the CPU time of the waiter, and the work
that a thread on the same core gets done meanwhile, as a share of what it gets done alone. Each of
the three takes about a second at most for each way to wait.

With --nodes the message goes from the first of so many processes to the last and back, each with
a CPU of its own; no row takes longer than about two seconds. --overheads measures the steps of a
message: how long calls take, and how long news is under way. With --symmetric each node computes,
asks another one, waits for the answer, and answers those who ask: with a receiving thread that
polls (poll) or is notified (thread), or without one (notify).";

/// Calls that have to be looked at one by one are measured no more often.
const OVERHEADS_TRIPS_MAX: u64 = 20_000;

/// Who sends the message of `raddle pingpong`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LayerChoice {
    /// Elements of an array
    Array,
    /// Chares that are in no array
    Chare,
    /// Workers, without objects
    Post,
    /// One after the other
    All,
}

/// `raddle pingpong`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PingpongArguments {
    /// Who sends
    #[arg(long, value_enum, default_value_t = LayerChoice::All)]
    pub(crate) layer: LayerChoice,
    /// Bytes in the message, such as 16, 64K or 1M; several sizes are separated by commas
    #[arg(
        long,
        value_name = "B",
        visible_alias = "size",
        value_delimiter = ',',
        default_value = "16,1K,64K"
    )]
    pub(crate) bytes: Vec<Bytes>,
    /// Round trips, such as 100000 or 1e5 [default: 100000; with --overheads 20000, which are the most]
    #[arg(long, value_name = "N", value_parser = values::round_count)]
    pub(crate) trips: Option<u64>,
    /// Measure a way to wait instead, between two threads without a runtime
    #[arg(long, value_enum, value_name = "KIND", conflicts_with_all = BESIDE_WAIT)]
    pub(crate) wait: Option<WaitChoice>,
    /// How long the other side sleeps before a late answer, such as 500us or 1ms
    #[arg(long, value_name = "DURATION", default_value = "500us", value_parser = values::pause, requires = "wait")]
    pub(crate) late: Duration,
    /// Measure between so many nodes instead, each a process, or a thread with --transport threads: from the first to the last
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=NODES_MAX), conflicts_with_all = BESIDE_NODES)]
    pub(crate) nodes: Option<u16>,
    /// How messages come from node to node [default: shm; mpi where mpirun or srun has started the program]
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = transport_parser(&TransportKind::ALL))]
    pub(crate) transport: Option<TransportKind>,
    /// How nodes receive
    #[arg(long, value_enum, value_name = "HOW", default_value = "all")]
    pub(crate) receive: ReceiveChoice,
    /// What each step of a message costs, beside the study's simulated node
    #[arg(long, conflicts_with_all = ["bytes", "receive", "symmetric"])]
    pub(crate) overheads: bool,
    /// Have all nodes compute, ask and answer
    #[arg(long, conflicts_with = "bytes")]
    pub(crate) symmetric: bool,
    /// How long a node computes before it asks, such as 5us or 1ms
    #[arg(long, value_name = "DURATION", default_value = "10us", value_parser = values::pause, requires = "symmetric")]
    pub(crate) compute: Duration,
}

impl PingpongArguments {
    /// The same, where nothing is said as the environment says.
    ///
    /// # Errors
    /// [`CliError::Job`] where that makes no sense; [`CliError::WrongCall`] of options for nodes where there are none.
    pub(crate) fn or_environment(mut self, options: &Options) -> Result<Self, CliError> {
        let said = JobEnvironment::read().map_err(|source| CliError::Job {
            what: "pingpong".to_owned(),
            source,
        })?;
        let for_nodes = [
            ("--overheads", self.overheads),
            ("--symmetric", self.symmetric),
            ("--receive", self.receive != ReceiveChoice::All),
            ("--transport", self.transport.is_some()),
        ];
        let for_nodes = for_nodes.into_iter().find(|(_, is_there)| *is_there);
        // What is said of workers is said of those of one process.
        let says_nothing =
            self.wait.is_none() && self.layer == LayerChoice::All && !options.says_of_workers();
        let nodes = said.nodes.filter(|&nodes| nodes > 1);
        if let Some(nodes) = nodes.filter(|_| self.nodes.is_none() && !says_nothing)
            && Launch::rank_count().is_none()
            && !options.quiet
        {
            output::warn(&format!(
                "RADDLE_NODES is {nodes}, and is not used beside --wait, --layer and options for workers of one process"
            ));
        }
        self.nodes = self.nodes.or(nodes.filter(|_| says_nothing));
        self.transport = self.transport.or(said.transport);
        match for_nodes {
            Some((name, _)) if self.nodes.is_none() => Err(CliError::WrongCall {
                options: name.to_owned(),
                reason: "it is of use between nodes; expected --nodes as well, or RADDLE_NODES, or mpirun".to_owned(),
            }),
            _ if self.overheads && self.trips() > OVERHEADS_TRIPS_MAX => Err(CliError::WrongCall {
                options: format!("--overheads --trips {}", self.trips()),
                reason: format!("calls are looked at one by one; expected at most {OVERHEADS_TRIPS_MAX}"),
            }),
            _ => Ok(self),
        }
    }

    /// Round trips.
    pub(crate) fn trips(&self) -> u64 {
        self.trips.unwrap_or(match self.overheads {
            true => OVERHEADS_TRIPS_MAX,
            false => 100_000,
        })
    }

    /// How messages come from node to node.
    pub(crate) fn transport(&self) -> TransportKind {
        self.transport.unwrap_or_default()
    }
}

/// What is of no use with `--wait`: there are no messages then, and no workers.
const BESIDE_WAIT: [&str; 9] = [
    "layer",
    "bytes",
    "workers",
    "pool",
    "blocks",
    "idle",
    "task_memory",
    "mailbox",
    "stats",
];

/// What is of no use with `--nodes`: there are no workers then.
const BESIDE_NODES: [&str; 9] = [
    "wait",
    "layer",
    "workers",
    "pool",
    "blocks",
    "idle",
    "task_memory",
    "mailbox",
    "stats",
];

/// How the threads of `raddle pingpong --wait` wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WaitChoice {
    /// In a wait cell: look again and again
    Spin,
    /// In a wait cell: let the processor watch a word
    Monitor,
    /// In a wait cell: look ever more seldom
    Pause,
    /// In a wait cell: sleep in the kernel at once
    Futex,
    /// Read an event counter of the kernel
    Eventfd,
    /// Wait for a signal
    Signal,
    /// Read from a pipe
    Pipe,
    /// In a wait cell: from one to the next, as the wait goes on
    Auto,
    /// One after the other
    All,
}

impl WaitChoice {
    /// What it stands for; nothing for all.
    pub(crate) const fn kind(self) -> Option<Kind> {
        Some(match self {
            Self::Spin => Kind::Spin,
            Self::Monitor => Kind::Monitor,
            Self::Pause => Kind::Pause,
            Self::Futex => Kind::Futex,
            Self::Eventfd => Kind::Eventfd,
            Self::Signal => Kind::Signal,
            Self::Pipe => Kind::Pipe,
            Self::Auto => Kind::Auto,
            Self::All => return None,
        })
    }
}
