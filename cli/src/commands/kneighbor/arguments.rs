//! The command line of `raddle kneighbor`.

use std::str::FromStr;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use raddle::chare::nodes::{JobEnvironment, JobError, Progress};
use raddle::net::{Launch, NetError, TransportKind};

use crate::arguments::nodes::NODES_MAX;
use crate::arguments::values::{self, Bytes};

pub(crate) const EXAMPLES: &str = "\
Examples:
  raddle kneighbor
  raddle kneighbor --elements 8 -k 1 --bytes 64K --mailbox pairs
  raddle kneighbor --workers 4 --affinity 0,2,1,3 --touch --json
  raddle kneighbor --mode all --bytes all
  raddle kneighbor --mode shm --nodes 4 -k 2 --bytes 16,4K
  raddle kneighbor --mode shm --progress all --workers 2
  raddle kneighbor --elements 7 --touch --stats --affinity none

Each element sends a message to each of its K left and K right neighbours, and begins the next
iteration when it has received theirs. The program is the same in all modes. Between the workers of
one process, a message hands over its buffer: nothing is copied or allocated. A message to another
node, which is a process, is copied: into the outgoing message, then through shared memory (shm) or
the kernel (socket), and from there into a buffer of the receiver.

If several modes are compared, their runs alternate. The column /threads has the time relative to
that between threads, as the median over pairs of runs. MPI is measured after the other modes,
because mpirun has to start the program again; its factor is the ratio of the medians. With mpi,
processes on one machine communicate through shared memory, as with shm. With mpi-messages, MPI
transports all messages.";

/// Larger numbers are a mistake, which is better reported at once than after a long time.
const ELEMENTS_MAX: i64 = 1_000_000;
const NEIGHBOURS_MAX: i64 = 100_000;
/// The number of iterations in a run.
const ITERATIONS: u64 = 10_000;
/// The largest number of bytes that each element sends in a run when several runs are compared,
/// unless `--iterations` is given.
const BYTES_SENT: u64 = 300_000_000;

/// The parties between which kNeighbor exchanges messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Workers of one process.
    Threads,
    /// Nodes, which are connected by a transport.
    Nodes(TransportKind),
}

impl Mode {
    /// Returns the name of the mode.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::Nodes(kind) => kind.name(),
        }
    }

    /// Returns the reason why this process cannot use the mode; `None` if it can.
    pub(crate) fn why_not(self) -> Option<String> {
        let transport = match self {
            Self::Threads => TransportKind::Threads,
            Self::Nodes(kind) => kind,
        };
        if transport.is_here() {
            return None;
        }
        Some(match Launch::rank_count() {
            _ if !transport.is_by_mpi() => NetError::OneOfMany(transport).to_string(),
            None => "MPI has not started this process".to_owned(),
            Some(_) => NetError::WithoutMpi.to_string(),
        })
    }

    /// Returns all modes.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let nodes = TransportKind::OF_PROCESSES.iter().copied().map(Self::Nodes);
        [Self::Threads].into_iter().chain(nodes)
    }
}

/// One mode, or all modes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Modes(pub(crate) Vec<Mode>);

fn modes_parser() -> impl TypedValueParser<Value = Modes> {
    let names = Mode::all().map(Mode::name).chain(["all"]);
    PossibleValuesParser::new(names.collect::<Vec<_>>()).map(|name| {
        let is_named = |mode: &Mode| {
            name.eq_ignore_ascii_case("all") || name.eq_ignore_ascii_case(mode.name())
        };
        Modes(Mode::all().filter(is_named).collect())
    })
}

/// One way to receive messages, or all ways.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProgressChoice(pub(crate) Vec<Progress>);

fn progress_parser() -> impl TypedValueParser<Value = ProgressChoice> {
    PossibleValuesParser::new(Progress::ALL.map(Progress::name).into_iter().chain(["all"])).map(
        |name| {
            let is_named = |way: &Progress| {
                name.eq_ignore_ascii_case("all") || name.eq_ignore_ascii_case(way.name())
            };
            ProgressChoice(Progress::ALL.into_iter().filter(is_named).collect())
        },
    )
}

/// The sizes of the study's figures.
const SIZES: [usize; 7] = [16, 64, 256, 1_024, 4_096, 16_384, 65_536];

/// Several sizes: `16,64K`, or `all` for the sizes of the study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sizes(pub(crate) Vec<Bytes>);

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self(SIZES.map(Bytes).to_vec()));
        }
        let sizes: Result<_, _> = text.split(',').map(Bytes::from_str).collect();
        sizes
            .map(Self)
            .map_err(|reason| format!("{reason}; separate several sizes by commas, or use all"))
    }
}

