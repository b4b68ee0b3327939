//! The command line of `raddle simulate`.

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use raddle_model::simulate::pingpong::BYTES_MAX;
use raddle_model::simulate::tracer::Work;
use raddle_model::units::Nanoseconds;

use crate::arguments::model::one_of;
use crate::arguments::nodes::ReceiveChoice;
use crate::arguments::{MachineArguments, OutputOptions, ScenarioArguments, values};

pub(crate) const EXAMPLES: &str = "\
Examples:
  raddle simulate pingpong
  raddle simulate symmetric --nodes 8 --computing 3 --compute 5us
  raddle simulate tracer --nodes 32 --renderers 3 --trace tracer.pftrace
  raddle simulate tracer --nodes 512 --renderers 7 --frames 2 --seed 7 --json

The same seed gives the same run, to the last event. The file of --trace shows the activity of each
thread and link, and messages as arrows. Open it in https://ui.perfetto.dev.";

const PINGPONG_EXAMPLES: &str = "\
Examples:
  raddle simulate pingpong --receive all --trips 10000
  raddle simulate pingpong --bytes 3456 --trips 1 --trace pingpong.json";

const SYMMETRIC_EXAMPLES: &str = "\
Examples:
  raddle simulate symmetric
  raddle simulate symmetric --nodes 16 --computing 7 --compute 500ns --receive poll --json";

const TRACER_EXAMPLES: &str = "\
Examples:
  raddle simulate tracer
  raddle simulate tracer --nodes 64 --brick 7 --answers bold --frames 4
  raddle simulate tracer --nodes 8 --set system.away=0.1 --no-injection

The output compares the simulated values with those of raddle predict.";

/// `raddle simulate`.
#[derive(Debug, Clone, Args)]
pub(crate) struct SimulateArguments {
    /// The program on the simulated nodes.
    #[command(subcommand)]
    pub(crate) program: SimulatedProgram,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

/// The programs for simulated nodes.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum SimulatedProgram {
    /// Send a message there and back, with three ways to receive it
    #[command(after_help = PINGPONG_EXAMPLES)]
    Pingpong(PingpongProgram),
    /// Let all nodes compute, send requests and answer them
    #[command(after_help = SYMMETRIC_EXAMPLES)]
    Symmetric(SymmetricProgram),
    /// Render frames with the distributed ray tracer
    #[command(after_help = TRACER_EXAMPLES)]
    Tracer(TracerProgram),
}

/// The options that all simulations share.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunArguments {
    /// Seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Speeds of threads that share a core [default: measured for pingpong and symmetric, fitted
    /// for tracer, unless a parameter file or --set changes the curve]
    #[arg(long, value_enum, value_name = "CURVE")]
    pub(crate) speeds: Option<SpeedsChoice>,
    /// Write a timeline of the run to this file, for Perfetto; as JSON for Chrome if its name ends
    /// with .json
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) trace: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) machine: MachineArguments,
}

/// The source of the speed of threads that share a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SpeedsChoice {
    /// The values that were measured
    Measured,
    /// The curve that was fitted to these values
    Fitted,
}

/// `raddle simulate pingpong`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PingpongProgram {
    /// Way in which messages are received
    #[arg(long, value_enum, value_name = "HOW", default_value = "all")]
    pub(crate) receive: ReceiveChoice,
    /// Number of round trips
    #[arg(long, value_name = "N", default_value = "10000", value_parser = values::round_count)]
    pub(crate) trips: u64,
    /// Bytes of data in a message
    #[arg(long, value_name = "B", visible_alias = "size", default_value_t = 0)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=i64::from(BYTES_MAX)))]
    pub(crate) bytes: u32,
    /// Send messages inline instead of by descriptors
    #[arg(long)]
    pub(crate) inline: bool,
    #[command(flatten)]
    pub(crate) run: RunArguments,
}

/// `raddle simulate symmetric`.
#[derive(Debug, Clone, Args)]
pub(crate) struct SymmetricProgram {
    /// Number of nodes
    #[arg(long, value_name = "N", default_value_t = 4)]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub(crate) nodes: u32,
    /// Number of threads that compute on each node; together with the handler, at most one for each
    /// context (hardware thread) of a core
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_023))]
    pub(crate) computing: u32,
    /// Mean time for which a thread computes before it sends a request, as if it were alone on its
    /// core, such as 500ns or 10us
    #[arg(long, value_name = "TIME", default_value = "10us", value_parser = values::small_time)]
    pub(crate) compute: Nanoseconds,
    /// Way in which handlers receive messages
    #[arg(long, value_enum, value_name = "HOW", default_value = "all")]
    pub(crate) receive: HandlerReceive,
    /// Number of requests of each thread
    #[arg(long, value_name = "N", default_value = "1000", value_parser = values::round_count)]
    pub(crate) rounds: u64,
    #[command(flatten)]
    pub(crate) run: RunArguments,
}

/// The ways in which handlers receive messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HandlerReceive {
    /// Poll for messages
    Poll,
    /// Sleep until a message arrives
    Notify,
    /// All ways, one after the other
    All,
}

/// `raddle simulate tracer`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TracerProgram {
    /// Number of frames
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) frames: u32,
    /// Distribution of the work around its mean
    #[arg(
        long,
        value_name = "HOW",
        default_value = "exponential",
        ignore_case = true
    )]
    #[arg(value_parser = works())]
    pub(crate) work: Work,
    /// Leave arriving data in memory instead of injecting it into the cache
    #[arg(long)]
    pub(crate) no_injection: bool,
    /// Let each renderer begin the next frame without waiting for the others; the run ends when the
    /// first renderer has finished
    #[arg(long)]
    pub(crate) steady: bool,
    /// Let a supervisor divide frames into tiles, and assign them one after the other; renderers
    /// wait for tiles instead of each other
    #[arg(long, conflicts_with = "steady")]
    pub(crate) supervisor: bool,
    /// With --supervisor: tiles that a node is assigned in advance, for each of its renderers
    #[arg(long, value_name = "N", default_value_t = 2, requires = "supervisor")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) ahead: u32,
    /// With --supervisor: a timeline of raddle dirt --trace, of which the tiles have the work and
    /// the misses [default: all tiles are equal]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "supervisor")]
    pub(crate) tiles: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) run: RunArguments,
    #[command(flatten)]
    pub(crate) scenario: ScenarioArguments,
}

fn works() -> impl TypedValueParser<Value = Work> {
    one_of(Work::ALL, Work::name)
}
