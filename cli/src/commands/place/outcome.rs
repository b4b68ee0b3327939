//! The report of `raddle place`.

use std::time::Duration;

use raddle_topology::{CpuId, Matrix, Placement, Strategy, Topology};
use serde::Serialize;

use super::program::{Prediction, Simulation};
use crate::report::{Column, Columns, Object, Plain, Report, Row};
use crate::units;

/// A placement, its cost, and the cost of the baselines.
pub(super) struct Outcome<'run> {
    pub(super) matrix: &'run Matrix,
    pub(super) topology: &'run Topology,
    pub(super) placement: &'run Placement,
    /// The rating of the placement, followed by those of the baselines.
    pub(super) ratings: &'run [Rating],
    /// The simulated program, and the prediction for threads that wander.
    pub(super) simulation: Option<(&'run Simulation, Prediction)>,
}

/// The cost of a placement.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Rating {
    pub(super) strategy: Strategy,
    #[serde(rename = "cost_hop_bytes")]
    pub(super) cost: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) predicted: Option<Prediction>,
}

impl Outcome<'_> {
    /// Creates the report. It begins with the run time of a program, or with the places of the
    /// parties of a matrix.
    pub(super) fn report(&self) -> Report {
        let placement = self.placement;
        let parties = self.parties();
        let ratings = self.ratings_table().text();
        let reason = &placement.reason;
        let mut report = Report::new();
        report
            .field("strategy", placement.strategy)
            .field("reason", reason)
            .field("cost_hop_bytes", placement.cost)
            .field("parties_per_cpu", placement.parties_per_cpu)
            .field("baselines", self.ratings.get(1..).unwrap_or_default());
        match self.simulation {
            Some((simulation, wandering)) => {
                let mut program = Object::new();
                program
                    .field("name", simulation.sketch.name())
                    .field("operations", simulation.sketch.operation_count())
                    .field("turns", simulation.turns)
                    .field("wandering", wandering);
                report.field("program", program);
                if let Some(bound) = self.ratings.first().and_then(|own| own.predicted) {
                    report.field("predicted", bound);
                }
                report
                    .text(self.run_times(simulation, wandering) + "\n")
                    .text(format!("{ratings}\n{reason}\n\n"))
                    .list("parties", &parties);
            }
            None => {
                report
                    .list("parties", &parties)
                    .text(format!("\n{reason}\n\n{ratings}"));
            }
        }
        report
    }

    /// Describes in words the run time of the program as placed, and with threads that wander.
    fn run_times(&self, simulation: &Simulation, wandering: Prediction) -> String {
        let Some((own, bound)) = self
            .ratings
            .first()
            .and_then(|own| own.predicted.map(|bound| (own, bound)))
        else {
            return String::new();
        };
        let (turns, name) = (simulation.turns, simulation.sketch.name());
        let times = match ratio(wandering.seconds, bound.seconds) {
            Some(times) => format!(", {times:.2} times as long"),
            None => String::new(),
        };
        format!(
            "{} {} of {name} placed by {}: {} (predicted)\n\
             with threads that are not bound: {}{times}\n",
            units::grouped(turns),
            units::plural(usize::try_from(turns).unwrap_or(usize::MAX), "turn"),
            own.strategy,
            seconds(bound),
            seconds(wandering),
        )
    }

    /// Creates the table of parties, with a row for each.
    fn parties(&self) -> Columns {
        let names = self.matrix.names().iter();
        let name_width = names.map(|name| name.chars().count()).max();
        let mut columns = vec![Column::right("party", 6)];
        columns.extend(name_width.map(|width| Column::left("name", width.max(4))));
        columns.extend([
            Column::right("cpu", 4),
            Column::right("core", 5),
            Column::right("numa", 4),
            Column::right("control", 7),
        ]);
        let mut table = Columns::ruled(columns);
        let pairs = self.placement.cpus.iter().zip(&self.placement.control);
        for (party, (&cpu, &control)) in pairs.enumerate() {
            table.push(self.party(party, cpu, control, name_width.is_some()));
        }
        table
    }

    fn party(&self, party: usize, cpu: CpuId, control: Option<CpuId>, has_names: bool) -> Row {
        let known = self.topology.cpu(cpu);
        let core = known.and_then(|cpu| cpu.core);
        let numa_node = known.and_then(|cpu| cpu.numa_node);
        let name = self.matrix.name(party);
        let mut row = Row::new();
        row.quantity("party", &Plain(party));
        if has_names {
            row.cell(name.unwrap_or(""));
        }
        row.field("name", name)
            .quantity("cpu", &Plain(cpu))
            .quantity("core", &core.map(Plain))
            .quantity("numa_node", &numa_node.map(Plain))
            .quantity("control_cpu", &control.map(Plain));
        row
    }

    /// Creates the table of costs, with a row for each placement and one for threads that wander.
    fn ratings_table(&self) -> Columns {
        let own = self.ratings.first();
        let own_seconds = own.and_then(|own| Some(own.predicted?.seconds));
        let heading = format!("/{}", own.map_or("", |own| own.strategy.name()));
        let width = heading.len().max(8);
        let mut columns = vec![
            Column::left("strategy", 11),
            Column::right("hop-bytes", 12),
            Column::right(&heading, width),
        ];
        if self.simulation.is_some() {
            columns.extend([
                Column::right("time", 8),
                Column::right(&heading, width),
                Column::right("remote data", 11),
                Column::right("migrations", 10),
            ]);
        }
        let mut table = Columns::ruled(columns);
        for rating in self.ratings {
            let cost = own.and_then(|own| ratio(rating.cost, own.cost));
            let mut row = Row::new();
            row.cell(rating.strategy.to_string())
                .cell(hop_bytes(rating.cost))
                .cell(ratio_in_words(cost));
            if let Some(predicted) = rating.predicted {
                add_prediction(predicted, own_seconds, &mut row);
            }
            table.push(row);
        }
        if let Some((_, wandering)) = self.simulation {
            let mut row = Row::new();
            row.cell("wandering").cell("-").cell("-");
            add_prediction(wandering, own_seconds, &mut row);
            table.push(row);
        }
        table
    }
}

/// Adds the cells of a prediction.
fn add_prediction(predicted: Prediction, own_seconds: Option<f64>, row: &mut Row) {
    let relative = own_seconds.and_then(|own| ratio(predicted.seconds, own));
    row.cell(seconds(predicted))
        .cell(ratio_in_words(relative))
        .cell(units::bytes(predicted.remote_bytes))
        .cell(units::grouped(predicted.migrations));
}

/// Returns `value / own`; `None` if `own` is zero.
fn ratio(value: f64, own: f64) -> Option<f64> {
    (own > 0.0).then(|| value / own)
}

fn ratio_in_words(ratio: Option<f64>) -> String {
    ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}"))
}

/// Formats the predicted time in the unit that fits.
fn seconds(predicted: Prediction) -> String {
    units::time(Duration::try_from_secs_f64(predicted.seconds).unwrap_or(Duration::MAX))
}

/// Formats a cost for people: as an exact number if it is short, otherwise in words.
fn hop_bytes(cost: f64) -> String {
    if cost < 1e6 && cost.fract() == 0.0 {
        units::grouped(cost as u64)
    } else {
        units::large(cost)
    }
}