/// `raddle kneighbor`.
#[derive(Debug, Clone, Args)]
pub(crate) struct KneighborArguments {
    /// Elements in the ring [default: the number of workers]
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=ELEMENTS_MAX))]
    pub(crate) elements: Option<u32>,
    /// Neighbours on each side
    #[arg(short, long = "neighbours", value_name = "K", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=NEIGHBOURS_MAX))]
    pub(crate) k: u32,
    /// Bytes per message, such as 16, 64K or 1M; several sizes separated by commas; or all, which
    /// means seven sizes from 16 B to 64 KB
    #[arg(long, value_name = "B", visible_alias = "size", default_value = "1K")]
    pub(crate) bytes: Sizes,
    /// Iterations per run, such as 10000 or 1e4 [default: 10000; in comparisons fewer, so that an
    /// element sends at most 300 MB]
    #[arg(long, value_name = "I", value_parser = values::round_count)]
    pub(crate) iterations: Option<u64>,
    /// Write every byte of a message before sending it, and read every byte on arrival
    #[arg(long)]
    pub(crate) touch: bool,
    /// Run this many times and report median, smallest and largest time
    #[arg(long, value_name = "R", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) repeat: u32,
    /// Parties that exchange messages: the workers of one process (threads); nodes that communicate
    /// by the named transport; or all, which compares all of these [default: threads, or nodes if
    /// RADDLE_NODES or mpirun asks for them]
    #[arg(long, value_name = "NAME", ignore_case = true, overrides_with = "mode")]
    #[arg(value_parser = modes_parser())]
    pub(crate) mode: Option<Modes>,
    /// Number of nodes, each with --workers workers (by default one). In mode threads, one process
    /// has the workers of all nodes [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=NODES_MAX))]
    pub(crate) nodes: Option<u16>,
    /// Receiver of messages from other nodes: workers, between tasks (pending), and also after each
    /// message to another node (send) or to any element (any-send); a separate thread (thread); or
    /// all of these, one after the other [default: pending]
    #[arg(
        long,
        value_name = "NAME",
        ignore_case = true,
        overrides_with = "progress"
    )]
    #[arg(value_parser = progress_parser())]
    pub(crate) progress: Option<ProgressChoice>,
}

impl KneighborArguments {
    /// Fills in what the options leave open from the environment.
    ///
    /// # Errors
    /// [`JobError::Environment`] for a variable with a wrong value.
    pub(crate) fn or_environment(mut self) -> Result<Self, JobError> {
        let environment = JobEnvironment::read()?;
        let nodes = environment.nodes.filter(|&nodes| nodes > 1);
        let kind = environment.transport.unwrap_or_default();
        // `--nodes` without `--mode` means threads. Nodes that only the variable asks for use its
        // transport.
        if self.mode.is_none() && self.nodes.is_none() && nodes.is_some() {
            self.mode = Some(Modes(vec![Mode::Nodes(kind)]));
        }
        if self.modes() != [Mode::Threads] {
            self.nodes = self.nodes.or(nodes);
        }
        // Without other nodes, the variable has no effect.
        if let (None, Some(way)) = (&self.progress, environment.progress)
            && self.modes() != [Mode::Threads]
            && self.nodes != Some(1)
        {
            self.progress = Some(ProgressChoice(vec![way]));
        }
        Ok(self)
    }

    /// Returns the selected modes, by default `threads`.
    pub(crate) fn modes(&self) -> &[Mode] {
        self.mode
            .as_ref()
            .map_or(&[Mode::Threads], |modes| &modes.0)
    }

    /// Returns the selected ways to receive messages, by default `pending`.
    pub(crate) fn ways(&self) -> &[Progress] {
        let ways = self.progress.as_ref();
        ways.map_or(&[Progress::Pending], |ways| &ways.0)
    }

    /// Returns the number of iterations of a single run.
    pub(crate) fn iterations(&self) -> u64 {
        self.iterations.unwrap_or(ITERATIONS)
    }

    /// Returns the number of iterations of a run that is compared with others and has messages of
    /// `bytes` bytes.
    pub(crate) fn iterations_of(&self, bytes: usize) -> u64 {
        let sent = 2 * u64::from(self.k) * bytes.max(1) as u64;
        let few = ITERATIONS.min((BYTES_SENT / sent).max(1));
        self.iterations.unwrap_or(few)
    }

    /// Returns true if there are several runs to compare, false for one run of the workers that the
    /// options describe.
    pub(crate) fn compares(&self) -> bool {
        self.modes() != [Mode::Threads] || self.bytes.0.len() > 1 || self.nodes.is_some()
    }
}
