//! Sweeps over the numbers of renderers and nodes (sections 7.5, 8.1 and 8.2).

use super::ask::{Asked, NODES, counted};
use super::chart::{Axis, Chart};
use crate::error::ModelError;
use crate::extreme::expected_largest;
use crate::tracer::Scenario;

const RENDERERS: Axis = Axis::linear("renderers on a node", "");
const NODES_AXIS: Axis = Axis::logarithmic("nodes", "");

pub(super) fn speeds(asked: &Asked<'_>) -> Result<Chart, ModelError> {
    let title = format!(
        "speed of a thread that runs, {}",
        counted(asked.base.nodes, "node")
    );
    let mut chart = Chart::new(title, RENDERERS, Axis::linear("speed over one alone", ""));
    let found: Result<Vec<_>, _> = asked
        .renderers()
        .map(|renderers| asked.predict(&asked.with(renderers)))
        .collect();
    let found = found?;
    let of_renderers = found
        .iter()
        .map(|one| (f64::from(one.renderers), one.renderer_speed.0));
    let of_handler = found
        .iter()
        .map(|one| (f64::from(one.renderers), one.handler_speed.0));
    chart.line("renderers, S_r", of_renderers.collect());
    chart.line("handler, S_h", of_handler.collect());
    Ok(chart)
}

pub(super) fn renderers(asked: &Asked<'_>) -> Result<Chart, ModelError> {
    let y = Axis::linear("speedup over one renderer", "");
    let mut chart = Chart::new("more renderers on a node", RENDERERS, y);
    for nodes in asked.nodes_among(&NODES) {
        let one = asked.frame(&Scenario {
            renderers: 1,
            ..asked.on(nodes)
        })?;
        let points = Asked::points(asked.renderers(), |renderers| {
            let scenario = Scenario {
                nodes,
                ..asked.with(renderers)
            };
            Ok(one / asked.frame(&scenario)?)
        })?;
        chart.line(counted(nodes, "node"), points);
    }
    Ok(chart)
}

pub(super) fn states(asked: &Asked<'_>) -> Result<Chart, ModelError> {
    let title = format!("shares of time, {}", asked.size());
    let x = Axis::linear("renderers that run", "");
    let mut chart = Chart::new(title, x, Axis::linear("share of time", ""));
    let found = asked.predict(&asked.base)?;
    let points = |shares: &[f64]| {
        shares
            .iter()
            .enumerate()
            .map(|(count, &share)| (count as f64, share))
            .collect()
    };
    chart.line("handler waits, p_i", points(&found.without_handler));
    chart.line("handler runs, p_ic", points(&found.with_handler));
    let mean = |shares: &[f64]| -> f64 {
        let weighted = shares.iter().enumerate();
        weighted.map(|(count, share)| count as f64 * share).sum()
    };
    let running = mean(&found.without_handler) + mean(&found.with_handler);
    chart.read_off("renderers that run, on average", running, "");
    let handling: f64 = found.with_handler.iter().sum();
    chart.read_off("share of time in which the handler runs", handling, "");
    Ok(chart)
}

/// Adds a line over the numbers of nodes in the figures for each number of renderers.
fn over_nodes(
    asked: &Asked<'_>,
    chart: &mut Chart,
    of: impl Fn(u32, u32) -> Result<f64, ModelError>,
) -> Result<(), ModelError> {
    for renderers in asked.renderers() {
        let points = Asked::points(asked.nodes_among(&NODES), |nodes| of(nodes, renderers))?;
        chart.line(counted(renderers, "renderer"), points);
    }
    Ok(())
}

/// Returns the time of a frame on a number of nodes with a number of renderers.
fn frame(asked: &Asked<'_>, nodes: u32, renderers: u32) -> Result<f64, ModelError> {
    asked.frame(&Scenario {
        nodes,
        renderers,
        ..asked.base
    })
}

pub(super) fn threads(asked: &Asked<'_>) -> Result<Chart, ModelError> {
    let y = Axis::linear("speedup over one renderer", "");
    let mut chart = Chart::new("more renderers on a node, by nodes", NODES_AXIS, y);
    over_nodes(asked, &mut chart, |nodes, renderers| {
        Ok(frame(asked, nodes, 1)? / frame(asked, nodes, renderers)?)
    })?;
    Ok(chart)
}

pub(super) fn nodes(asked: &Asked<'_>) -> Result<Chart, ModelError> {
    let y = Axis::logarithmic("frames", "1/s");
    let mut chart = Chart::new("frames a second, load imbalance included", NODES_AXIS, y);
    over_nodes(asked, &mut chart, |nodes, renderers| {
        Ok(1e3 / frame(asked, nodes, renderers)?)
    })?;
    Ok(chart)
}

pub(super) fn scaling(asked: &Asked<'_>) -> Result<Vec<Chart>, ModelError> {
    let [least, .., most] = NODES;
    let speedup = |nodes, renderers| -> Result<f64, ModelError> {
        Ok(frame(asked, least, renderers)? / frame(asked, nodes, renderers)?)
    };
    let title = format!("speedup over {}", counted(least, "node"));
    let mut speedups = Chart::new(title, NODES_AXIS, Axis::logarithmic("speedup", ""));
    over_nodes(asked, &mut speedups, speedup)?;
    let title = format!("efficiency over {}", counted(least, "node"));
    let mut efficiency = Chart::new(title, NODES_AXIS, Axis::linear("efficiency", ""));
    let of = |nodes: u32, renderers| -> Result<f64, ModelError> {
        Ok(speedup(nodes, renderers)? * f64::from(least) / f64::from(nodes))
    };
    over_nodes(asked, &mut efficiency, of)?;
    for nodes in [256, most] {
        for renderers in asked.renderers() {
            let name = format!(
                "{}, {}: efficiency",
                counted(renderers, "renderer"),
                counted(nodes, "node")
            );
            efficiency.read_off(name, of(nodes, renderers)?, "");
        }
    }
    Ok(vec![speedups, efficiency])
}

pub(super) fn imbalance(asked: &Asked<'_>) -> Result<Vec<Chart>, ModelError> {
    let x = Axis::logarithmic("draws", "");
    let y = Axis::linear("expected largest", "standard deviations");
    let mut largest = Chart::new("expected largest of normal draws", x, y);
    let counts = [
        1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1_000, 2_000, 5_000, 10_000,
    ];
    let points = Asked::points(counts, |draws: u32| Ok(expected_largest(draws)?))?;
    largest.line("I_n", points);
    let y = Axis::linear("share of a frame", "");
    let mut share = Chart::new("waiting for the last node", NODES_AXIS, y);
    let points = Asked::points(asked.nodes_among(&NODES), |nodes| {
        Ok(asked.predict(&asked.on(nodes))?.imbalance)
    })?;
    share.line("imbalance", points);
    Ok(vec![largest, share])
}
