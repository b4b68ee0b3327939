//! `raddle predict --figure`: what the study asks, as tables, JSON and pictures.

use std::fs;
use std::path::Path;

use raddle_model::Parameters;
use raddle_model::study::Chart;
use serde_json::{Map, Value, json};

use super::head;
use crate::arguments::{Options, PredictArguments};
use crate::error::CliError;
use crate::output;
use crate::schema;

/// Answers the questions, and draws them where that is wanted.
///
/// # Errors
/// [`CliError`]: a question that the model does not hold for, an output that fails.
pub(super) fn run(
    arguments: &PredictArguments,
    parameters: &Parameters,
    measured: Map<String, Value>,
    options: &Options,
) -> Result<(), CliError> {
    let base = arguments.scenario.scenario();
    let mut charts = Vec::new();
    for question in arguments.questions() {
        charts.extend(question.answer(parameters, base)?);
    }
    if let Some(folder) = &arguments.svg {
        draw(&charts, folder)?;
    }
    if options.json {
        let mut result = head(parameters);
        result.extend(measured);
        result.insert("nodes".to_owned(), json!(base.nodes));
        result.insert("renderers".to_owned(), json!(base.renderers));
        result.insert("figures".to_owned(), json!(charts));
        schema::print(result)
    } else if options.quiet {
        Ok(())
    } else {
        let tables: Vec<_> = charts.iter().map(Chart::table).collect();
        output::print(&tables.join("\n"))
    }
}

/// A picture for each chart, named after its figure and question.
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
        // A question may have a second chart.
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
