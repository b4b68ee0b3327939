//! `raddle place`: what it is called with.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use raddle_topology::{Affinity, Strategy};

/// What the help ends with.
pub(crate) const EXAMPLES: &str = "\
Examples:
  raddle place traffic.csv
  raddle place traffic.mtx --topology \"numa:2 l3:2 core:8 pu:2\" --control
  raddle place graph.grf.gz --topology machine.xml --format svg -o placed.svg
  raddle place small.csv --strategy exact --cpus 0-7 --json

Matrices: CSV with a row for each sender, Matrix Market, Scotch graphs, each also as .gz; the
content tells the format. The cost is in hop-bytes: bytes times the distance of the two CPUs,
which is 10 for CPUs that share no more than a memory, and firmware's latency between memories.";

/// How a placement is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlaceFormat {
    /// A table of parties and one of costs
    Text,
    /// One object with everything
    Json,
    /// A picture of the matrix and of the machine with all parties
    Svg,
}

/// `raddle place`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PlaceArguments {
    /// The bytes that parties exchange: CSV, Matrix Market or a Scotch graph
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) matrix: PathBuf,
    /// The machine: an XML file of hwloc's, or a made-up one such as "numa:2 core:4 pu:2" [default: this one]
    #[arg(long, value_name = "FILE|DESCRIPTION")]
    pub(crate) topology: Option<String>,
    /// How places are found: treematch, compact, scatter, round-robin, random[:SEED] or exact
    #[arg(long, value_name = "NAME", default_value = "treematch", value_parser = str::parse::<Strategy>)]
    pub(crate) strategy: Strategy,
    /// Use these CPUs only, such as 0,2,4-7
    #[arg(long, value_name = "CPUS", value_parser = cpu_list)]
    pub(crate) cpus: Option<Affinity>,
    /// Keep CPUs for a control thread of each party: other hardware threads of the cores, or spare cores
    #[arg(long)]
    pub(crate) control: bool,
    /// Fail when there are more parties than CPUs, rather than share CPUs
    #[arg(long)]
    pub(crate) no_sharing: bool,
    /// The first row of the matrix is that of the last party
    #[arg(long)]
    pub(crate) reverse_rows: bool,
    /// How to tell it [default: text, or json with --json]
    #[arg(long, value_enum)]
    pub(crate) format: Option<PlaceFormat>,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
}

/// Reads a list of CPUs, and nothing else that an affinity can be.
fn cpu_list(text: &str) -> Result<Affinity, String> {
    match text.parse::<Affinity>() {
        Ok(Affinity::Explicit(list)) => Ok(Affinity::Explicit(list)),
        _ => Err(format!(
            "found {text:?}, expected a list of CPUs such as 0,2,4-7"
        )),
    }
}
