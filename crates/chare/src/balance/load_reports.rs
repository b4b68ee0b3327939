//! The measurements of all workers of an array, collected at the root.

use raddle_topology::CpuId;

use super::strategy::{ElementLoad, LoadView, Traffic};
use crate::address::number::Number;
use crate::engine::local::Local;
use crate::state::measured::{Loaded, Measured, Sent};
use crate::state::{Feature, LocalState};

/// An element that was measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) number: Number,
    /// The element cannot move to another node now: an asynchronous entry is under way, or it is
    /// moving already.
    pub(super) is_busy: bool,
}

type Done = Box<dyn FnOnce(&Local) + Send>;

/// The reports that the root has received, and the call to make after the balancing.
pub(crate) struct LoadReports {
    missing: usize,
    loads: Vec<(Found, ElementLoad)>,
    traffic: Vec<((Number, Number), Sent)>,
    done: Done,
}

/// The balancing that is under way; only at the root of an array.
impl LocalState for Option<LoadReports> {
    const FEATURE: Feature = Feature::Balance;
}

impl LoadReports {
    pub(super) fn new(worker_count: usize, done: impl FnOnce(&Local) + Send + 'static) -> Self {
        Self {
            missing: worker_count,
            loads: Vec::new(),
            traffic: Vec::new(),
            done: Box::new(done),
        }
    }

    /// Adds the report of a worker; returns true if it was the last.
    pub(super) fn add(&mut self, measured: Measured) -> bool {
        let worker = measured.worker;
        let loads = measured.loads.into_iter();
        self.loads.extend(loads.map(|loaded| {
            let Loaded {
                number,
                load,
                is_busy,
            } = loaded;
            (Found { number, is_busy }, ElementLoad { worker, load })
        }));
        self.traffic.extend(measured.traffic);
        self.missing -= 1;
        self.missing == 0
    }

    /// Returns the view for a strategy, the elements' numbers, and the call to make afterwards.
    pub(super) fn view(mut self, cpus: Vec<Option<CpuId>>) -> (LoadView, Vec<Found>, Done) {
        self.loads.sort_by_key(|entry| entry.0.number);
        // An element that moved meanwhile may be reported twice. The sort is stable, so the report
        // that arrived first counts.
        self.loads.dedup_by_key(|entry| entry.0.number);
        let found: Vec<_> = self.loads.iter().map(|entry| entry.0).collect();
        let position = |number| {
            let at = found.binary_search_by_key(&number, |found| found.number);
            at.ok()
        };
        let traffic = self
            .traffic
            .iter()
            .filter_map(|&((from, to), (message_count, bytes))| {
                Some(Traffic {
                    from: position(from)?,
                    to: position(to)?,
                    message_count,
                    bytes,
                })
            });
        let view = LoadView {
            worker_count: cpus.len(),
            cpus,
            traffic: traffic.collect(),
            elements: self.loads.iter().map(|entry| entry.1).collect(),
        };
        (view, found, self.done)
    }
}
