//! The report of `raddle dirt`.

use std::path::PathBuf;
use std::time::Duration;

use raddle::net::NodeId;
use raddle::net::bricks::BrickCounters;
use raddle_graphics::dirt::{SupervisedFrame, ThreadReport, WorkerReport};
use raddle_graphics::volume::BrickLayout;
use serde_json::json;

use super::arguments::{DirtArguments, Job};
use super::profile;
use super::subject::Subject;
use crate::arguments::Options;
use crate::report::{Column, Columns, Count, Plain, Report, Row};
use crate::times::Times;
use crate::units;

/// The pictures, and the work that they took.
#[derive(Debug)]
pub(super) struct Rendered {
    /// The volume.
    pub(super) subject: Subject,
    /// The time of each picture.
    times: Vec<Duration>,
    /// The number of tiles that were assigned.
    assignments: u64,
    /// The number of nodes that have ended.
    pub(super) lost: usize,
    /// The reports of the nodes that are left.
    pub(super) reports: Vec<(NodeId, WorkerReport)>,
    /// The times of their threads, if they were profiled.
    pub(super) threads: Vec<ThreadReport>,
}

impl Rendered {
    /// Creates the report of no pictures.
    pub(super) const fn new(subject: Subject) -> Self {
        Self {
            subject,
            times: Vec::new(),
            assignments: 0,
            lost: 0,
            reports: Vec::new(),
            threads: Vec::new(),
        }
    }

    /// Adds a picture.
    pub(super) fn add(&mut self, frame: &SupervisedFrame) {
        self.times.push(frame.time);
        self.assignments += u64::from(frame.assignments);
        self.lost += frame.lost;
    }

    /// Returns the time of each picture.
    pub(super) fn times(&self) -> &[Duration] {
        &self.times
    }

    /// Returns the counts of all nodes together.
    pub(super) fn sum(&self) -> WorkerReport {
        let mut sum = WorkerReport::default();
        for (_, report) in &self.reports {
            sum += *report;
        }
        sum
    }
}

/// Reports on pictures.
pub(super) fn report(
    rendered: &Rendered,
    job: &Job,
    arguments: &DirtArguments,
    paths: &[PathBuf],
    options: &Options,
) -> Report {
    let dirt = &job.options;
    let (nodes, renderers) = (usize::from(dirt.workers), usize::from(dirt.renderers));
    let sum = rendered.sum();
    let mut report = Report::new();
    report
        .section("input", &rendered.subject.facts)
        .field("isovalues", &arguments.surfaces.iso)
        .row(
            "nodes",
            format!(
                "{nodes} by {}, with {} each",
                job.kind,
                units::counted(renderers, "renderer")
            ),
        )
        .field("nodes", nodes)
        .field("renderers", renderers)
        .field("transport", job.kind.name())
        .field("nodes_lost", rendered.lost);
    describe_bricks(&rendered.subject.layout, job, &mut report);
    report
        .quantity("per picture", "frame_s", &Times::of(rendered.times.clone()))
        .quantity("tiles", "tiles", &Count(rendered.assignments as usize))
        .quantity("hits", "hits", &Count(sum.work.rays.hits as usize))
        .row("bricks used", bricks_in_words(&sum.bricks))
        .field("counts", counts(&sum));
    let pictures: Vec<String> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    let label = match paths.len() {
        1 => "picture",
        _ => "pictures",
    };
    let (shown, size) = (pictures.join(", "), arguments.view.size);
    report
        .row(label, format!("{shown} ({size})"))
        .field("pictures", pictures)
        .memory_peak();
    let table = by_node(&rendered.reports);
    report.field("by_node", table.objects());
    if options.stats {
        report.requested(&format!("\n{}", table.text()));
    }
    if arguments.profile {
        profile::describe(&rendered.threads, &mut report);
    }
    report
}

/// Describes the bricks, their homes, and their way.
fn describe_bricks(layout: &BrickLayout, job: &Job, report: &mut Report) {
    let dirt = &job.options;
    let [x, y, z] = layout.counts();
    let (edge, bytes) = (layout.edge(), layout.brick_bytes());
    let homes = match dirt.homes {
        raddle::net::bricks::HomeRule::Blocks => "blocks",
        _ => "cyclic",
    };
    let size = units::bytes(bytes as u64);
    report
        .row(
            "bricks",
            format!("{x} × {y} × {z} of {edge}³ voxels ({size}), homes {homes}"),
        )
        .field("brick_edge", edge)
        .field("brick_bytes", bytes)
        .field("bricks", layout.brick_count())
        .field("homes", homes)
        .row(
            "caches",
            format!(
                "{} each, {}; answers by {}, fetch by {}",
                units::bytes(dirt.cache_bytes),
                dirt.associativity,
                dirt.answers,
                dirt.fetch
            ),
        )
        .field("cache_bytes", dirt.cache_bytes)
        .field("lines", dirt.associativity.name())
        .field("answers", dirt.answers.name())
        .field("fetch", dirt.fetch.name());
}

/// Describes the origin of the bricks that were used.
fn bricks_in_words(bricks: &BrickCounters) -> String {
    let BrickCounters { local, misses, .. } = *bricks;
    let hits = bricks.hits + bricks.joined;
    let rate = bricks.hit_rate().map_or(String::new(), |rate| {
        format!(", hit rate {:.1} %", 100.0 * rate)
    });
    format!(
        "{} local, {} in a cache, {} from other nodes{rate}",
        units::grouped(local),
        units::grouped(hits),
        units::grouped(misses)
    )
}

/// Returns the fields of the counts of a node, or of all.
fn counts(report: &WorkerReport) -> serde_json::Value {
    let WorkerReport {
        tiles,
        pixels,
        work,
        bricks,
        answered,
        ..
    } = *report;
    json!({
        "tiles": tiles,
        "pixels": pixels,
        "rays_inside": work.rays.rays_inside,
        "macrocells": work.macrocells,
        "macrocells_reused": work.reused,
        "cells": work.rays.cells,
        "cubics": work.rays.cubics,
        "hits": work.rays.hits,
        "rays_shadow": work.rays.rays_shadow,
        "bricks_local": bricks.local,
        "bricks_cached": bricks.hits,
        "bricks_missed": bricks.misses,
        "bricks_joined": bricks.joined,
        "bricks_alone": bricks.alone,
        "bricks_produced": bricks.produced,
        "bricks_recovered": bricks.recovered,
        "bricks_answered": answered,
        "requests": bricks.requests,
        "hit_share": bricks.hit_rate(),
    })
}

/// Creates the table of the nodes.
fn by_node(reports: &[(NodeId, WorkerReport)]) -> Columns {
    let mut table = Columns::new([
        Column::right("node", 4),
        Column::right("tiles", 8),
        Column::right("pixels", 11),
        Column::right("local", 12),
        Column::right("cached", 12),
        Column::right("missed", 10),
        Column::right("answered", 10),
        Column::right("hit rate", 8),
    ]);
    for (node, report) in reports {
        let mut row = Row::new();
        let bricks = &report.bricks;
        row.quantity("node", &Plain(node.0));
        for count in [
            report.tiles,
            report.pixels,
            bricks.local,
            bricks.hits + bricks.joined,
            bricks.misses,
            report.answered,
        ] {
            row.cell(units::grouped(count));
        }
        let rate = bricks.hit_rate();
        row.cell(rate.map_or("-".to_owned(), |rate| format!("{:.1} %", 100.0 * rate)))
            .fields(&counts(report));
        table.push(row);
    }
    table
}
