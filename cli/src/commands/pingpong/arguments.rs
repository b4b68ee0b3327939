//! The command line of `raddle pingpong`.

use std::time::Duration;

use clap::{Args, ValueEnum};
use raddle::chare::nodes::JobEnvironment;
use raddle::net::{Launch, TransportKind};
use raddle_messages::waits::Kind;

use crate::arguments::Options;
use crate::arguments::nodes::{NODES_MAX, ReceiveChoice, transport_parser};
use crate::arguments::values::{self, Bytes};
use crate::error::CliError;
use crate::output;

pub(crate) const EXAMPLES: &str = "\
Examples:
  raddle pingpong
  raddle pingpong --layer post --bytes 16,1K,64K --trips 1e6
  raddle pingpong --workers 2 --affinity 0,1 --mailbox locked --json
  raddle pingpong --wait all
  raddle pingpong --wait auto --trips 1e4 --late 2ms --affinity 0,1 --json
  raddle pingpong --nodes 2 --transport socket --receive notify --bytes 1,3456,64K
  raddle pingpong --nodes 2 --overheads
  mpirun --bind-to none -n 2 raddle pingpong
  raddle pingpong --nodes 2 --symmetric --compute 50us

The message goes from the first worker to the last and back, while no other message is under way.
The clock is read after each round trip, and the time of the round trip includes this.

With --wait, two threads without a runtime, each on a CPU of its own, exchange a number. There are
three measurements of each way to wait, each of which takes at most about a second:
- The other thread answers at once. The time is that of a round trip.
- The other thread sleeps before it answers (--late). The time is that from its decision to answer
  until the waiting thread runs again. The CPU time is that of the waiting thread.
- A third thread, the bystander, works on the core of the waiting thread during such waits. The
  share is the work that it gets done, relative to what it gets done alone.

With --nodes, the message goes from the first of several processes to the last and back. Each
process has a CPU of its own. A row ends after about two seconds, even before the last round trip.
--overheads measures the steps of a message: the time of each call, and the time until a message
becomes visible. With --symmetric, each node computes, sends a request to another node, and waits
for the answer. Meanwhile it answers requests: on a separate thread that polls (poll) or is notified
(thread), or on the thread that computes (notify).";

/// The largest number of samples of `--overheads`, which measures each call on its own.
const OVERHEADS_TRIPS_MAX: u64 = 20_000;

/// The senders of the message of `raddle pingpong`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LayerChoice {
    /// Elements of an array
    Array,
    /// Chares that are not in an array
    Chare,
    /// Workers, without objects
    Post,
    /// All of these, one after the other
    All,
}

/// `raddle pingpong`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PingpongArguments {
    /// Sender and receiver of the message
    #[arg(long, value_enum, default_value_t = LayerChoice::All)]
    pub(crate) layer: LayerChoice,
    /// Bytes in the message, such as 16, 64K or 1M, or several sizes separated by commas
    #[arg(
        long,
        value_name = "B",
        visible_alias = "size",
        value_delimiter = ',',
        default_value = "16,1K,64K"
    )]
    pub(crate) bytes: Vec<Bytes>,
    /// Number of round trips, such as 100000 or 1e5 [default: 100000; with --overheads 20000, which
    /// is also the maximum]
    #[arg(long, value_name = "N", value_parser = values::round_count)]
    pub(crate) trips: Option<u64>,
    /// Measure a way to wait, between two threads without a runtime, instead of messages
    #[arg(long, value_enum, value_name = "KIND", conflicts_with_all = EXCLUDED_BY_WAIT)]
    pub(crate) wait: Option<WaitChoice>,
    /// With --wait: time for which the other thread sleeps before a late answer, such as 500us or
    /// 1ms
    #[arg(
        long,
        value_name = "DURATION",
        default_value = "500us",
        requires = "wait"
    )]
    #[arg(value_parser = values::pause)]
    pub(crate) late: Duration,
    /// Measure between the first and the last of this many nodes, instead of between workers. A
    /// node is a process, or a thread with --transport threads
    #[arg(long, value_name = "N", conflicts_with_all = EXCLUDED_BY_NODES)]
    #[arg(value_parser = clap::value_parser!(u16).range(2..=NODES_MAX))]
    pub(crate) nodes: Option<u16>,
    /// Transport of messages between nodes [default: shm; mpi if mpirun or srun has started the
    /// program]
    #[arg(long, value_name = "NAME", ignore_case = true)]
    #[arg(value_parser = transport_parser(TransportKind::ALL))]
    pub(crate) transport: Option<TransportKind>,
    /// Way in which nodes receive messages
    #[arg(long, value_enum, value_name = "HOW", default_value = "all")]
    pub(crate) receive: ReceiveChoice,
    /// Measure the cost of each step of a message, and compare it with that on the simulated node
    /// of the study
    #[arg(long, conflicts_with_all = ["bytes", "receive", "symmetric"])]
    pub(crate) overheads: bool,
    /// Let all nodes compute, send requests and answer them
    #[arg(long, conflicts_with = "bytes")]
    pub(crate) symmetric: bool,
    /// With --symmetric: time for which a node computes before it sends a request, such as 5us or
    /// 1ms
    #[arg(
        long,
        value_name = "DURATION",
        default_value = "10us",
        requires = "symmetric"
    )]
    #[arg(value_parser = values::pause)]
    pub(crate) compute: Duration,
}

