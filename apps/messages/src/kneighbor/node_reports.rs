//! The counters of the workers of each node, read on that node.

use raddle::chare::nodes::Setup;
use raddle::chare::{Array, ArrayOptions, Failure, Reply};
use raddle::trace::{Report, WorkerReport};
use raddle::{chare, current_report};

/// An object on each node of a job that reads the counters of its node.
#[derive(Clone, Debug)]
pub(super) struct NodeReports(Array<NodeCounters>);

#[derive(Debug)]
struct NodeCounters;

#[chare(nodes)]
impl NodeCounters {
    /// Returns the name of the pool, and the counters of each worker.
    #[entry]
    fn read(&mut self) -> (String, Vec<WorkerReport>) {
        let report = current_report().expect("entries run on workers");
        (report.pool, report.workers)
    }
}

impl NodeReports {
    /// Creates the objects. All nodes make the same call.
    pub(super) fn set_up(setup: &Setup<'_>) -> Self {
        // The elements of an array are distributed in equal blocks: one on each node.
        let options = ArrayOptions::new(setup.node_count());
        Self(setup.array_with(options, |_| NodeCounters))
    }

    /// Returns the reports of all nodes, by node.
    pub(super) fn read(&self, nodes: usize) -> Result<Vec<Report>, Failure> {
        let replies: Vec<Reply<_>> = (0..nodes).map(|node| self.0.at(node).read()).collect();
        let reports = replies.into_iter().map(|reply| {
            let (pool, workers) = reply.try_wait()?;
            Ok(Report::new(&pool, workers))
        });
        reports.collect()
    }
}
