//! What `raddle place` prints.

use std::fmt::Write as _;
use std::time::Duration;

use raddle_topology::{CpuId, Matrix, Placement, Strategy, Topology};
use serde::Serialize;

use super::program::{Prediction, Simulation};
use crate::{schema, table};

/// Everything that is told.
pub(super) struct Told<'run> {
    pub(super) matrix: &'run Matrix,
    pub(super) topology: &'run Topology,
    pub(super) placement: &'run Placement,
    /// The placement's, then those of the baselines.
    pub(super) ratings: &'run [Rating],
    /// What was simulated, and how threads that wander do there.
    pub(super) simulation: Option<(&'run Simulation, Prediction)>,
}

/// What a placement costs.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Rating {
    pub(super) strategy: Strategy,
    #[serde(rename = "cost_hop_bytes")]
    pub(super) cost: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) predicted: Option<Prediction>,
}

#[derive(Serialize)]
struct View<'run> {
    command: &'static str,
    strategy: Option<Strategy>,
    reason: &'run str,
    #[serde(rename = "cost_hop_bytes")]
    cost: f64,
    parties_per_cpu: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<ProgramView<'run>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    predicted: Option<Prediction>,
    baselines: &'run [Rating],
    parties: Vec<PartyView<'run>>,
}

#[derive(Serialize)]
struct ProgramView<'run> {
    name: &'run str,
    operations: usize,
    turns: u64,
    wandering: Prediction,
}

#[derive(Serialize)]
struct PartyView<'run> {
    party: usize,
    name: Option<&'run str>,
    cpu: CpuId,
    core: Option<usize>,
    numa_node: Option<usize>,
    control_cpu: Option<CpuId>,
}

