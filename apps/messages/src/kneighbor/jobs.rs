//! Several rings at once, each in a job of its own, on the workers of one process or on nodes.

use std::os::unix::process::parent_id;

use raddle::chare::nodes::{Job, JobError, Setup};
use raddle::chare::{Array, ArrayOptions};
use raddle::net::Launch;
use raddle::reduce::{Max, Sum};
use raddle_topology::Claims;

use super::node_reports::NodeReports;
use super::{Element, KNeighbor, Shape};

/// Starts all jobs, and calls `measure` with a ring for each, in their order. All rings exist at
/// the same time, so `measure` can run them in turns.
///
/// A process that was started as a node takes part only in the job for which it was started. There,
/// `measure` is not called, and the result is `None`.
///
/// # Errors
/// [`JobError`] of the first job that fails.
/// # Panics
/// If there is no element.
///
/// # Examples
/// ```
/// use raddle::Runtime;
/// use raddle::chare::nodes::Job;
/// use raddle_messages::kneighbor::{Shape, together};
///
/// let shape = Shape { elements: 4, k: 3, bytes: 100, touch: true };
/// // Each job has one node here. A job with more nodes also needs a transport, and arguments for
/// // the processes of the other nodes.
/// let jobs = [1, 2].map(|workers| Job::new(1).runtime(Runtime::builder().workers(workers)));
/// let counts = together(jobs, shape, |rings| {
///     let exchanges = rings.iter().map(|ring| ring.run(50));
///     let counts = exchanges.map(|exchange| Ok(exchange?.messages));
///     counts.collect::<Result<Vec<_>, raddle::Failure>>()
/// })?;
/// assert_eq!(counts.expect("this is the first node")?, [shape.messages() * 50; 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn together<R>(
    jobs: impl IntoIterator<Item = Job>,
    shape: Shape,
    measure: impl FnOnce(&[KNeighbor<'_>]) -> R,
) -> Result<Option<R>, JobError> {
    assert!(shape.elements > 0, "a ring needs at least one element");
    let mut jobs = jobs.into_iter();
    let (mut measure, mut result) = (Some(measure), None);
    with_rings(&mut jobs, shape, Vec::new(), &mut |rings| {
        result = measure.take().map(|measure| measure(rings));
    })?;
    Ok(result)
}

/// Starts the next job inside the previous one, and calls `measure` inside the last.
fn with_rings(
    jobs: &mut dyn Iterator<Item = Job>,
    shape: Shape,
    rings: Vec<KNeighbor<'_>>,
    measure: &mut dyn FnMut(&[KNeighbor<'_>]),
) -> Result<(), JobError> {
    let Some(job) = jobs.next() else {
        measure(&rings);
        return Ok(());
    };
    let done = job.run(
        |setup| set_up(setup, shape),
        |runtime, of_nodes| {
            let mut rings: Vec<KNeighbor<'_>> = rings;
            rings.push(KNeighbor::over_nodes(runtime, shape, of_nodes));
            with_rings(jobs, shape, rings, measure)
        },
    )?;
    done.unwrap_or(Ok(()))
}

/// The ring of a job, and what reads the counters of its nodes.
pub(super) struct OfNodes {
    pub(super) ring: Array<Element>,
    pub(super) reports: NodeReports,
    pub(super) node_count: usize,
}

/// Creates the ring on one node of a job. All nodes make the same call.
pub(super) fn set_up(setup: &Setup<'_>, shape: Shape) -> OfNodes {
    setup.reducer::<(Max<u64>, Sum<u64>)>();
    let options = ArrayOptions::new(shape.elements);
    OfNodes {
        ring: setup.array_with(options, move |_| Element::new(shape)),
        reports: NodeReports::set_up(setup),
        node_count: setup.node_count(),
    }
}

/// Returns the CPU claims for the nodes of a job. The nodes see the claims of each other, but not
/// those of other jobs, because jobs that run at the same time take turns.
#[must_use]
pub fn claims(job: &str) -> Claims {
    let first = if Launch::is_started() {
        parent_id().to_string()
    } else if Launch::rank_count().is_some() {
        // Without a name from the launcher: processes that MPI has started on one machine also have
        // the same parent, unless a script started them.
        Launch::rank_program().unwrap_or_else(|| parent_id().to_string())
    } else {
        std::process::id().to_string()
    };
    Claims::in_group(format!("raddle-kneighbor-{first}-{job}"))
}
