//! `raddle place`: a placement of the parties of a matrix, or of the operations of a program, and
//! its cost compared with the baselines.

mod arguments;
mod outcome;
mod program;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use raddle_topology::{
    Affinity, Control, Matrix, PlaceError, PlaceOptions, Placement, Strategy, Topology, format,
    place,
};

pub(super) use self::arguments::{EXAMPLES, PlaceArguments};

use self::arguments::PlaceFormat;
use self::outcome::{Outcome, Rating};
use self::program::Simulation;
use crate::error::CliError;
use crate::report::Report;

/// Places a matrix, or a program.
///
/// # Errors
/// [`CliError::Matrix`], [`CliError::Topology`], [`CliError::Place`] and [`CliError::WrongCall`].
pub(super) fn run(arguments: &PlaceArguments) -> Result<Report, CliError> {
    arguments.simulated.check_format(arguments.format)?;
    let topology = load_topology(arguments.topology.as_deref())?;
    let simulation = Simulation::of(&arguments.simulated)?;
    let mut wanted = place_options(arguments, &topology)?;
    let matrix = match (&simulation, &arguments.matrix) {
        (Some(simulation), _) => {
            let sketch = &simulation.sketch;
            wanted = wanted.loads(sketch.loads()).together(sketch.together());
            simulation.sketch.dependencies()
        }
        (None, path) => read_matrix(path.as_ref(), arguments)?,
    };
    let solve = |strategy| {
        let wanted = wanted.clone().strategy(strategy);
        place(&matrix, &topology, &wanted).map_err(|source| failure(arguments, source))
    };
    let rated = |strategy, placement: &Placement| Rating {
        strategy,
        cost: placement.cost,
        predicted: simulation
            .as_ref()
            .map(|simulation| simulation.bound(&topology, &placement.cpus)),
    };
    let placement = solve(arguments.strategy)?;
    let mut ratings = vec![rated(arguments.strategy, &placement)];
    let others = Strategy::BASELINES.into_iter();
    for strategy in others.filter(|&strategy| strategy != arguments.strategy) {
        ratings.push(rated(strategy, &solve(strategy)?));
    }
    let wandering = simulation.as_ref().map(|simulation| {
        let mut cpus = topology.allowed_set();
        if let Some(chosen) = &wanted.cpus {
            cpus = cpus.iter().filter(|cpu| chosen.contains(*cpu)).collect();
        }
        simulation.wandering(&topology, cpus.iter().collect())
    });
    let mut report = match arguments.format {
        PlaceFormat::Text | PlaceFormat::Json => {
            let outcome = Outcome {
                matrix: &matrix,
                topology: &topology,
                placement: &placement,
                ratings: &ratings,
                simulation: simulation.as_ref().zip(wandering),
            };
            outcome.report()
        }
        PlaceFormat::Svg => {
            let mut picture = Report::new();
            picture.text(format::placement_svg(&topology, &matrix, &placement));
            picture
        }
    };
    report.written_to(arguments.output.clone());
    Ok(report)
}

fn read_matrix(path: Option<&PathBuf>, arguments: &PlaceArguments) -> Result<Matrix, CliError> {
    let Some(path) = path else {
        return Err(CliError::WrongCall {
            options: "place".to_owned(),
            reason: "there is nothing to place; expected a file with a matrix, or --program NAME"
                .to_owned(),
        });
    };
    let matrix = Matrix::read(path)?;
    Ok(match arguments.reverse_rows {
        true => matrix.with_rows_reversed(),
        false => matrix,
    })
}

/// Loads a topology: from a file if there is one of that name or the name ends in `.xml`, otherwise
/// from a description.
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

/// Converts an error of a placement. It names the strategy if that is the cause, otherwise the
/// file.
fn failure(arguments: &PlaceArguments, source: PlaceError) -> CliError {
    match source {
        PlaceError::ExactParties { .. } | PlaceError::ExactSteps { .. } => CliError::WrongCall {
            options: format!("--strategy {}", arguments.strategy),
            reason: source.to_string(),
        },
        source => CliError::Place {
            input: match &arguments.matrix {
                Some(path) => path.display().to_string(),
                None => "--program".to_owned(),
            },
            source,
        },
    }
}
