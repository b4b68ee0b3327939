//! Charts of the runs, after figures 39, 40 and 47 of the study. Figures 29 to 38 are tables here.

use std::fs;
use std::path::Path;

use raddle_model::ModelError;
use raddle_model::misses::{CountedMisses, MissFit};
use raddle_model::study::{Axis, Chart};
use raddle_trace::profile::Activity;

use super::run::{Kind, Run};
use crate::error::CliError;
use crate::output;

const NODES: Axis = Axis {
    name: "nodes",
    unit: "",
    is_logarithmic: true,
};
const TIME: Axis = Axis {
    name: "time of all renderers",
    unit: "ms per frame",
    is_logarithmic: false,
};

/// Writes the charts into a folder, which need not exist.
///
/// # Errors
/// [`CliError`] for a file that cannot be written.
pub(super) fn draw(
    folder: &Path,
    measured: &[Run],
    counted: &[CountedMisses],
    fit: &MissFit,
) -> Result<(), CliError> {
    fs::create_dir_all(folder).map_err(|source| CliError::Output {
        path: folder.to_owned(),
        source,
    })?;
    let charts = [
        ("39-time-by-nodes", times(measured)),
        ("40-speedup-by-nodes", speedups(measured)),
        ("47-misses", misses(counted, fit)?),
    ];
    for (name, chart) in charts {
        output::write_file(&folder.join(format!("{name}.svg")), &chart.svg()?)?;
    }
    Ok(())
}

/// The activities of renderers, in charts.
const ACTIVITIES: [(&str, Activity); 3] = [
    ("computing", Activity::Compute),
    ("communicating", Activity::Communicate),
    ("waiting for work", Activity::WaitForWork),
];

/// Returns figure 39: the time of each activity by the number of nodes.
fn times(measured: &[Run]) -> Chart {
    let title = "Time of renderers by number of nodes (figure 39)";
    let mut chart = Chart::new(title, NODES, TIME);
    for (name, activity) in ACTIVITIES {
        let point = |run: &Run| {
            let ns = run.time_ns(Kind::Renderer, activity);
            (f64::from(run.nodes), ns * 1e-6 / f64::from(run.frames))
        };
        chart.line(name, measured.iter().map(point).collect());
    }
    chart
}

/// Returns figure 40: the speedup of the computation of a node.
fn speedups(measured: &[Run]) -> Chart {
    let axis = Axis {
        name: "speedup of the computation",
        unit: "",
        is_logarithmic: true,
    };
    let title = "Speedup of the computation (figure 40)";
    let mut chart = Chart::new(title, NODES, axis);
    let Some(first) = measured.first() else {
        return chart;
    };
    let per_node =
        |run: &Run| run.time_ns(Kind::Renderer, Activity::Compute) / f64::from(run.nodes);
    let one = per_node(first) * f64::from(first.nodes);
    let nodes = measured.iter().map(|run| f64::from(run.nodes));
    chart.line("ideal", nodes.map(|nodes| (nodes, nodes)).collect());
    let points = measured.iter();
    let points = points.map(|run| (f64::from(run.nodes), one / per_node(run)));
    chart.line("measured", points.collect());
    chart
}

/// Returns figure 47: the counted misses and the fit.
fn misses(counted: &[CountedMisses], fit: &MissFit) -> Result<Chart, ModelError> {
    let axis = Axis {
        name: "misses of all frames",
        unit: "",
        is_logarithmic: false,
    };
    let mut chart = Chart::new("Misses by number of nodes (figure 47)", NODES, axis);
    let mut renderers: Vec<u32> = counted.iter().map(|run| run.renderers).collect();
    renderers.sort_unstable();
    renderers.dedup();
    for renderers in renderers {
        let runs = counted.iter().filter(|run| run.renderers == renderers);
        let points = runs.clone().map(|run| (f64::from(run.nodes), run.misses));
        let mut points: Vec<_> = points.collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        chart.line(format!("counted, {renderers} renderers"), points);
        let mut fitted = Vec::new();
        for run in runs {
            let of_one = fit.model.per_renderer(run.nodes, renderers)?;
            let all = of_one * f64::from(run.nodes) * f64::from(renderers) * fit.model.frames;
            fitted.push((f64::from(run.nodes), all));
        }
        fitted.sort_by(|one: &(f64, f64), other| one.0.total_cmp(&other.0));
        fitted.dedup();
        chart.line(format!("fit, {renderers} renderers"), fitted);
    }
    Ok(chart)
}
