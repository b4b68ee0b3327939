//! A mesh, a depth and a number of workers: where builders are compared.

use std::cell::Cell;
use std::time::Duration;

use raddle::Runtime;
use raddle_graphics::kdtree::messages::{MessageOptions, NodeGrain};

use super::builders::Messages;
use super::subject::Subject;
use crate::error::BenchError;
use crate::harness::Sample;

/// Builds of each grain in a search, of which the quickest counts.
const ROUNDS: usize = 5;

/// The grains that the peers of the nested algorithm are tried with: a node with fewer triangles is built by one thread.
const PEER_GRAINS: [usize; 4] = [1024, 4 * 1024, 16 * 1024, 64 * 1024];

/// Where builders are compared; they have the same runtime, since they run in turn.
#[derive(Debug)]
pub(super) struct Stage<'a> {
    pub(super) subject: &'a Subject<'a>,
    pub(super) runtime: &'a Runtime,
    /// The number of node tasks that was quickest, once it has been looked for.
    node_tasks: Cell<Option<usize>>,
}

impl<'a> Stage<'a> {
    pub(super) fn new(subject: &'a Subject<'a>, runtime: &'a Runtime) -> Self {
        Self {
            subject,
            runtime,
            node_tasks: Cell::new(None),
        }
    }

    pub(super) fn workers(&self) -> usize {
        self.runtime.worker_count()
    }

    /// A builder by messages; it has built once, so that it has its memory.
    pub(super) fn messages(
        &self,
        name: &'static str,
        options: MessageOptions,
    ) -> Result<Messages<'a>, BenchError> {
        Messages::new(name, self.subject, self.runtime, options)
    }

    /// The default choices with the number of node tasks that is quickest with them.
    pub(super) fn best(&self) -> Result<MessageOptions, BenchError> {
        let node_tasks = match self.node_tasks.get() {
            Some(found) => found,
            None => self.quickest()?,
        };
        self.node_tasks.set(Some(node_tasks));
        Ok(with_node_tasks(node_tasks))
    }

    /// Tries every fourth power of two up to the nodes that a tree of this depth may have.
    fn quickest(&self) -> Result<usize, BenchError> {
        let grains = node_tasks_up_to(self.subject.depth).step_by(2);
        quickest(grains, |node_tasks| {
            let options = with_node_tasks(node_tasks);
            self.messages("raddle", options)?.build()
        })
    }
}

/// The grain with which a peer of the nested algorithm is quickest: a search like [that of ours](Stage::best).
pub(super) fn quickest_for_peer(
    mut build: impl FnMut(usize) -> Result<Sample, BenchError>,
) -> Result<usize, BenchError> {
    quickest(PEER_GRAINS, |grain| {
        // One of ours has built once when it is made.
        build(grain)?;
        build(grain)
    })
}

/// The grain whose least time is the least. All are tried in turn, and again: a machine whose speed changes has the same changes for all.
fn quickest(
    grains: impl IntoIterator<Item = usize>,
    mut build: impl FnMut(usize) -> Result<Sample, BenchError>,
) -> Result<usize, BenchError> {
    let mut tried: Vec<(Duration, usize)> = grains
        .into_iter()
        .map(|grain| (Duration::MAX, grain))
        .collect();
    for _ in 0..ROUNDS {
        for (least, grain) in &mut tried {
            *least = build(*grain)?.time.min(*least);
        }
    }
    Ok(tried.into_iter().min().map_or(1, |(_, grain)| grain))
}

/// The default choices with so many node tasks.
pub(super) fn with_node_tasks(node_tasks: usize) -> MessageOptions {
    MessageOptions {
        grain: NodeGrain::Tasks(node_tasks),
        ..MessageOptions::default()
    }
}

/// Numbers of node tasks that are worth trying: the powers of two up to the nodes of a full tree, or 4,096.
pub(super) fn node_tasks_up_to(depth: u32) -> impl Iterator<Item = usize> {
    (0..=depth.saturating_add(1).min(12)).map(|log2| 1 << log2)
}
