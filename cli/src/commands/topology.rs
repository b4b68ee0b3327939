//! `raddle topology`: the machine as text, picture or JSON.

use std::borrow::Cow;

use raddle_topology::{Topology, format};
use serde_json::{Map, Value, json};

use crate::arguments::{TopologyArguments, TopologyFormat};
use crate::error::CliError;
use crate::{output, schema};

/// Shows a topology.
///
/// # Errors
/// [`CliError::Topology`] for a description or file that cannot be read, and those of the output.
pub(crate) fn run(arguments: &TopologyArguments) -> Result<(), CliError> {
    let topology = load(arguments)?;
    let text = match arguments.format {
        _ if arguments.json => schema::line(object(&topology)),
        TopologyFormat::Text => format::text(&topology),
        TopologyFormat::Svg => format::svg(&topology),
        TopologyFormat::Json => schema::indented(object(&topology)),
    };
    match &arguments.output {
        Some(path) => output::write_file(path, &text),
        None => output::print(&text),
    }
}

fn object(topology: &Topology) -> Map<String, Value> {
    let mut result = schema::object(topology);
    result.insert("command".to_owned(), json!("topology"));
    result
}

fn load(arguments: &TopologyArguments) -> Result<Cow<'static, Topology>, CliError> {
    Ok(match (&arguments.synthetic, &arguments.xml) {
        (Some(description), _) => Cow::Owned(Topology::synthetic(description)?),
        (None, Some(path)) => Cow::Owned(Topology::from_xml(path)?),
        (None, None) => Cow::Borrowed(Topology::this_machine()?),
    })
}
