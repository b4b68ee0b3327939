//! `raddle place`: where the parties of a matrix should run, and what that costs beside the baselines.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

use raddle_topology::{
    Affinity, Control, CpuId, Matrix, PlaceError, PlaceOptions, Placement, Strategy, Topology,
    format, place,
};
use serde::Serialize;

use crate::arguments::{Options, PlaceArguments, PlaceFormat};
use crate::error::CliError;
use crate::output;

/// Places a matrix.
///
/// # Errors
/// [`CliError::Matrix`], [`CliError::Topology`], [`CliError::Place`], [`CliError::WrongCall`], and those of the output.
pub(crate) fn run(arguments: &PlaceArguments, options: &Options) -> Result<(), CliError> {
    let topology = load_topology(arguments.topology.as_deref())?;
    let mut matrix = Matrix::read(&arguments.matrix)?;
    if arguments.reverse_rows {
        matrix = matrix.with_rows_reversed();
    }
    let wanted = place_options(arguments, &topology)?;
    let solve = |strategy| {
        let wanted = wanted.clone().strategy(strategy);
        place(&matrix, &topology, &wanted).map_err(|source| failure(arguments, source))
    };
    let placement = solve(arguments.strategy)?;
    let baselines = Strategy::BASELINES
        .into_iter()
        .map(|strategy| solve(strategy).map(|placement| (strategy, placement.cost)))
        .collect::<Result<Vec<_>, _>>()?;
    let told = Told {
        matrix: &matrix,
        topology: &topology,
        placement: &placement,
        baselines: &baselines,
    };
    let default = if options.json {
        PlaceFormat::Json
    } else {
        PlaceFormat::Text
    };
    let text = match arguments.format.unwrap_or(default) {
        PlaceFormat::Text => told.text(),
        PlaceFormat::Json => told.json(),
        PlaceFormat::Svg => format::placement_svg(&topology, &matrix, &placement),
    };
    match &arguments.output {
        Some(path) => output::write_file(path, &text),
        None => output::print(&text),
    }
}

/// A file if there is one of that name, or if the name looks like one; else a description.
fn load_topology(choice: Option<&str>) -> Result<Cow<'static, Topology>, CliError> {
    let Some(choice) = choice else {
        return Ok(Cow::Borrowed(Topology::this_machine()?));
    };
    let is_file = Path::new(choice).exists()
        || Path::new(choice)
            .extension()
            .is_some_and(|extension| extension == "xml");
    Ok(Cow::Owned(if is_file {
        Topology::from_xml(choice)?
    } else {
        Topology::synthetic(choice)?
    }))
}

fn place_options(
    arguments: &PlaceArguments,
    topology: &Topology,
) -> Result<PlaceOptions, CliError> {
    let mut wanted = PlaceOptions::new().share(!arguments.no_sharing);
    if arguments.control {
        wanted = wanted.control(Control::Reserved);
    }
    if let Some(Affinity::Explicit(list)) = &arguments.cpus {
        if let Some(missing) = list.iter().find(|cpu| topology.cpu(**cpu).is_none()) {
            return Err(CliError::WrongCall {
                options: "--cpus".to_owned(),
                reason: format!(
                    "there is no CPU {missing}; expected some of {}",
                    topology.root().cpus
                ),
            });
        }
        wanted = wanted.cpus(list.iter().copied().collect());
    }
    Ok(wanted)
}

/// What cannot be placed is the file's fault, or that of the options.
fn failure(arguments: &PlaceArguments, source: PlaceError) -> CliError {
    match source {
        PlaceError::ExactParties { .. } | PlaceError::ExactSteps { .. } => CliError::WrongCall {
            options: format!("--strategy {}", arguments.strategy),
            reason: source.to_string(),
        },
        source => CliError::Place {
            input: arguments.matrix.display().to_string(),
            source,
        },
    }
}

/// Everything that is told.
struct Told<'run> {
    matrix: &'run Matrix,
    topology: &'run Topology,
    placement: &'run Placement,
    baselines: &'run [(Strategy, f64)],
}

#[derive(Serialize)]
struct View<'run> {
    strategy: Strategy,
    reason: &'run str,
    cost: f64,
    parties_per_cpu: usize,
    baselines: Vec<BaselineView>,
    parties: Vec<PartyView<'run>>,
}

#[derive(Serialize)]
struct BaselineView {
    strategy: Strategy,
    cost: f64,
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

    fn json(&self) -> String {
        let view = View {
            strategy: self.placement.strategy,
            reason: &self.placement.reason,
            cost: self.placement.cost,
            parties_per_cpu: self.placement.parties_per_cpu,
            baselines: self
                .baselines
                .iter()
                .map(|&(strategy, cost)| BaselineView { strategy, cost })
                .collect(),
            parties: self.parties().collect(),
        };
        // No key is anything but a text and no value can refuse, so there is no error to hand on.
        let mut json = serde_json::to_string(&view).unwrap_or_default();
        json.push('\n');
        json
    }

    fn text(&self) -> String {
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
        let own = (self.placement.strategy, self.placement.cost);
        let _ = writeln!(text, "strategy    |  hop-bytes | of {}", own.0);
        let _ = writeln!(text, "------------+------------+---------");
        for (strategy, cost) in std::iter::once(&own).chain(self.baselines) {
            let of = if own.1 > 0.0 {
                format!("{:.2}", cost / own.1)
            } else {
                "-".to_owned()
            };
            let _ = writeln!(text, "{strategy:<11} | {cost:>10.4e} | {of:>7}");
        }
        text
    }
}
