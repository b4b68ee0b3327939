//! What the commands between nodes have in common on the command line.

use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use raddle::chare::nodes::{self, JobEnvironment, JobError, Progress};
use raddle::net::{Launch, NetError, TransportKind};
use raddle_messages::nodes::Receive;
use raddle_model::simulate;

use super::values::{self, Bytes};
use super::{ELEMENTS_MAX, NEIGHBOURS_MAX};

/// The most nodes, as `clap` takes the end of a range.
pub(super) const NODES_MAX: i64 = nodes::NODES_MAX as i64;

/// Shown below the help of `raddle kneighbor`.
pub(super) const KNEIGHBOR_EXAMPLES: &str = "\
Examples:
  raddle kneighbor
  raddle kneighbor --elements 8 -k 1 --bytes 64K --mailbox pairs
  raddle kneighbor --workers 4 --affinity 0,2,1,3 --touch --json
  raddle kneighbor --mode all --size all
  raddle kneighbor --mode shm --nodes 4 -k 2 --size 16,4K
  raddle kneighbor --mode shm --progress all --workers 2

Each element sends a message to each of its K left and K right neighbours and begins the next
iteration when it has received theirs. The program is the same in all modes. Between the workers of
one process messages carry buffers that go from hand to hand: nothing is copied or allocated. What
goes to another node, which is a process, is copied: into what is sent, into memory that both share
(shm) or the kernel and out of it (socket), and from there into a buffer of the receiver.

With several sizes or modes the runs of all modes take turns, and a factor is the median over them.
MPI, for which mpirun starts the program again, is measured after the others; its factor is that of
the medians. Processes of one machine share memory by mpi, as by shm; by mpi-messages MPI brings all
messages.";

/// Iterations of a run.
const ITERATIONS: u64 = 10_000;
/// Bytes that each element sends in a run of several that are compared, at most, unless iterations are
/// asked for.
const BYTES_SENT: u64 = 300_000_000;

/// How nodes receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReceiveChoice {
    /// Who waits looks again and again
    Poll,
    /// Who waits is woken by the doorbell of the message
    Notify,
    /// A receiving thread is woken, and wakes who waits
    Thread,
    /// One after the other
    All,
}

impl ReceiveChoice {
    /// What it stands for.
    pub(crate) const fn all(self) -> &'static [Receive] {
        match self {
            Self::Poll => &[Receive::Poll],
            Self::Notify => &[Receive::Notify],
            Self::Thread => &[Receive::Thread],
            Self::All => &Receive::ALL,
        }
    }

    /// What it stands for on simulated nodes.
    pub(crate) const fn all_simulated(self) -> &'static [simulate::pingpong::Receive] {
        use simulate::pingpong::Receive;
        match self {
            Self::Poll => &[Receive::Poll],
            Self::Notify => &[Receive::Notify],
            Self::Thread => &[Receive::Thread],
            Self::All => &Receive::ALL,
        }
    }
}

/// The transport of that name.
fn transport_of(name: &str) -> Option<TransportKind> {
    let mut all = TransportKind::ALL.into_iter();
    all.find(|kind| kind.name().eq_ignore_ascii_case(name))
}

/// One of these transports.
pub(super) fn transport_parser(
    kinds: &'static [TransportKind],
) -> impl TypedValueParser<Value = TransportKind> {
    PossibleValuesParser::new(kinds.iter().map(|kind| kind.name()))
        .try_map(|name| transport_of(&name).ok_or("no such transport"))
}

/// Between whom kNeighbor exchanges messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Workers of one process.
    Threads,
    /// Nodes.
    Nodes(TransportKind),
}

impl Mode {
    /// Its name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::Nodes(kind) => kind.name(),
        }
    }

    /// Why this process cannot exchange messages so, if it cannot.
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

    /// All of them.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let nodes = TransportKind::OF_PROCESSES.into_iter().map(Self::Nodes);
        [Self::Threads].into_iter().chain(nodes)
    }
}

/// One mode, or all of them.
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

/// One way to receive, or all of them.
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

/// Several sizes: `16,64K`, or `all` for those of the study.
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
            .map_err(|told| format!("{told}; several are separated by commas, or all"))
    }
}

