//! Sweeps over bricks of other sizes, direct answers to renderers, and all improvements together
//! (sections 8.8 to 8.10).

use super::ask::{Asked, counted};
use super::chart::{Axis, Chart};
use crate::error::ModelError;
use crate::misses::BrickLaw;
use crate::tracer::{Answers, Delay, Scenario, Slower};
use crate::units::Nanoseconds;

const EDGE: Axis = Axis::linear("edge of a brick", "elements");
const SPEEDUP: Axis = Axis::linear("speedup", "");
const NODES_AXIS: Axis = Axis::logarithmic("nodes", "");
/// The edge of the smallest brick of a sweep.
const EDGE_MIN: u32 = 1;
/// The number of edges in a sweep above the edge in the parameters.
const BEYOND: u32 = 3;

/// Returns the edges of a sweep.
fn edges(asked: &Asked<'_>) -> impl Iterator<Item = u32> + use<> {
    EDGE_MIN..=asked.parameters.tracer.brick_edge.max(EDGE_MIN) + BEYOND
}

/// Returns a scenario with other bricks and another way to answer.
fn brick(base: Scenario, edge: u32, brick_law: BrickLaw, answers: Answers) -> Scenario {
    Scenario {
        brick_edge: Some(edge),
        brick_law,
        answers,
        ..base
    }
}

/// Returns the edge with the shortest frame, and the time of that frame.
fn best(
    asked: &Asked<'_>,
    base: Scenario,
    law: BrickLaw,
    answers: Answers,
) -> Result<(u32, f64), ModelError> {
    let mut best = (0, f64::INFINITY);
    for edge in edges(asked) {
        let frame = asked.mean_frame(&brick(base, edge, law, answers))?;
        if frame < best.1 {
            best = (edge, frame);
        }
    }
    Ok(best)
}

/// Returns the speedups for all edges, relative to the bricks of the parameters.
fn speedups(
    asked: &Asked<'_>,
    base: Scenario,
    law: BrickLaw,
    answers: Answers,
) -> Result<Vec<(f64, f64)>, ModelError> {
    let whole = Scenario {
        brick_edge: None,
        ..base
    };
    let plain = asked.mean_frame(&whole)?;
    Asked::points(edges(asked), |edge| {
        Ok(plain / asked.mean_frame(&brick(base, edge, law, answers))?)
    })
}

/// Returns the chart of the speedups by bricks, with a line for each number of nodes.
fn by_nodes(asked: &Asked<'_>, law: BrickLaw) -> Result<Chart, ModelError> {
    let title = format!(
        "bricks of other sizes, {} misses, {}",
        law.name(),
        counted(asked.base.renderers, "renderer")
    );
    let mut chart = Chart::new(title, EDGE, SPEEDUP);
    for nodes in asked.nodes_among(&[8, 16, 24, 32, 40, 48, 56, 64, 128, 256]) {
        let base = asked.on(nodes);
        let name = counted(nodes, "node");
        let (edge, _) = best(asked, base, law, asked.base.answers)?;
        chart.read_off(format!("{name}: best edge"), f64::from(edge), "elements");
        chart.line(name, speedups(asked, base, law, asked.base.answers)?);
    }
    Ok(chart)
}

pub(super) fn expected(asked: &Asked<'_>) -> Result<Chart, ModelError> {
    by_nodes(asked, BrickLaw::Expected)
}

pub(super) fn worst(asked: &Asked<'_>) -> Result<Chart, ModelError> {
    by_nodes(asked, BrickLaw::Worst)
}

pub(super) fn laws(asked: &Asked<'_>) -> Result<Chart, ModelError> {
    let title = format!("bricks of other sizes, {}", asked.size());
    let mut chart = Chart::new(title, EDGE, SPEEDUP);
    for law in BrickLaw::OF_THE_STUDY {
        let (edge, _) = best(asked, asked.base, law, asked.base.answers)?;
        chart.line(
            format!("{} misses", law.name()),
            speedups(asked, asked.base, law, asked.base.answers)?,
        );
        chart.read_off(
            format!("{} misses: best edge", law.name()),
            f64::from(edge),
            "elements",
        );
    }
    Ok(chart)
}

/// The ways to answer renderers directly, and their names.
const WAYS: [(Answers, &str); 2] = [(Answers::Careful, "careful"), (Answers::Bold, "bold")];

pub(super) fn direct(asked: &Asked<'_>) -> Result<Chart, ModelError> {
    let law = asked.base.brick_law;
    let (edge, plain) = best(asked, asked.base, law, Answers::ToHandler)?;
    let title = format!(
        "answers straight to the renderer, over the best brick without ({edge}), {}",
        counted(asked.base.nodes, "node")
    );
    let mut chart = Chart::new(title, EDGE, SPEEDUP);
    for (answers, name) in WAYS {
        let of = |edge| Ok(plain / asked.mean_frame(&brick(asked.base, edge, law, answers))?);
        chart.line(name, Asked::points(edges(asked), of)?);
        let (best_edge, frame) = best(asked, asked.base, law, answers)?;
        chart.read_off(
            format!("{name}: best edge"),
            f64::from(best_edge),
            "elements",
        );
        chart.read_off(format!("{name}: speedup with it"), plain / frame, "");
    }
    Ok(chart)
}

pub(super) fn direct_bricks(asked: &Asked<'_>) -> Result<Chart, ModelError> {
    let law = asked.base.brick_law;
    let title = format!(
        "answers straight to the renderer, over answers to the handler with the same brick, {}",
        counted(asked.base.nodes, "node")
    );
    let mut chart = Chart::new(title, EDGE, SPEEDUP);
    for (answers, name) in WAYS {
        let of = |edge| {
            let to_handler = brick(asked.base, edge, law, Answers::ToHandler);
            let straight = Scenario {
                answers,
                ..to_handler
            };
            asked.slowdown(&to_handler, &straight)
        };
        chart.line(name, Asked::points(edges(asked), of)?);
    }
    Ok(chart)
}

pub(super) fn combined(asked: &Asked<'_>) -> Result<Chart, ModelError> {
    let title = format!(
        "speedup over an interface behind the operating system, {}",
        counted(asked.base.renderers, "renderer")
    );
    let mut chart = Chart::new(title, NODES_AXIS, SPEEDUP);
    let law = asked.base.brick_law;
    let behind = |base: Scenario| Scenario {
        slower: base.slower + Slower::by(Delay::System, Nanoseconds::from_microseconds(1.0)),
        ..base
    };
    let ways = [
        ("notified", None),
        ("and the best brick", Some(Answers::ToHandler)),
        ("and careful answers", Some(Answers::Careful)),
        ("and bold answers", Some(Answers::Bold)),
    ];
    for (name, answers) in ways {
        let of = |nodes| {
            let base = asked.on(nodes);
            let frame = match answers {
                None => asked.mean_frame(&base)?,
                Some(answers) => best(asked, base, law, answers)?.1,
            };
            Ok::<_, ModelError>(asked.mean_frame(&behind(base))? / frame)
        };
        asked.line_over_nodes(&mut chart, name, of)?;
    }
    Ok(chart)
}
