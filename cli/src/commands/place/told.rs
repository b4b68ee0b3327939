//! What `raddle place` prints.

use std::fmt::Write as _;

use raddle_topology::{CpuId, Matrix, Placement, Strategy, Topology};
use serde::Serialize;

use super::program::{Prediction, Simulation};
use crate::schema;

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

    pub(super) fn text(&self) -> String {
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
        let _ = writeln!(text, "\n{}\n", self.placement.reason);
        self.write_ratings(&mut text);
        text
    }

    /// A line for each placement, and one for threads that wander.
    fn write_ratings(&self, text: &mut String) {
        let own = self.ratings.first().copied();
        let of = |value: f64, own: Option<f64>| match own {
            Some(own) if own > 0.0 => format!("{:.2}", value / own),
            _ => "-".to_owned(),
        };
        let seconds = |rating: Option<Rating>| Some(rating?.predicted?.seconds);
        let told = |predicted: Option<Prediction>| {
            predicted.map_or(String::new(), |predicted| {
                format!(
                    " | {:>10.4e} | {:>7} | {:>10.4e} | {:>10}",
                    predicted.seconds,
                    of(predicted.seconds, seconds(own)),
                    predicted.remote_bytes as f64,
                    predicted.migrations,
                )
            })
        };
        let (mut heading, mut rule) = (String::new(), String::new());
        if let Some((simulation, _)) = self.simulation {
            let (name, turns) = (simulation.sketch.name(), simulation.turns);
            let _ = writeln!(
                text,
                "predicted for {turns} turns of {name}, in seconds and bytes\n"
            );
            heading = format!(
                " | {:>10} | {:>7} | {:>10} | migrations",
                "time", "of it", "remote"
            );
            rule = "+------------+---------+------------+-----------".to_owned();
        }
        let name = own.map_or("", |own| own.strategy.name());
        let _ = writeln!(text, "strategy    |  hop-bytes | of {name}{heading}");
        let width = (name.len() + 5).max(9);
        let _ = writeln!(text, "------------+------------+{:-<width$}{rule}", "");
        for rating in self.ratings {
            let _ = writeln!(
                text,
                "{:<11} | {:>10.4e} | {:>width$}{}",
                rating.strategy,
                rating.cost,
                of(rating.cost, own.map(|own| own.cost)),
                told(rating.predicted),
                width = width - 2,
            );
        }
        if let Some((_, wandering)) = self.simulation {
            let _ = writeln!(
                text,
                "{:<11} | {:>10} | {:>width$}{}",
                "wandering",
                "-",
                "-",
                told(Some(wandering)),
                width = width - 2,
            );
        }
    }
}
