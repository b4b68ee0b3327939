//! Tables 6 to 10 of the study for a run of ours, beside the study's figures.
//!
//! The two programs render different scenes on different machines. So the rows are given for each
//! pixel, miss or assignment.

use raddle_analysis::table::{Cell, Table};
use raddle_model::Characterised;
use raddle_model::tracer::CpuTime;
use raddle_model::units::Nanoseconds;
use raddle_trace::profile::Activity;

use super::run::{Kind, Run};
use super::study::{self, Row};
use crate::report::Report;

/// Adds the tables of a run.
pub(super) fn describe(run: &Run, found: &Characterised, report: &mut Report) {
    let tables = [
        functions(run, Kind::Renderer),
        functions(run, Kind::Communicator),
        shares(run),
        counts(run),
        characteristics(run, found),
    ];
    report.requested(&format!(
        "\nA run with {} nodes of {} renderers, without the cost of measuring\n",
        run.nodes, run.renderers
    ));
    for table in &tables {
        report.requested(&format!("\n{}\n{table}", table.title));
    }
    report.field("tables", tables);
}

/// Returns tables 6 and 8.
fn functions(run: &Run, kind: Kind) -> Table {
    let (key, title, rows): (_, _, &[Row]) = match kind {
        Kind::Renderer => ("table6", "Renderers (table 6)", &study::RENDERER),
        _ => ("table8", "Communicators (table 8)", &study::COMMUNICATOR),
    };
    let columns = [
        ("function", 0),
        ("calls per pixel", 4),
        ("ns per pixel", 2),
        ("ns per call", 1),
        ("in the study", 0),
        ("calls per pixel", 4),
        ("ns per pixel", 2),
        ("ns per call", 1),
    ];
    let mut table = Table::new(key, title, columns);
    let pixels = (run.rendered.sum().pixels as f64).max(1.0);
    let of_study = study::PIXELS * study::FRAMES / study::NODES;
    for row in rows {
        let (calls, ns) = run.of(kind, row.ours);
        table.row([
            row.ours.join(", ").into(),
            Cell::Real(calls / pixels),
            Cell::Real(ns / pixels),
            Cell::Real(ns / calls.max(1.0)),
            row.theirs.into(),
            Cell::Real(row.calls / of_study),
            Cell::Real(1e9 * row.seconds / of_study),
            Cell::Real(1e9 * row.seconds / row.calls),
        ]);
    }
    table
}

/// Returns figures 32 and 36: the shares of time.
fn shares(run: &Run) -> Table {
    let columns = [
        ("thread", 0),
        ("activity", 0),
        ("share %", 2),
        ("study %", 2),
    ];
    let mut table = Table::new("shares", "Shares of time (figures 32 and 36)", columns);
    let mut row = |kind, name: &str, activity: &str, ns: f64, study: f64| {
        let share = 100.0 * ns / run.total_ns(kind).max(1.0);
        table.row([name.into(), activity.into(), share.into(), study.into()]);
    };
    let renderer = [
        ("computing", Activity::Compute),
        ("communicating", Activity::Communicate),
        ("waiting for work", Activity::WaitForWork),
    ];
    for ((name, activity), share) in renderer.into_iter().zip(study::RENDERER_SHARES) {
        let ns = run.time_ns(Kind::Renderer, activity);
        row(Kind::Renderer, "renderer", name, ns, share);
    }
    let handler = Kind::Communicator;
    let wake = ["wake threads", "push tasks"];
    let times = [
        ("idle", run.time_ns(handler, Activity::Idle)),
        ("messages", run.time_ns(handler, Activity::Communicate)),
        ("waking", run.of(handler, &wake).1),
        (
            "misses",
            run.of(handler, &["handle request", "handle answer"]).1,
        ),
    ];
    for ((name, ns), share) in times.into_iter().zip(study::COMMUNICATOR_SHARES) {
        row(handler, "communicator", name, ns, share);
    }
    table
}

