//! A mesh, a depth and a runtime: the setting in which builders are compared.

use std::cell::Cell;
use std::time::Duration;

use raddle::Runtime;
use raddle_graphics::kdtree::messages::{MessageOptions, NodeGrain};

use super::builders::Messages;
use super::subject::Subject;
use crate::error::BenchError;
use crate::harness::Sample;

/// The number of builds with each grain in a search. The fastest build counts.
const ROUNDS: usize = 5;

/// The grains to try with the peers of the nested algorithm. A subtree with fewer triangles is
/// built by one thread.
const PEER_GRAINS: [usize; 4] = [1024, 4 * 1024, 16 * 1024, 64 * 1024];

/// A setting in which builders are compared. They use the same runtime, since they alternate.
#[derive(Debug)]
pub(super) struct Stage<'a> {
    pub(super) subject: &'a Subject<'a>,
    pub(super) runtime: &'a Runtime,
    /// The fastest number of node tasks, once it has been searched.
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

    /// Creates a builder by messages, which builds once, so that it has its memory.
    pub(super) fn messages(
        &self,
        name: &'static str,
        options: MessageOptions,
    ) -> Result<Messages<'a>, BenchError> {
        Messages::new(name, self.subject, self.runtime, options)
    }

    /// Returns the default options with the number of node tasks that is fastest with them.
    pub(super) fn best(&self) -> Result<MessageOptions, BenchError> {
        let node_tasks = match self.node_tasks.get() {
            Some(found) => found,
            None => self.quickest()?,
        };
        self.node_tasks.set(Some(node_tasks));
        Ok(with_node_tasks(node_tasks))
    }

    /// Tries every second power of two up to the number of nodes that a tree of this depth may
    /// have.
    fn quickest(&self) -> Result<usize, BenchError> {
        let grains = node_tasks_up_to(self.subject.depth).step_by(2);
        quickest(grains, |node_tasks| {
            let options = with_node_tasks(node_tasks);
            self.messages("raddle", options)?.build()
        })
    }
}

/// Returns the grain with which a peer of the nested algorithm is fastest, by a search like
/// [`Stage::best`].
pub(super) fn quickest_for_peer(
    mut build: impl FnMut(usize) -> Result<Sample, BenchError>,
) -> Result<usize, BenchError> {
    quickest(PEER_GRAINS, |grain| {
        // A build as warm-up, since a builder by messages has built once when it is created.
        build(grain)?;
        build(grain)
    })
}

/// Returns the grain with the smallest minimum time.
///
/// All grains are tried in turn, several times, so that changes of the machine's speed affect all
/// of them.
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

/// Returns the default options with this number of node tasks.
pub(super) fn with_node_tasks(node_tasks: usize) -> MessageOptions {
    MessageOptions {
        grain: NodeGrain::Tasks(node_tasks),
        ..MessageOptions::default()
    }
}

/// Returns the numbers of node tasks that are worth trying: the powers of two up to the number of
/// nodes of a full tree, but at most 4,096.
pub(super) fn node_tasks_up_to(depth: u32) -> impl Iterator<Item = usize> {
    (0..=depth.saturating_add(1).min(12)).map(|log2| 1 << log2)
}
