//! `raddle predict --figure`: the questions of the study, answered by tables, JSON and pictures.

use std::fs;
use std::path::Path;

use raddle_model::Parameters;
use raddle_model::study::Chart;

use super::arguments::PredictArguments;
use crate::error::CliError;
use crate::output;
use crate::report::Report;

/// Answers the questions, and draws them if `--svg` asks for it.
///
/// # Errors
/// [`CliError`]: a question for which the model is not valid, or a file that cannot be written.
pub(super) fn answer(
    arguments: &PredictArguments,
    parameters: &Parameters,
    report: &mut Report,
) -> Result<(), CliError> {
    let questions = arguments.questions();
    let base = arguments.scenario.base_scenario(&questions)?;
    let mut charts = Vec::new();
    for question in questions {
        charts.extend(question.answer(parameters, base)?);
    }
    if let Some(folder) = &arguments.svg {
        draw(&charts, folder)?;
    }
    let tables: Vec<_> = charts.iter().map(Chart::table).collect();
    report
        .text(tables.join("\n"))
        .field("nodes", base.nodes)
        .field("renderers", base.renderers)
        .field("figures", charts);
    Ok(())
}

/// Writes a picture for each chart, named after its figure and question.
fn draw(charts: &[Chart], folder: &Path) -> Result<(), CliError> {
    if folder.exists() && !folder.is_dir() {
        return Err(CliError::WrongCall {
            options: format!("--svg {}", folder.display()),
            reason: "found a file; expected a folder, which need not exist".to_owned(),
        });
    }
    fs::create_dir_all(folder).map_err(|source| CliError::Output {
        path: folder.to_owned(),
        source,
    })?;
    for (index, chart) in charts.iter().enumerate() {
        let before = charts[..index].iter();
        let same = before
            .filter(|other| other.question == chart.question)
            .count();
        let number = chart
            .figure
            .map_or_else(String::new, |number| format!("{number}-"));
        // A question may have several charts.
        let ending = if same > 0 {
            format!("-{}", same + 1)
        } else {
            String::new()
        };
        let name = format!("{number}{}{ending}.svg", chart.question);
        output::write_file(&folder.join(name), &chart.svg()?)?;
    }
    Ok(())
}