impl Told<'_> {
    fn parties(&self) -> impl Iterator<Item = PartyView<'_>> {
        let pairs = self.placement.cpus.iter().zip(&self.placement.control);
        pairs.enumerate().map(|(party, (&cpu, &control_cpu))| {
            let known = self.topology.cpu(cpu);
            PartyView {
                party,
                name: self.matrix.name(party),
                cpu,
                core: known.and_then(|cpu| cpu.core),
                numa_node: known.and_then(|cpu| cpu.numa_node),
                control_cpu,
            }
        })
    }

    pub(super) fn json(&self) -> String {
        let view = View {
            command: "place",
            strategy: self.placement.strategy,
            reason: &self.placement.reason,
            cost: self.placement.cost,
            parties_per_cpu: self.placement.parties_per_cpu,
            program: self.simulation.map(|(simulation, wandering)| ProgramView {
                name: simulation.sketch.name(),
                operations: simulation.sketch.operation_count(),
                turns: simulation.turns,
                wandering,
            }),
            predicted: self.ratings.first().and_then(|own| own.predicted),
            baselines: self.ratings.get(1..).unwrap_or_default(),
            parties: self.parties().collect(),
        };
        schema::line(schema::object(&view))
    }

    /// For people. What was asked of a program is how long it takes, so that comes first; of a
    /// matrix, where its parties run.
    pub(super) fn text(&self) -> String {
        let reason = &self.placement.reason;
        match self.simulation {
            Some((simulation, wandering)) => format!(
                "{}\n{}\n{reason}\n\n{}",
                self.answer(simulation, wandering),
                self.ratings_text(),
                self.parties_text()
            ),
            None => format!(
                "{}\n{reason}\n\n{}",
                self.parties_text(),
                self.ratings_text()
            ),
        }
    }

    /// How long the program takes where it is placed, and how long where threads wander.
    fn answer(&self, simulation: &Simulation, wandering: Prediction) -> String {
        let Some((own, bound)) = self
            .ratings
            .first()
            .and_then(|own| own.predicted.map(|bound| (own, bound)))
        else {
            return String::new();
        };
        let (turns, name) = (simulation.turns, simulation.sketch.name());
        let times = match of(wandering.seconds, bound.seconds) {
            Some(times) => format!(", {times:.2} times as long"),
            None => String::new(),
        };
        format!(
            "{} {} of {name} placed by {}: {} (predicted)\n\
             with threads that are not bound: {}{times}\n",
            table::grouped(turns),
            table::plural(usize::try_from(turns).unwrap_or(usize::MAX), "turn"),
            own.strategy,
            seconds(bound),
            seconds(wandering),
        )
    }

    /// A line for each party.
    fn parties_text(&self) -> String {
        let mut text = String::new();
        let number =
            |number: Option<usize>| number.map_or("-".to_owned(), |number| number.to_string());
        let name_width = self
            .matrix
            .names()
            .iter()
            .map(|name| name.chars().count())
            .max();
        let name_column = |name: &str| {
            name_width.map_or(String::new(), |width| {
                format!(" {name:<width$} |", width = width.max(4))
            })
        };
        let rule = name_width.map_or(String::new(), |width| {
            format!("{:-<width$}+", "", width = width.max(4) + 2)
        });
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(
            text,
            " party |{}  cpu |  core | numa | control",
            name_column("name")
        );
        let _ = writeln!(text, "-------+{rule}------+-------+------+--------");
        for view in self.parties() {
            let control = view
                .control_cpu
                .map_or("-".to_owned(), |cpu| cpu.to_string());
            let _ = writeln!(
                text,
                "{:>6} |{} {:>4} | {:>5} | {:>4} | {control:>7}",
                view.party,
                name_column(view.name.unwrap_or("")),
                view.cpu.0,
                number(view.core),
                number(view.numa_node),
            );
        }
        text
    }

    /// A line for each placement, and one for threads that wander.
    fn ratings_text(&self) -> String {
        let mut text = String::new();
        let own = self.ratings.first().copied();
        let name = own.map_or("", |own| own.strategy.name());
        let is_simulated = self.simulation.is_some();
        let width = (name.len() + 3).max(8);
        let (mut heading, mut rule) = (String::new(), String::new());
        if is_simulated {
            heading = format!(
                " | {:>8} | {:>width$} | {:>11} | migrations",
                "time",
                format!("of {name}"),
                "from afar"
            );
            rule = format!("+----------+-{:-<width$}-+-------------+-----------", "");
        }
        let _ = writeln!(
            text,
            "strategy    |    hop-bytes | {:>width$}{heading}",
            format!("of {name}")
        );
        let _ = writeln!(text, "------------+--------------+-{:-<width$}-{rule}", "");
        let ratio = |value: f64, own: Option<f64>| {
            own.and_then(|own| of(value, own))
                .map_or("-".to_owned(), |ratio| format!("{ratio:.2}"))
        };
        let own_seconds = own.and_then(|own| Some(own.predicted?.seconds));
        let told = |predicted: Option<Prediction>| {
            predicted.map_or(String::new(), |predicted| {
                format!(
                    " | {:>8} | {:>width$} | {:>11} | {:>10}",
                    seconds(predicted),
                    ratio(predicted.seconds, own_seconds),
                    table::bytes(predicted.remote_bytes),
                    table::grouped(predicted.migrations),
                )
            })
        };
        for rating in self.ratings {
            let _ = writeln!(
                text,
                "{:<11} | {:>12} | {:>width$}{}",
                rating.strategy,
                hop_bytes(rating.cost),
                ratio(rating.cost, own.map(|own| own.cost)),
                told(rating.predicted),
            );
        }
        if let Some((_, wandering)) = self.simulation {
            let _ = writeln!(
                text,
                "{:<11} | {:>12} | {:>width$}{}",
                "wandering",
                "-",
                "-",
                told(Some(wandering)),
            );
        }
        text
    }
}

/// How many times the one is the other; `None` where the other is nothing.
fn of(value: f64, own: f64) -> Option<f64> {
    (own > 0.0).then(|| value / own)
}

/// The predicted time in the unit that fits.
fn seconds(predicted: Prediction) -> String {
    table::time(Duration::try_from_secs_f64(predicted.seconds).unwrap_or(Duration::MAX))
}

/// A cost as people read numbers: exact where that is short, else in words.
fn hop_bytes(cost: f64) -> String {
    if cost < 1e6 && cost.fract() == 0.0 {
        table::grouped(cost as u64)
    } else {
        table::large(cost)
    }
}
