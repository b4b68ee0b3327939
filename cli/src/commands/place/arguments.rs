//! The command line of `raddle place`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use raddle_topology::{Affinity, Strategy};

use crate::arguments::{Options, values};
use crate::error::CliError;

pub(crate) const EXAMPLES: &str = "\
Examples:
  raddle place traffic.csv
  raddle place traffic.mtx --topology \"numa:2 l3:2 core:8 pu:2\" --control
  raddle place graph.grf.gz --topology machine.xml --format svg -o placed.svg
  raddle place small.csv --strategy exact --cpus 0-7 --json
  raddle place --program lk23 --size 16384 --tasks 64 --topology machine.xml --cpus 0-63
  raddle place --program pipeline --topology \"numa:4 core:8 pu:1\" --link-gbs 15 --json

Matrices: CSV with a row per sender, or with a heading such as src,dst,bytes and a row per pair;
Matrix Market; Scotch graphs; all of these also as .gz. The content determines the format. The cost
is in hop-bytes: bytes times the distance between the two CPUs. The distance is 10 for CPUs that
share only a memory. Between memories, it is the latency that the firmware reports.

With --program, the parties are the operations of a program. The program does not run. It is
simulated on the machine twice: with each operation on its CPU, and with threads that are not bound
and therefore wander between CPUs. The times are predictions from the rates that the options set.
The time of wandering threads is not related to hop-bytes.";

/// The form in which a placement is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlaceFormat {
    /// A table of parties and one of costs
    Text,
    /// One object with all results
    Json,
    /// A picture of the matrix and of the machine with all parties
    Svg,
}

/// Programs that can be placed without running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgramChoice {
    /// Livermore kernel 23, a main operation for each block and up to eight for its borders
    Lk23,
    /// A product of matrices, with blocks that move from task to task
    Matmul,
    /// A video tracker of 30 operations
    Pipeline,
}

/// `raddle place`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PlaceArguments {
    /// The bytes that parties exchange: CSV, Matrix Market or a Scotch graph
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) matrix: Option<PathBuf>,
    /// The machine: an XML file of hwloc, or a description of a made-up machine with at most 5120
    /// CPUs, such as "numa:2 core:4 pu:2" [default: this machine]
    #[arg(long, value_name = "FILE|DESCRIPTION")]
    pub(crate) topology: Option<String>,
    /// Strategy: treematch, compact, scatter, round-robin, random, random:SEED or exact
    #[arg(long, value_name = "NAME", default_value = "treematch")]
    #[arg(value_parser = str::parse::<Strategy>)]
    pub(crate) strategy: Strategy,
    /// Use these CPUs only, such as 0,2,4-7
    #[arg(long, value_name = "CPUS", value_parser = cpu_list)]
    pub(crate) cpus: Option<Affinity>,
    /// Reserve CPUs for a control thread of each party: other hardware threads of the cores, or
    /// spare cores
    #[arg(long)]
    pub(crate) control: bool,
    /// Fail if there are more parties than CPUs, instead of sharing CPUs
    #[arg(long)]
    pub(crate) no_sharing: bool,
    /// Read the rows of the matrix in reverse order: the first row belongs to the last party
    #[arg(long)]
    pub(crate) reverse_rows: bool,
    /// Format of the output [default: text]
    #[arg(long, value_enum, default_value_t = PlaceFormat::Text, hide_default_value = true)]
    pub(crate) format: PlaceFormat,
    /// Print the result as one JSON object on one line, like --format json
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) simulated: SimulatedArguments,
}

impl PlaceArguments {
    /// Returns the options for the output.
    pub(crate) fn options(&self) -> Options {
        Options {
            json: self.json || self.format == PlaceFormat::Json,
            ..Options::default()
        }
    }
}

