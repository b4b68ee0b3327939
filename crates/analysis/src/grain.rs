//! The grain of tasks and messages, and the grain that would pay.
//!
//! Each task costs the runtime some time besides its own work: it has to be put, found and run. A
//! grain pays if that cost is at most 5 % of it.

use serde::Serialize;

use crate::costs::Costs;
use crate::durations::{Durations, Histogram};
use crate::table::{Cell, Table};

/// The part of a grain that may be cost.
const COST_SHARE: f64 = 0.05;

/// The grains of a recording.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Grains {
    /// One entry per category and name, the most time first.
    pub kinds: Vec<Grain>,
}

/// The grain of the tasks or messages of one name.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Grain {
    /// The name.
    pub name: String,
    /// The category: `task`, `fork`, `message` or `entry`.
    pub category: String,
    /// The number of them.
    pub count: u64,
    /// The mean duration, in nanoseconds.
    pub mean_ns: f64,
    /// The cost of each for the runtime, in nanoseconds.
    pub cost_ns: f64,
    /// The shortest mean duration of which the cost is at most 5 %, in nanoseconds.
    pub pays_ns: f64,
}

impl Grain {
    /// Returns the part of the time that is cost, from 0 to 1.
    #[must_use]
    pub fn cost_share(&self) -> f64 {
        self.cost_ns / (self.cost_ns + self.mean_ns)
    }

    /// Returns the number of these that should be one, so that the grain pays.
    #[must_use]
    pub fn combine(&self) -> u64 {
        (self.pays_ns / self.mean_ns.max(1.0)).ceil().max(1.0) as u64
    }
}

impl Grains {
    pub(crate) fn of(durations: &Durations, costs: Costs) -> Self {
        let grain = |kind: &Histogram| {
            // A fork is put only when another worker asks for it, so its cost is the transfer.
            let cost_ns = match &*kind.category {
                "fork" => costs.steal_ns as f64,
                _ => costs.local_ns as f64,
            };
            // The slice of a task begins when the one before it ends, so it includes the half of
            // the cost for taking it; the other half is for putting it.
            let mean_ns = match &*kind.category {
                "fork" => kind.mean_ns(),
                _ => (kind.mean_ns() - cost_ns / 2.0).max(1.0),
            };
            Grain {
                name: kind.name.clone(),
                category: kind.category.clone(),
                count: kind.count,
                mean_ns,
                cost_ns,
                pays_ns: cost_ns * (1.0 - COST_SHARE) / COST_SHARE,
            }
        };
        Self {
            kinds: durations.kinds.iter().map(grain).collect(),
        }
    }

    /// Returns a table with a row for each kind of grain.
    #[must_use]
    pub fn table(&self) -> Table {
        let columns = [
            ("name", 0),
            ("kind", 0),
            ("count", 0),
            ("mean us", 3),
            ("cost us", 3),
            ("cost %", 1),
            ("pays from us", 1),
            ("combine", 0),
        ];
        let mut table = Table::new("grain", "Grain, and the grain that would pay", columns);
        for kind in &self.kinds {
            table.row([
                kind.name.clone().into(),
                kind.category.clone().into(),
                kind.count.into(),
                Cell::Real(kind.mean_ns * 1e-3),
                Cell::Real(kind.cost_ns * 1e-3),
                Cell::Real(kind.cost_share() * 100.0),
                Cell::Real(kind.pays_ns * 1e-3),
                kind.combine().into(),
            ]);
        }
        table
    }
}
