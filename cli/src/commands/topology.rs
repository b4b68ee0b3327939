//! `raddle topology`: the machine as text, picture or JSON.

use std::borrow::Cow;

use raddle_topology::{Topology, format};

use crate::arguments::{Options, TopologyArguments, TopologyFormat};
use crate::error::CliError;
use crate::{commands, output};

/// Shows a topology.
///
/// # Errors
/// [`CliError::Topology`] for a description or file that cannot be read, and those of the output.
pub(crate) fn run(arguments: &TopologyArguments, options: &Options) -> Result<(), CliError> {
    let topology = load(arguments)?;
    let default = if options.json {
        TopologyFormat::Json
    } else {
        TopologyFormat::Text
    };
    let text = match arguments.format.unwrap_or(default) {
        TopologyFormat::Text => format::text(&topology),
        TopologyFormat::Svg => format::svg(&topology),
        TopologyFormat::Json => format::json(&topology),
    };
    match &arguments.output {
        Some(path) => output::write_file(path, &text)?,
        None => output::print(&text)?,
    }
    if options.show_binding && !options.json {
        output::print("\n")?;
        commands::binding::run(options)?;
    }
    Ok(())
}

fn load(arguments: &TopologyArguments) -> Result<Cow<'static, Topology>, CliError> {
    Ok(match (&arguments.synthetic, &arguments.xml) {
        (Some(description), _) => Cow::Owned(Topology::synthetic(description)?),
        (None, Some(path)) => Cow::Owned(Topology::from_xml(path)?),
        (None, None) => Cow::Borrowed(Topology::this_machine()?),
    })
}
