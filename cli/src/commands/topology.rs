//! `raddle topology`: the machine as text, picture or JSON.

use std::borrow::Cow;
use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use raddle_topology::{Topology, format};

use crate::arguments::Options;
use crate::error::CliError;
use crate::report::Report;

pub(super) const EXAMPLES: &str = "\
Examples:
  raddle topology
  raddle topology --format svg -o machine.svg
  raddle topology --synthetic \"numa:2 core:4 pu:2\"
  raddle topology --xml other-machine.xml --format json";

/// The formats in which a topology is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TopologyFormat {
    /// An indented outline
    Text,
    /// A picture of nested boxes
    Svg,
    /// All known facts, as an indented object
    Json,
}

/// `raddle topology`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TopologyArguments {
    /// Show a made-up machine, such as "numa:2 core:4 pu:2"
    #[arg(long, value_name = "DESCRIPTION", conflicts_with = "xml")]
    synthetic: Option<String>,
    /// Show the machine that this XML file of hwloc describes
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    xml: Option<PathBuf>,
    /// Format of the output [default: text]
    #[arg(long, value_enum, default_value_t = TopologyFormat::Text, hide_default_value = true)]
    format: TopologyFormat,
    /// Print the result as one JSON object on one line; --format json indents it
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
}

impl TopologyArguments {
    /// Returns the options for the output.
    pub(super) fn options(&self) -> Options {
        Options {
            json: self.json || self.format == TopologyFormat::Json,
            ..Options::default()
        }
    }
}

/// Describes a topology.
///
/// # Errors
/// [`CliError::Topology`] for a description or file that cannot be read.
pub(super) fn run(arguments: &TopologyArguments) -> Result<Report, CliError> {
    let topology = load(arguments)?;
    let mut report = Report::new();
    match arguments.format {
        TopologyFormat::Svg => report.text(format::svg(&topology)),
        TopologyFormat::Text | TopologyFormat::Json => {
            report.text(format::text(&topology)).fields(&*topology)
        }
    };
    report
        .indented(arguments.format == TopologyFormat::Json)
        .written_to(arguments.output.clone());
    Ok(report)
}

fn load(arguments: &TopologyArguments) -> Result<Cow<'static, Topology>, CliError> {
    Ok(match (&arguments.synthetic, &arguments.xml) {
        (Some(description), _) => Cow::Owned(Topology::synthetic(description)?),
        (None, Some(path)) => Cow::Owned(Topology::from_xml(path)?),
        (None, None) => Cow::Borrowed(Topology::this_machine()?),
    })
}