/// `raddle kneighbor`.
#[derive(Debug, Clone, Args)]
pub(crate) struct KneighborArguments {
    /// Elements in the ring [default: as many as workers]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=ELEMENTS_MAX))]
    pub(crate) elements: Option<u32>,
    /// Neighbours on each side
    #[arg(short, long = "neighbours", value_name = "K", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=NEIGHBOURS_MAX))]
    pub(crate) k: u32,
    /// Bytes in a message, such as 16, 64K or 1M; several sizes are separated by commas, all stands for 16 B to 64 KB
    #[arg(long, value_name = "B", visible_alias = "size", default_value = "1K")]
    pub(crate) bytes: Sizes,
    /// Iterations in a run, such as 10000 or 1e4 [default: 10000; where runs are compared as many as an element sends 300 MB in, if they are fewer]
    #[arg(long, value_name = "I", value_parser = values::round_count)]
    pub(crate) iterations: Option<u64>,
    /// Write every byte before it is sent, and read it when it has come
    #[arg(long)]
    pub(crate) touch: bool,
    /// Run so often and report median, smallest and largest time
    #[arg(long, value_name = "R", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) repeat: u32,
    /// Between whom: the workers of one process, nodes by a transport, or all of these [default: threads; nodes where RADDLE_NODES or mpirun says so]
    #[arg(long, value_name = "NAME", ignore_case = true, overrides_with = "mode", value_parser = modes_parser())]
    pub(crate) mode: Option<Modes>,
    /// Nodes, each with as many workers as --workers or RADDLE_WORKERS says, 1 by default; of threads, as many in one process [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=NODES_MAX))]
    pub(crate) nodes: Option<u16>,
    /// Who receives what comes from other nodes: workers in passing, also after each send, or a thread; or one after the other [default: pending]
    #[arg(long, value_name = "NAME", ignore_case = true, overrides_with = "progress", value_parser = progress_parser())]
    pub(crate) progress: Option<ProgressChoice>,
}

impl KneighborArguments {
    /// The same, where nothing is said as the environment says.
    ///
    /// # Errors
    /// [`JobError::Environment`].
    pub(crate) fn or_environment(mut self) -> Result<Self, JobError> {
        let said = JobEnvironment::read()?;
        let nodes = said.nodes.filter(|&nodes| nodes > 1);
        let kind = said.transport.unwrap_or_default();
        // Of nodes that are asked for on the command line there are threads, if it does not say which.
        if self.mode.is_none() && self.nodes.is_none() && nodes.is_some() {
            self.mode = Some(Modes(vec![Mode::Nodes(kind)]));
        }
        if self.modes() != [Mode::Threads] {
            self.nodes = self.nodes.or(nodes);
        }
        if let (None, Some(way)) = (&self.progress, said.progress)
            && self.modes() != [Mode::Threads]
        {
            self.progress = Some(ProgressChoice(vec![way]));
        }
        Ok(self)
    }

    /// Between whom.
    pub(crate) fn modes(&self) -> &[Mode] {
        self.mode
            .as_ref()
            .map_or(&[Mode::Threads], |modes| &modes.0)
    }

    /// Who receives.
    pub(crate) fn ways(&self) -> &[Progress] {
        let ways = self.progress.as_ref();
        ways.map_or(&[Progress::Pending], |ways| &ways.0)
    }

    /// Iterations of a run of its own.
    pub(crate) fn iterations(&self) -> u64 {
        self.iterations.unwrap_or(ITERATIONS)
    }

    /// Iterations of a run of several that are compared, with messages of so many bytes.
    pub(crate) fn iterations_of(&self, bytes: usize) -> u64 {
        let sent = 2 * u64::from(self.k) * bytes.max(1) as u64;
        let few = ITERATIONS.min((BYTES_SENT / sent).max(1));
        self.iterations.unwrap_or(few)
    }

    /// Whether there is one run of the workers that the options describe, or many to compare.
    pub(crate) fn compares(&self) -> bool {
        self.modes() != [Mode::Threads] || self.bytes.0.len() > 1 || self.nodes.is_some()
    }
}