/// Returns the counts of a ray, which the times follow from.
fn counts(run: &Run) -> Table {
    let columns = [("count", 0), ("here", 4), ("study", 4)];
    let mut table = Table::new("counts", "Counts of a run with these nodes", columns);
    let sum = run.rendered.sum();
    let (work, bricks) = (&sum.work, &sum.bricks);
    let pixels = (sum.pixels as f64).max(1.0);
    let read = (work.macrocells - work.reused) as f64;
    let used = (bricks.local + bricks.hits + bricks.joined + bricks.misses) as f64;
    let rows = [
        (
            "macrocells entered, ray",
            work.macrocells as f64 / pixels,
            0.275_3,
        ),
        ("macrocells read, ray", read / pixels, 0.275_3),
        ("bricks, macrocell read", used / read.max(1.0), 2.684),
        (
            "cells tested, ray",
            work.rays.cells as f64 / pixels,
            0.241_8,
        ),
        ("hits, ray", work.rays.hits as f64 / pixels, 0.094_8),
        (
            "hit rate of the cache",
            bricks.hit_rate().unwrap_or(0.0),
            0.887_7,
        ),
    ];
    for (name, here, study) in rows {
        table.row([name.into(), here.into(), study.into()]);
    }
    table
}

/// Returns tables 7, 9 and 10.
fn characteristics(run: &Run, found: &Characterised) -> Table {
    let columns = [
        ("characteristic", 0),
        ("unit", 0),
        ("here", 3),
        ("study", 3),
    ];
    let title = "Characteristics (tables 7, 9 and 10)";
    let mut table = Table::new("table10", title, columns);
    let (nodes, frames) = (f64::from(run.nodes), f64::from(run.frames));
    let tiles = run.rendered.sum().tiles as f64;
    let misses = run.misses();
    let waited = run
        .of(Kind::Renderer, &["wait for brick", "read from home"])
        .1;
    let handled = (found.handle_request + found.handle_answer).0;
    let bytes = f64::from(found.brick.0).powi(3) * f64::from(found.brick.1);
    let (pixels, head) = (f64::from(found.pixels.1), f64::from(found.tile_bytes.1));
    let per_tile = found.render.0 * frames / tiles.max(1.0);
    let rows = [
        (
            "compute, frame, all nodes",
            "ms",
            found.render.0 * 1e-6,
            6_030.0,
        ),
        (
            "compute, frame and node",
            "ms",
            found.render.0 * 1e-6 / nodes,
            188.0,
        ),
        ("compute, assignment", "us", per_tile * 1e-3, 1_470.0),
        (
            "compute, miss",
            "us",
            found.render.0 * frames / misses.max(1.0) * 1e-3,
            71.5,
        ),
        ("wait, miss", "us", waited / misses.max(1.0) * 1e-3, 464.0),
        ("assignments, frame", "", tiles / frames, 4_096.0),
        (
            "assignments, frame and node",
            "",
            tiles / frames / nodes,
            128.0,
        ),
        (
            "misses, frame and node",
            "",
            misses / frames / nodes,
            2_630.0,
        ),
        ("handler, miss", "us", handled * 1e-3, 3.74),
        ("handler, assignment", "us", found.assignment.0 * 1e-3, 7.35),
        ("handler, scene", "us", found.scene.0 * 1e-3, 57.7),
        ("handler, receive", "us", found.receive.0 * 1e-3, 3.35),
        ("request", "bytes", found.request_bytes.0, 20.0),
        (
            "response",
            "bytes",
            bytes + f64::from(found.brick.2),
            3_472.0,
        ),
        (
            "tile",
            "bytes",
            pixels * f64::from(found.tile_bytes.0) + head,
            796.0,
        ),
    ];
    for (name, unit, here, theirs) in rows {
        table.row([name.into(), unit.into(), here.into(), theirs.into()]);
    }
    table
}

/// Returns the empty table of predictions.
pub(super) fn predictions() -> Table {
    let columns = [
        ("nodes", 0),
        ("misses per frame", 0),
        ("renderers CPU ms", 2),
        ("predicted", 2),
        ("handlers CPU ms", 2),
        ("predicted", 2),
        ("supervisor CPU ms", 2),
        ("predicted", 2),
        ("all, ratio", 3),
        ("frame ms", 2),
        ("predicted", 2),
    ];
    Table::new(
        "predictions",
        "CPU time of a frame, and its prediction",
        columns,
    )
}

/// Returns the row of a run in the table of predictions.
pub(super) fn prediction(run: &Run, predicted: &CpuTime, frame: Option<Nanoseconds>) -> [Cell; 11] {
    let found = run.cpu();
    [
        u64::from(run.nodes).into(),
        ((run.misses() / f64::from(run.frames)) as u64).into(),
        found.renderers_ms.into(),
        predicted.renderers.milliseconds().into(),
        found.handlers_ms.into(),
        predicted.handlers.milliseconds().into(),
        found.supervisor_ms.into(),
        predicted.supervisor.milliseconds().into(),
        (predicted.total().0 / found.total().0).into(),
        run.frame_ms().into(),
        frame.map(Nanoseconds::milliseconds).into(),
    ]
}
