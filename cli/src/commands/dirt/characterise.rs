//! `raddle dirt --characterise`: the properties of the program on this machine, as parameters of
//! the model.
//!
//! It runs the program again and again, with nodes as threads of this process: first for many
//! numbers of nodes and renderers, to count the misses, then with profiles, to measure the work.
//! Counts do not need CPUs. The work is compared by CPU time, because threads share the CPUs of a
//! small machine.
//!
//! | module | contents |
//! |---|---|
//! | `arguments` | the command line |
//! | `run` | a run, and the work of its threads |
//! | `derive` | the properties that follow from a run |
//! | `study` | the figures of the study |
//! | `tables`, `charts` | tables 6 to 10 and the figures of chapter 6 for these runs |
//!
//! # Source
//! Parker, Efficient user-level event notification, chapter 6.

mod arguments;
mod charts;
mod derive;
mod run;
mod study;
mod tables;

use raddle_model::misses::{CountedMisses, MissFit};
use raddle_model::tracer::CpuTime;
use raddle_model::{Parameters, Scenario, predict};
use serde_json::{Value, json};

pub(in crate::commands) use self::arguments::CharacteriseArguments;

use self::run::{Run, Runs};
use super::arguments::DirtArguments;
use crate::arguments::Options;
use crate::commands::model;
use crate::error::CliError;
use crate::output;
use crate::report::Report;

/// Runs the program, and writes parameters, tables and charts.
///
/// # Errors
/// [`CliError`]: a wrong call, a volume that cannot be read, nodes that do not start, a file that
/// cannot be written, or runs from which nothing follows.
pub(super) fn run(arguments: &DirtArguments, options: &Options) -> Result<Report, CliError> {
    let wanted = &arguments.characterise;
    wanted.check(arguments)?;
    let base = model::parameters(&wanted.machine)?;
    output::check_apart(arguments.output(), arguments.input.file.as_deref())?;
    let runs = Runs::open(arguments, options)?;
    let mut counted = Vec::new();
    for (nodes, renderers) in wanted.counted() {
        for _ in 0..wanted.count_runs {
            let run = runs.run(nodes, renderers, false)?;
            counted.push(CountedMisses {
                nodes: nodes.into(),
                renderers: renderers.into(),
                misses: run.misses(),
            });
        }
    }
    let fit =
        MissFit::of(&counted, arguments.frames, true).map_err(raddle_model::ModelError::from)?;
    // The speed of a machine changes with time, so the runs of each number alternate.
    let mut measure_nodes = wanted.measure_nodes.clone();
    measure_nodes.sort_unstable();
    measure_nodes.dedup();
    let mut measured: Vec<Vec<Run>> = measure_nodes.iter().map(|_| Vec::new()).collect();
    for _ in 0..wanted.measure_runs {
        for (&nodes, of_nodes) in measure_nodes.iter().zip(&mut measured) {
            of_nodes.push(runs.run(nodes, wanted.renderers(arguments), true)?);
        }
    }
    let measured: Vec<Run> = measured.into_iter().filter_map(median).collect();
    let mut parameters = base;
    // The middle one: the others are predicted from it.
    let several: Vec<&Run> = measured.iter().filter(|run| run.nodes > 1).collect();
    let chosen = several.get(several.len() / 2).copied();
    let chosen = chosen.ok_or_else(|| CliError::WrongCall {
        options: "--measure-nodes".to_owned(),
        reason: "a single node has no messages; expected a number above 1, too".to_owned(),
    })?;
    let largest = measured
        .iter()
        .max_by_key(|run| run.nodes)
        .unwrap_or(chosen);
    let found = derive::characterised(chosen, largest, &fit, &runs);
    parameters.characterise("raddle dirt on this machine", &found)?;
    output::write_file(arguments.output(), &parameters.to_toml())?;
    let mut report = Report::new();
    report
        .section("input", &runs.subject.facts)
        .field("isovalues", &arguments.surfaces.iso)
        .field("frames", arguments.frames)
        .row("parameters", arguments.output().display().to_string())
        .field("output", arguments.output().display().to_string());
    tables::describe(chosen, &found, &mut report);
    describe_fit(&counted, &fit, &mut report);
    describe_prediction(&measured, &parameters, &mut report)?;
    if let Some(folder) = &wanted.charts {
        charts::draw(folder, &measured, &counted, &fit)?;
    }
    Ok(report)
}

/// Returns the run with the median CPU time.
fn median(mut runs: Vec<Run>) -> Option<Run> {
    let cpu = |run: &Run| run.cpu().total().0;
    runs.sort_by(|one, other| cpu(one).total_cmp(&cpu(other)));
    let middle = runs.len() / 2;
    (middle < runs.len()).then(|| runs.swap_remove(middle))
}

/// Reports the miss model, beside that of the study.
fn describe_fit(counted: &[CountedMisses], fit: &MissFit, report: &mut Report) {
    let model = fit.model;
    let [base, per_node, per_log] = study::MISS_MODEL;
    report.requested(&format!(
        "\nMisses of all frames (figure 47), with n nodes of r renderers\n  \
         here:  (1 - 1/n) ({:.0} {:+.2} n {:+.0} ln r), which explains {:.2} % of the variance \
         of {} runs; largest error {:.2} %\n  \
         study: {base:.0} {per_node:+.2} n {per_log:+.0} ln r, from 60 runs\n",
        model.base,
        model.per_node,
        model.per_log_renderers,
        100.0 * fit.explained,
        counted.len(),
        100.0 * fit.error_max,
    ));
    report.field(
        "misses",
        json!({
            "base": model.base,
            "per_node": model.per_node,
            "per_log_renderers": model.per_log_renderers,
            "explained_share": fit.explained,
            "error_max_share": fit.error_max,
            "counted": counted,
        }),
    );
}

/// Reports the predictions for the runs beside what was measured.
fn describe_prediction(
    measured: &[Run],
    parameters: &Parameters,
    report: &mut Report,
) -> Result<(), CliError> {
    let mut table = tables::predictions();
    let mut rows = Vec::new();
    let mut shares = false;
    for run in measured {
        let scenario = Scenario::new(run.nodes.into(), run.renderers.into());
        let predicted = CpuTime::of(parameters, &scenario)?;
        let found = run.cpu();
        let frame = match run.nodes {
            1 => None,
            _ => Some(predict(parameters, &scenario)?.frame),
        };
        shares |= run.shares_cpus();
        let ratio = predicted.total().0 / found.total().0;
        table.row(tables::prediction(run, &predicted, frame));
        rows.push(json!({
            "nodes": run.nodes,
            "renderers": run.renderers,
            "misses_per_frame": run.misses() / f64::from(run.frames),
            "cpu": found,
            "cpu_predicted": predicted,
            "cpu_ratio": ratio,
            "frame_ms": run.frame_ms(),
            "frame_predicted_ms": frame.map(|frame| frame.milliseconds()),
            "shares_cpus": run.shares_cpus(),
        }));
    }
    report.requested(&format!("\n{}\n{table}", table.title));
    if shares {
        report.requested(
            "\nThreads share CPUs, so that a frame takes longer than predicted for a CPU each. \
             Compare the CPU times.\n",
        );
    }
    report.field("predictions", Value::Array(rows));
    Ok(())
}
