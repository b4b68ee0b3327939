//! The nodes of `raddle dirt`: processes, or threads of this one.

use std::thread;

use raddle::net::{Launch, NetError, Node, NodeId, Nodes, TransportKind};
use raddle_graphics::dirt::{Content, DirtError, DirtOptions, refuse, work};
use raddle_topology::{Claims, Plan, Topology};

use super::arguments::{DirtArguments, Job};
use super::report::Rendered;
use super::subject::{Subject, open};
use crate::arguments::Options;
use crate::error::{self, CliError};
use crate::workers;

/// Places all renderers, those of the first node first. Returns `None` if MPI has started the
/// nodes, perhaps on other machines: `mpirun` binds them.
///
/// # Errors
/// [`CliError`] for CPUs that this process cannot use.
pub(super) fn plan(job: &Job, options: &Options) -> Result<Option<Plan>, CliError> {
    if job.kind.is_by_mpi() {
        return Ok(None);
    }
    // A group of its own ignores the CPUs that other programs have claimed.
    let claims = Claims::in_group(format!("raddle-dirt-{}", std::process::id()));
    let count = usize::from(job.options.workers) * usize::from(job.options.renderers);
    let builder = workers::builder(options).workers(count);
    let plan = builder.claims(claims).plan();
    plan.map(Some)
        .map_err(|error| workers::refused(error, options))
}

/// Runs the supervisor in this process, and the nodes that render in others or in threads. Returns
/// the result of `lead`, or `None` in a process that was started as a node.
///
/// # Errors
/// Those of `lead`, and those of nodes that do not start.
pub(super) fn run(
    job: &Job,
    plan: Option<&Plan>,
    arguments: &DirtArguments,
    options: &Options,
    lead: impl FnOnce(&Node, Subject) -> Result<Rendered, CliError> + Send,
) -> Result<Option<Rendered>, CliError> {
    let kind = job.kind;
    if !kind.is_by_mpi() && !kind.is_here() {
        return Err(CliError::WrongCall {
            options: format!("--transport {kind}"),
            reason: NetError::OneOfMany(kind).to_string(),
        });
    }
    // An input that cannot be read is reported before other processes start.
    let is_first = !kind.is_by_mpi() && !Launch::is_started();
    let opened =
        is_first.then(|| open(&arguments.input, &job.options, job.on_demand, options.quiet));
    let opened = opened.transpose()?;
    if let (true, Some(plan)) = (is_first, plan) {
        workers::print_plan(plan, options)?;
    }
    if let (TransportKind::Threads, Some((subject, content))) = (kind, &opened) {
        return run_threads(job, plan, subject, content, lead).map(Some);
    }
    // The voxels are not needed here, only facts about them.
    let subject = opened.map(|(subject, _)| subject);
    let launch = Launch::new(job.options.shape()).transport(kind).quiet(true);
    let nodes = launch.start().map_err(|error| failed(error.into()))?;
    if nodes.node().id() != NodeId(0) {
        return follow(nodes, job, plan, arguments).map(|()| None);
    }
    let subject = match subject {
        Some(subject) => subject,
        None => open(&arguments.input, &job.options, job.on_demand, options.quiet)?.0,
    };
    match lead(nodes.node(), subject) {
        Ok(rendered) => {
            let finished = nodes.finish();
            // A node that has ended, or was killed because it did not run, did no harm.
            if rendered.lost == 0 {
                finished.map_err(|error| failed(error.into()))?;
            }
            Ok(Some(rendered))
        }
        Err(error) if error.is_end_of_a_node() => {
            let why = nodes.why();
            Err(why.map_or(error, |why| failed(why.into())))
        }
        Err(error) => Err(error),
    }
}

/// Runs the nodes that render as threads of this process.
pub(super) fn run_threads(
    job: &Job,
    plan: Option<&Plan>,
    subject: &Subject,
    content: &Content,
    lead: impl FnOnce(&Node, Subject) -> Result<Rendered, CliError> + Send,
) -> Result<Rendered, CliError> {
    let nodes = Node::in_process_by(job.kind, job.options.shape());
    let mut nodes = nodes.map_err(|error| failed(error.into()))?;
    let first = nodes.remove(0);
    thread::scope(|scope| {
        let mut workers = Vec::new();
        for node in nodes {
            let builder = thread::Builder::new().name(format!("dirt {}", node.id().0));
            let works = move || {
                let begin = |renderer| bind(plan, &job.options, node.id(), renderer);
                work(&node, content.clone(), &job.options, begin)
            };
            let started = builder.spawn_scoped(scope, works);
            // If a thread is refused, the supervisor leaves, which ends the others.
            workers.push(started.map_err(|error| failed(DirtError::Thread(error)))?);
        }
        let led = lead(&first, subject.clone());
        drop(first);
        for worker in workers {
            match worker.join() {
                Ok(Err(error)) if led.as_ref().is_ok_and(|it| it.lost == 0) => {
                    return Err(failed(error));
                }
                // A panic has printed a message, and the supervisor counts its node as lost.
                Ok(_) | Err(_) => {}
            }
        }
        led
    })
}

/// Renders for the supervisor, in a process of its own.
fn follow(
    nodes: Nodes,
    job: &Job,
    plan: Option<&Plan>,
    arguments: &DirtArguments,
) -> Result<(), CliError> {
    let node = nodes.node();
    let content = match open(&arguments.input, &job.options, job.on_demand, true) {
        Ok((_, content)) => content,
        Err(error) => {
            refuse(node, &error::one_line(&error)).map_err(failed)?;
            // The supervisor prints the reason, and ends the program.
            return match job.kind.is_by_mpi() {
                true => nodes.finish().map_err(|error| failed(error.into())),
                false => Err(error),
            };
        }
    };
    let begin = |renderer| bind(plan, &job.options, node.id(), renderer);
    work(node, content, &job.options, begin).map_err(failed)?;
    nodes.finish().map_err(|error| failed(error.into()))
}

/// Binds the thread of a renderer to its CPU, unless renderers share CPUs. A thread that cannot be
/// bound may run anywhere.
fn bind(plan: Option<&Plan>, options: &DirtOptions, node: NodeId, renderer: u16) {
    let Some(plan) = plan.filter(|plan| !plan.shares_a_cpu()) else {
        return;
    };
    let before = usize::from(node.0 - 1) * usize::from(options.renderers);
    let entry = plan.entries.get(before + usize::from(renderer));
    if let Some(cpu) = entry.and_then(|entry| entry.cpu)
        && let Ok(topology) = Topology::this_machine()
    {
        let _ = topology.bind_this_thread(cpu);
    }
}

/// Converts an error of the distributed ray tracer.
pub(super) fn failed(source: DirtError) -> CliError {
    CliError::Dirt {
        what: "dirt".to_owned(),
        source,
    }
}
