//! Work, span and the critical path of a recorded program.
//!
//! The *work* is the time of all strands that need a worker. The *span* is the time of the longest
//! chain of strands that depend on each other, the *critical path*: no number of workers makes the
//! program faster than that. Their quotient, the parallelism, bounds the speedup.

use std::collections::HashMap;

use raddle_timeline::NameId;
use serde::Serialize;

use crate::graph::{Graph, OUTSIDE};
use crate::recording::Recording;
use crate::table::{Cell, Table};

/// The name of steps during which the program was outside of the runtime.
const OUTSIDE_NAME: &str = "outside of the runtime";

/// Work and span of a recording.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Span {
    /// The time of all strands that need a worker, in nanoseconds.
    pub work_ns: u64,
    /// The time of the critical path, in nanoseconds.
    pub span_ns: u64,
    /// The time outside of the runtime, in which nothing ran on a worker, in nanoseconds. It is a
    /// part of the span as far as it lies on the critical path.
    pub outside_ns: u64,
    /// The critical path: the time in each function, the longest first.
    pub path: Vec<PathPart>,
}

/// The part of the critical path that lies in one function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PathPart {
    /// The name of the task, message, section or scope.
    pub name: String,
    /// Its category.
    pub category: String,
    /// The time of its strands on the path, in nanoseconds.
    pub ns: u64,
    /// The number of its strands on the path.
    pub strands: u64,
    /// The time of all its strands in the recording, in nanoseconds.
    pub work_ns: u64,
}

impl Span {
    /// Returns the work per span: the mean number of workers that the program could have used. It
    /// is less than one if most of the critical path lies outside of the runtime.
    #[must_use]
    pub fn parallelism(&self) -> f64 {
        self.work_ns as f64 / self.span_ns.max(1) as f64
    }

    /// Returns the function that has most of the critical path.
    pub(crate) fn longest(&self) -> &str {
        let mut parts = self.path.iter();
        let part = parts.find(|part| part.name != OUTSIDE_NAME);
        part.map_or(OUTSIDE_NAME, |part| &part.name)
    }

    pub(crate) fn of(recording: &Recording, graph: &Graph) -> Self {
        let timeline = recording.timeline();
        let count = graph.strands.len();
        let mut begin = vec![0_u64; count];
        let mut before = vec![u32::MAX; count];
        let mut last = None;
        let mut span_ns = 0;
        let (mut work_ns, mut outside_ns) = (0, 0);
        let name_of = |strand: usize| match graph.strands[strand].run {
            OUTSIDE => None,
            _ => {
                let event = &timeline.events()[graph.strands[strand].event as usize];
                Some((event.name(), event.category()))
            }
        };
        let mut work: HashMap<Option<(NameId, NameId)>, u64> = HashMap::new();
        for strand in 0..count {
            let duration_ns = graph.strands[strand].duration_ns;
            match graph.strands[strand].run {
                OUTSIDE => outside_ns += duration_ns,
                _ => work_ns += duration_ns,
            }
            *work.entry(name_of(strand)).or_default() += duration_ns;
            let end = begin[strand] + duration_ns;
            if end > span_ns {
                (span_ns, last) = (end, Some(strand));
            }
            for successor in graph.successors(strand) {
                let successor = *successor as usize;
                if end > begin[successor] {
                    (begin[successor], before[successor]) = (end, strand as u32);
                }
            }
        }
        let mut parts: HashMap<Option<(NameId, NameId)>, (u64, u64)> = HashMap::new();
        let mut at = last;
        while let Some(strand) = at {
            let part = parts.entry(name_of(strand)).or_default();
            part.0 += graph.strands[strand].duration_ns;
            part.1 += 1;
            at = Some(before[strand] as usize).filter(|before| *before != u32::MAX as usize);
        }
        let mut path: Vec<PathPart> = parts
            .into_iter()
            .map(|(name, (ns, strands))| PathPart {
                name: name
                    .map_or(OUTSIDE_NAME, |(name, _)| timeline.text(name))
                    .to_owned(),
                category: name
                    .map_or("outside", |(_, category)| timeline.text(category))
                    .to_owned(),
                ns,
                strands,
                work_ns: work[&name],
            })
            .collect();
        path.sort_by(|one, other| {
            other
                .ns
                .cmp(&one.ns)
                .then_with(|| one.name.cmp(&other.name))
        });
        Self {
            work_ns,
            span_ns,
            outside_ns,
            path,
        }
    }

    /// Returns a table with a row for each function on the critical path.
    #[must_use]
    pub fn table(&self) -> Table {
        let columns = [
            ("name", 0),
            ("kind", 0),
            ("on the path ms", 3),
            ("% of the path", 1),
            ("strands", 0),
            ("in all ms", 3),
        ];
        let mut table = Table::new("path", "Critical path", columns);
        for part in &self.path {
            table.row([
                part.name.clone().into(),
                part.category.clone().into(),
                Cell::Real(part.ns as f64 * 1e-6),
                Cell::Real(part.ns as f64 * 100.0 / self.span_ns.max(1) as f64),
                part.strands.into(),
                Cell::Real(part.work_ns as f64 * 1e-6),
            ]);
        }
        table
    }
}