impl PingpongArguments {
    /// Fills in what the options leave open from the environment, and checks the result.
    ///
    /// # Errors
    /// [`CliError::Job`] for a variable with a wrong value; [`CliError::WrongCall`] for options
    /// that need nodes if there are none, and for too many samples.
    pub(crate) fn or_environment(mut self, options: &Options) -> Result<Self, CliError> {
        let environment = JobEnvironment::read().map_err(|source| CliError::Job {
            what: "pingpong".to_owned(),
            source,
        })?;
        let for_nodes = [
            ("--overheads", self.overheads),
            ("--symmetric", self.symmetric),
            ("--receive", self.receive != ReceiveChoice::All),
            ("--transport", self.transport.is_some()),
        ];
        let for_nodes = for_nodes.into_iter().find(|(_, is_given)| *is_given);
        // Options for workers describe the workers of one process, so such a call does not ask for
        // nodes.
        let accepts_nodes =
            self.wait.is_none() && self.layer == LayerChoice::All && !options.describes_workers();
        let nodes = environment.nodes.filter(|&nodes| nodes > 1);
        if let Some(nodes) = nodes.filter(|_| self.nodes.is_none() && !accepts_nodes)
            && Launch::rank_count().is_none()
            && !options.quiet
        {
            output::warn(&format!(
                "RADDLE_NODES is {nodes}, and is not used with --wait, --layer and options for \
                 workers of one process"
            ));
        }
        self.nodes = self.nodes.or(nodes.filter(|_| accepts_nodes));
        self.transport = self.transport.or(environment.transport);
        match for_nodes {
            Some((name, _)) if self.nodes.is_none() => Err(CliError::WrongCall {
                options: name.to_owned(),
                reason: "it has an effect only between nodes; \
                         expected --nodes as well, or RADDLE_NODES, or mpirun"
                    .to_owned(),
            }),
            _ if self.overheads && self.trips() > OVERHEADS_TRIPS_MAX => Err(CliError::WrongCall {
                options: format!("--overheads --trips {}", self.trips()),
                reason: format!(
                    "calls are measured one by one; expected at most {OVERHEADS_TRIPS_MAX}"
                ),
            }),
            _ => Ok(self),
        }
    }

    /// Returns the number of round trips.
    pub(crate) fn trips(&self) -> u64 {
        self.trips.unwrap_or(match self.overheads {
            true => OVERHEADS_TRIPS_MAX,
            false => 100_000,
        })
    }

    /// Returns the transport of messages between nodes.
    pub(crate) fn transport(&self) -> TransportKind {
        self.transport.unwrap_or_default()
    }
}

/// The options that have no effect with `--wait`, which has neither messages nor workers.
const EXCLUDED_BY_WAIT: [&str; 7] = [
    "layer",
    "bytes",
    "workers",
    "idle",
    "task_memory",
    "mailbox",
    "stats",
];

/// The options that have no effect with `--nodes`, which has no workers.
const EXCLUDED_BY_NODES: [&str; 7] = [
    "wait",
    "layer",
    "workers",
    "idle",
    "task_memory",
    "mailbox",
    "stats",
];

/// The ways in which the threads of `raddle pingpong --wait` wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WaitChoice {
    /// In a wait cell: check again and again
    Spin,
    /// In a wait cell: let the processor watch a word
    Monitor,
    /// In a wait cell: check less and less often
    Pause,
    /// In a wait cell: sleep in the kernel at once
    Futex,
    /// Read an event counter of the kernel
    Eventfd,
    /// Wait for a signal
    Signal,
    /// Read from a pipe
    Pipe,
    /// In a wait cell: change from one way to the next as the wait goes on
    Auto,
    /// All ways, one after the other
    All,
}

impl WaitChoice {
    /// Returns the selected way; `None` for all ways.
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
