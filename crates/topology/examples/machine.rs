//! Prints a machine as text, SVG or JSON, and where four workers would run on it.
//!
//! `cargo run -p raddle-topology --example machine -- [text|svg|json] [SYNTHETIC | FILE.xml]`
//!
//! Without a machine it is this one. The plan goes to the standard error stream, so that a picture can be redirected.

use std::error::Error;

use raddle_topology::{Affinity, Topology, format, plan};

#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing is what it is for"
)]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let topology = match arguments.get(1) {
        None => Topology::this_machine()?.clone(),
        Some(path) if path.ends_with(".xml") => Topology::from_xml(path)?,
        Some(description) => Topology::synthetic(description)?,
    };
    match arguments.first().map(String::as_str) {
        Some("svg") => print!("{}", format::svg(&topology)),
        Some("json") => print!("{}", format::json(&topology)),
        _ => print!("{}", format::text(&topology)),
    }
    for affinity in [Affinity::Compact, Affinity::Scatter] {
        let plan = plan(&topology, &affinity, 4)?;
        eprintln!("\n{affinity}\n{plan}");
        assert!(
            plan.cpus()
                .all(|id| topology.cpu(id).is_some_and(|cpu| cpu.allowed))
        );
    }
    Ok(())
}