/// A program that is placed instead of a matrix, and the rates of the machine.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Programs instead of a matrix")]
pub(crate) struct SimulatedArguments {
    /// Place the operations of a program, and predict its run time
    #[arg(long, value_enum, conflicts_with_all = ["matrix", "reverse_rows"])]
    pub(crate) program: Option<ProgramChoice>,
    /// Rows and columns of the matrices, or lines of a 16:9 picture of the pipeline [default:
    /// 16384; pipeline: 1080]
    #[arg(long, value_name = "N", conflicts_with = "matrix")]
    #[arg(value_parser = values::matrix_side)]
    pub(crate) size: Option<u32>,
    /// Blocks of lk23, row tasks of matmul, parts of the first bottleneck of the pipeline [default:
    /// 64; pipeline: 16]
    #[arg(long, value_name = "N", conflicts_with = "matrix", value_parser = tasks)]
    pub(crate) tasks: Option<NonZeroUsize>,
    /// Number of turns, which are sweeps of lk23 and frames of the pipeline [default: 100; matmul:
    /// the number of tasks]
    #[arg(long, value_name = "T", conflicts_with = "matrix")]
    #[arg(value_parser = values::round_count)]
    pub(crate) turns: Option<u64>,
    /// Speed of a core in GFLOP/s, for lk23 and matmul [default: 1.6 for lk23, 12 for matmul]
    #[arg(
        long,
        value_name = "G",
        conflicts_with = "matrix",
        allow_negative_numbers = true
    )]
    #[arg(value_parser = rate)]
    pub(crate) core_gflops: Option<f64>,
    /// Bandwidth of a core, in gigabytes per second [default: 8]
    #[arg(
        long,
        value_name = "G",
        conflicts_with = "matrix",
        allow_negative_numbers = true
    )]
    #[arg(value_parser = rate)]
    pub(crate) core_gbs: Option<f64>,
    /// Bandwidth of the memory of a NUMA node, in gigabytes per second [default: 42.6]
    #[arg(
        long,
        value_name = "G",
        conflicts_with = "matrix",
        allow_negative_numbers = true
    )]
    #[arg(value_parser = rate)]
    pub(crate) node_gbs: Option<f64>,
    /// Bandwidth of the link of a NUMA node, both directions together, in gigabytes per second
    /// [default: 6.5]
    #[arg(
        long,
        value_name = "G",
        conflicts_with = "matrix",
        allow_negative_numbers = true
    )]
    #[arg(value_parser = rate)]
    pub(crate) link_gbs: Option<f64>,
    /// Number of turns after which a thread that is not bound moves to another CPU [default: 4]
    #[arg(long, value_name = "T", conflicts_with = "matrix")]
    #[arg(value_parser = values::round_count)]
    pub(crate) stay: Option<u64>,
}

impl SimulatedArguments {
    /// Refuses options that change only the predicted times, which a picture does not show.
    ///
    /// # Errors
    /// [`CliError::WrongCall`], which names the options.
    pub(crate) fn check_format(&self, format: PlaceFormat) -> Result<(), CliError> {
        let for_times = [
            ("--turns", self.turns.is_some()),
            ("--core-gbs", self.core_gbs.is_some()),
            ("--node-gbs", self.node_gbs.is_some()),
            ("--link-gbs", self.link_gbs.is_some()),
            ("--stay", self.stay.is_some()),
        ];
        let given: Vec<_> = for_times
            .into_iter()
            .filter_map(|(name, is_given)| is_given.then_some(name))
            .collect();
        if format != PlaceFormat::Svg || given.is_empty() {
            return Ok(());
        }
        Err(CliError::WrongCall {
            options: format!("{} --format svg", given.join(" ")),
            reason: "the picture does not show predicted times; expected --format text or json"
                .to_owned(),
        })
    }
}

/// Parses a number of tasks that can be simulated in a short time.
fn tasks(text: &str) -> Result<NonZeroUsize, String> {
    let count = text.parse().ok();
    count
        .filter(|count: &NonZeroUsize| count.get() <= 4096)
        .ok_or_else(|| "expected a number of tasks from 1 to 4096".to_owned())
}

/// Parses a rate.
fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok();
    rate.filter(|rate| (1e-6..=1e6).contains(rate))
        .ok_or_else(|| "expected a rate from 1e-6 to 1e6".to_owned())
}

/// Parses a list of CPUs, and no other kind of affinity.
fn cpu_list(text: &str) -> Result<Affinity, String> {
    match text.parse::<Affinity>() {
        Ok(Affinity::Explicit(list)) => Ok(Affinity::Explicit(list)),
        _ => Err(format!(
            "found {text:?}; expected a list of CPUs such as 0,2,4-7"
        )),
    }
}
