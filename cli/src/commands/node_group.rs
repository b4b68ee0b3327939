//! The nodes of commands that measure between nodes.

use raddle::net::{NetError, TransportKind};
use raddle_messages::nodes::{NodeCpus, NodeGroup, NodesError};
use raddle_topology::{Claims, Plan, Topology};

use crate::arguments::Options;
use crate::error::CliError;
use crate::report::Report;
use crate::{units, workers};

/// Starts nodes as processes with the arguments of this one. Each node computes on a CPU of its own
/// if there are enough CPUs.
///
/// Returns the nodes and their placement. Returns `None` in the processes that were started, after
/// they have carried out what the first node asked for.
///
/// # Errors
/// [`CliError`]: nodes that do not start, threads that cannot be placed.
pub(super) fn start(
    kind: TransportKind,
    nodes: u16,
    options: &Options,
) -> Result<Option<(NodeGroup, Plan)>, CliError> {
    if !kind.is_by_mpi() && !kind.is_here() {
        return Err(CliError::WrongCall {
            options: format!("--transport {kind}"),
            reason: NetError::OneOfMany(kind).to_string(),
        });
    }
    // A group of its own ignores the CPUs that other programs have claimed: the nodes run only for
    // a moment.
    let claims = Claims::in_group(format!("raddle-nodes-{}", std::process::id()));
    let builder = workers::builder(options).workers(nodes.into());
    let plan = builder.claims(claims).plan();
    let plan = plan.map_err(|error| workers::refused(error, options))?;
    let cpus = NodeCpus::of_plan(Topology::this_machine()?, &plan);
    let started = NodeGroup::start(kind, nodes, cpus, None);
    let started = started.map_err(|source| failed(kind, source))?;
    if started.is_some() {
        workers::print_plan(&plan, options)?;
    }
    Ok(started.map(|group| (group, plan)))
}

/// Converts an error of nodes that use this transport.
pub(super) fn failed(kind: TransportKind, source: NodesError) -> CliError {
    CliError::Nodes {
        what: format!("--transport {kind}"),
        source,
    }
}

/// Ends the nodes, and returns what was `measured` on them.
///
/// # Errors
/// The error of the measurement. If the measurement failed because a node has ended, and that node
/// has reported a reason, returns that reason.
pub(super) fn finish<T>(group: NodeGroup, measured: Result<T, CliError>) -> Result<T, CliError> {
    let kind = group.transport();
    match measured {
        Ok(measured) => {
            let finished = group.finish();
            finished.map_err(|source| failed(kind, source))?;
            Ok(measured)
        }
        Err(error) if error.is_end_of_a_node() => {
            Err(group.why().map_or(error, |source| failed(kind, source)))
        }
        Err(error) => Err(error),
    }
}

/// Returns the CPUs of the nodes; `None` for a node that is not bound.
fn cpus(group: &NodeGroup) -> Vec<Option<u32>> {
    let cpus = group.cpus().compute_cpus();
    cpus.map(|cpu| cpu.map(|cpu| cpu.0)).collect()
}

/// Describes the nodes, their transport and their CPUs in words.
pub(super) fn about(group: &NodeGroup) -> String {
    let cpus = cpus(group);
    let numbers: Option<Vec<_>> = cpus
        .iter()
        .map(|cpu| cpu.as_ref().map(u32::to_string))
        .collect();
    let places = match numbers {
        Some(numbers) => format!(
            "on {} {}",
            units::plural(numbers.len(), "CPU"),
            numbers.join(", ")
        ),
        // Each node sees only the CPUs that it may use itself.
        None if group.transport().is_by_mpi() => {
            "where mpirun has bound them; with mpirun --bind-to none each has a CPU of its own"
                .to_owned()
        }
        None => "not bound".to_owned(),
    };
    let (count, sharing) = (group.node_count(), group.sharing_count());
    let kind = group.transport();
    // Nodes on other machines do not share memory, nor do nodes to which the system has refused it.
    let apart = if kind == TransportKind::Mpi && sharing < usize::from(count) {
        format!(" ({sharing} of them by memory)")
    } else {
        String::new()
    };
    format!("{count} nodes by {kind}{apart}, {places}")
}

/// Describes the placement of receiving threads in words.
pub(super) const fn receivers(is_apart: bool) -> &'static str {
    if is_apart {
        "a receiving thread is on another hardware thread of the core"
    } else {
        "a receiving thread is on the same CPU"
    }
}

/// Adds the fields that describe the nodes.
pub(super) fn describe(group: &NodeGroup, report: &mut Report) {
    report
        .field("nodes", group.node_count())
        .field("transport", group.transport().name())
        .field("cpus", cpus(group))
        .field("receive_apart", group.cpus().receive_apart());
}
