//! The ring in several places at once: each in a job of its own, on the workers of one process or on nodes.

use std::os::unix::process::parent_id;

use raddle::chare::nodes::{Job, JobError, Setup};
use raddle::chare::{Array, ArrayOptions};
use raddle::net::Launch;
use raddle::reduce::{Max, Sum};
use raddle_topology::Claims;

use super::{Element, KNeighbor, Shape};

/// Runs `measure` with a ring for each job, in their order, all of which are up then: so their runs can take turns.
///
/// A process that was started as a node has one job, that for which it was started, and serves it: `measure` is not called there, and there is no result.
///
/// # Errors
/// [`JobError`] of the first job that fails.
/// # Panics
/// When there is no element.
///
/// # Examples
/// ```
/// use raddle::Runtime;
/// use raddle::chare::nodes::Job;
/// use raddle_messages::kneighbor::{Shape, together};
///
/// let shape = Shape { elements: 4, k: 3, bytes: 100, touch: true };
/// // Of one node each, here; a transport and arguments for the others belong to several.
/// let jobs = [1, 2].map(|workers| Job::new(1).runtime(Runtime::builder().workers(workers)));
/// let counts = together(jobs, shape, |rings| {
///     let exchanges = rings.iter().map(|ring| ring.run(50));
///     exchanges.map(|exchange| Ok(exchange?.messages)).collect::<Result<Vec<_>, raddle::Failure>>()
/// })?;
/// assert_eq!(counts.expect("this is the first node")?, [shape.messages() * 50; 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn together<R>(
    jobs: impl IntoIterator<Item = Job>,
    shape: Shape,
    measure: impl FnOnce(&[KNeighbor<'_>]) -> R,
) -> Result<Option<R>, JobError> {
    assert!(shape.elements > 0, "a ring has an element at least");
    let mut jobs = jobs.into_iter();
    let (mut measure, mut result) = (Some(measure), None);
    with_rings(&mut jobs, shape, Vec::new(), &mut |rings| {
        result = measure.take().map(|measure| measure(rings));
    })?;
    Ok(result)
}

/// Runs one job after the other, each within the one before it.
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
        |runtime, ring| {
            let mut rings: Vec<KNeighbor<'_>> = rings;
            rings.push(KNeighbor {
                runtime,
                shape,
                ring,
            });
            with_rings(jobs, shape, rings, measure)
        },
    )?;
    done.unwrap_or(Ok(()))
}

/// What all nodes make.
pub(super) fn set_up(setup: &Setup<'_>, shape: Shape) -> Array<Element> {
    setup.reducer::<(Max<u64>, Sum<u64>)>();
    let options = ArrayOptions::new(shape.elements);
    setup.array_with(options, move |_| Element::new(shape))
}

/// The claims of a job's nodes: they see each other's, and nobody else's, since the jobs that are up together take turns.
#[must_use]
pub fn claims(job: &str) -> Claims {
    let first = if Launch::is_started() {
        parent_id().to_string()
    } else if Launch::rank_count().is_some() {
        // Else what MPI has started on one machine has one parent, too, unless a script stands between.
        Launch::rank_program().unwrap_or_else(|| parent_id().to_string())
    } else {
        std::process::id().to_string()
    };
    Claims::in_group(format!("raddle-kneighbor-{first}-{job}"))
}
