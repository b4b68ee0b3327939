//! Nodes for the commands that measure between them.

use raddle::net::{NetError, TransportKind};
use raddle_messages::nodes::{Crew, NodesError, Seats};
use raddle_topology::{Claims, Plan, Topology};
use serde_json::{Value, json};

use crate::arguments::Options;
use crate::error::CliError;
use crate::{output, table, workers};

/// Starts nodes as processes with the arguments of this one; each computes on a CPU of its own where there are as many.
///
/// Returns the nodes and where they are, and nothing in the processes that were started, when they are through with what they were told.
///
/// # Errors
/// [`CliError`]: nodes that do not come up, threads that have no place.
pub(super) fn start(
    kind: TransportKind,
    nodes: u16,
    options: &Options,
) -> Result<Option<(Crew, Plan)>, CliError> {
    if !kind.is_by_mpi() && !kind.is_here() {
        return Err(CliError::WrongCall {
            options: format!("--transport {kind}"),
            reason: NetError::OneOfMany(kind).to_string(),
        });
    }
    // As if nobody else were on the machine: the nodes are gone in a moment.
    let claims = Claims::in_group(format!("raddle-nodes-{}", std::process::id()));
    let builder = workers::builder(options).workers(nodes.into());
    let plan = builder.claims(claims).plan();
    let plan = plan.map_err(|error| workers::refused(error, options))?;
    let seats = Seats::of_plan(Topology::this_machine()?, &plan);
    let started = Crew::start(kind, nodes, seats, None);
    let started = started.map_err(|source| failed(kind, source))?;
    if started.is_some() && options.show_binding && !options.json {
        output::print(&format!("{plan}\n"))?;
    }
    Ok(started.map(|crew| (crew, plan)))
}

/// What ended a measurement.
pub(super) fn failed(kind: TransportKind, source: NodesError) -> CliError {
    CliError::Nodes {
        what: format!("--transport {kind}"),
        source,
    }
}

/// Ends the nodes, and returns what was `measured` on them.
///
/// # Errors
/// That of the measurement, or of a node that failed and has told why: the measurement ended since
/// that node did.
pub(super) fn finish<T>(crew: Crew, measured: Result<T, CliError>) -> Result<T, CliError> {
    let kind = crew.transport();
    match measured {
        Ok(measured) => {
            let finished = crew.finish();
            finished.map_err(|source| failed(kind, source))?;
            Ok(measured)
        }
        Err(error) if error.is_end_of_a_node() => {
            Err(crew.why().map_or(error, |source| failed(kind, source)))
        }
        Err(error) => Err(error),
    }
}

/// Who is where, for people.
pub(super) fn about(crew: &Crew) -> String {
    let cpus: Vec<_> = crew
        .seats()
        .cpus()
        .map(|cpu| cpu.map(|cpu| cpu.0))
        .collect();
    let numbers: Option<Vec<_>> = cpus
        .iter()
        .map(|cpu| cpu.as_ref().map(u32::to_string))
        .collect();
    let places = match numbers {
        Some(numbers) => format!(
            "on {} {}",
            table::plural(numbers.len(), "CPU"),
            numbers.join(", ")
        ),
        // Each sees the CPUs that it may use, and no other's.
        None if crew.transport().is_by_mpi() => {
            "where mpirun has bound them; by mpirun --bind-to none each has a CPU of its own"
                .to_owned()
        }
        None => "not bound".to_owned(),
    };
    let (count, sharing) = (crew.node_count(), crew.sharing_count());
    let kind = crew.transport();
    // Those on other machines, and those to which the system has refused it.
    let apart = if kind == TransportKind::Mpi && sharing < usize::from(count) {
        format!(" ({sharing} of them by memory)")
    } else {
        String::new()
    };
    format!("{count} nodes by {kind}{apart}, {places}")
}

/// Where receiving threads are, for people.
pub(super) const fn receivers(is_apart: bool) -> &'static str {
    if is_apart {
        "a receiving thread is on another hardware thread of the core"
    } else {
        "a receiving thread is on the same CPU"
    }
}

/// Who is where, in JSON.
pub(super) fn describe(crew: &Crew) -> [(String, Value); 4] {
    let cpus: Vec<_> = crew
        .seats()
        .cpus()
        .map(|cpu| cpu.map(|cpu| cpu.0))
        .collect();
    [
        ("nodes".to_owned(), json!(crew.node_count())),
        ("transport".to_owned(), json!(crew.transport().name())),
        ("cpus".to_owned(), json!(cpus)),
        (
            "receive_apart".to_owned(),
            json!(crew.seats().receive_apart()),
        ),
    ]
}
