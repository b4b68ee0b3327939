//! The report of `raddle kdtree`.

use std::time::Duration;

use raddle_graphics::kdtree::TreeStatistics;
use serde_json::json;

use super::arguments::{BuilderChoice, KdtreeArguments};
use super::builder::{Builder, Counts, Outcome};
use crate::input::Input;
use crate::report::{Quantity, Report};
use crate::times::Times;
use crate::units;

/// The measurements of all builds.
pub(super) struct Builds<'a> {
    pub(super) arguments: &'a KdtreeArguments,
    pub(super) builder: &'a Builder<'a>,
    pub(super) worker_count: usize,
    pub(super) input: &'a Input,
    pub(super) outcomes: &'a [Outcome],
    pub(super) statistics: TreeStatistics,
}

impl Builds<'_> {
    pub(super) fn report(&self) -> Report {
        let mut report = Report::new();
        report.section("input", &self.input.facts);
        self.describe_times(&mut report);
        self.describe_messages(&mut report);
        self.describe_tree(&mut report);
        report.memory_peak();
        report.field("checked", self.arguments.check);
        if self.arguments.check {
            let other = self.arguments.builder.other().name();
            let text = format!("equal to the {other} builder's, node for node");
            report.row("tree checked", text);
        }
        report
    }

    fn describe_times(&self, report: &mut Report) {
        let workers = self.worker_count;
        let by = match self.arguments.builder {
            BuilderChoice::Sequential => "sequential builder".to_owned(),
            BuilderChoice::Tasks => format!("task builder, {workers} workers"),
            BuilderChoice::Messages => format!("message builder, {workers} workers"),
        };
        let depth = self.arguments.depth;
        let levels = depth.0.levels(self.input.mesh.triangles.len());
        let references = self.times(|outcome| outcome.prepared.references);
        let events = self.times(|outcome| outcome.prepared.events);
        let sort = self.times(|outcome| outcome.prepared.sort);
        let build = self.times(|outcome| outcome.time);
        let built_in = match self.learning_builds() {
            0 => build.text(),
            builds => format!(
                "{}, after {builds} builds that the tuner has learned from",
                build.text()
            ),
        };
        report
            .row("built by", by)
            .field("builder", self.arguments.builder.name())
            .field(
                "depth_limit",
                json!({ "asked": depth.to_string(), "levels": levels }),
            )
            .quantity("boxes made in", "references_s", &references)
            .quantity("events made in", "events_s", &events)
            .quantity("sorted in", "sort_s", &sort)
            .row("built in", built_in)
            .field("build_s", build);
    }

    fn times(&self, of: impl Fn(&Outcome) -> Duration) -> Times {
        Times::of(self.outcomes.iter().map(of).collect())
    }

    fn learning_builds(&self) -> usize {
        self.builder.learning_builds(self.arguments.repeat)
    }

    /// Returns the counts of the last build by messages, which uses the best grain known.
    fn counts(&self) -> Option<Counts> {
        self.outcomes.last()?.by_messages
    }

    fn describe_messages(&self, report: &mut Report) {
        let (Builder::Messages(_, builder), Some(counts)) = (self.builder, self.counts()) else {
            return;
        };
        let options = builder.options();
        let node_tasks = format!(
            "{}, grain {} ({})",
            units::grouped(counts.node_tasks),
            counts.parts,
            options.grain
        );
        let cells = match options.triangles_per_task {
            Some(count) => format!("one for each {} triangles", units::grouped(count)),
            None => "only for cells near the root".to_owned(),
        };
        let worker_tasks = format!(
            "{}, {}, {cells}",
            units::grouped(counts.worker_tasks),
            options.worker_tasks
        );
        report
            .row("node tasks", node_tasks)
            .row("worker tasks", worker_tasks)
            .row("sync", options.sync.name())
            .row("scans", options.scans.name())
            .row("arrays", options.arrays.name())
            .field(
                "messages",
                json!({
                    "grain": options.grain.to_string(),
                    "grain_tasks": counts.parts,
                    "learning_builds": self.learning_builds(),
                    "node_tasks": counts.node_tasks,
                    "worker_tasks": options.worker_tasks.name(),
                    "worker_task_count": counts.worker_tasks,
                    "triangles_per_task": options.triangles_per_task,
                    "sync": options.sync.name(),
                    "scans": options.scans.name(),
                    "arrays": options.arrays.name(),
                }),
            );
    }

    fn describe_tree(&self, report: &mut Report) {
        let tree = &self.statistics;
        let leaves = format!(
            "{}, {} of them empty",
            units::grouped(tree.leaf_count),
            units::grouped(tree.leaf_empty_count)
        );
        report
            .field("tree", tree)
            .row("nodes", units::grouped(tree.node_count))
            .row("leaves", leaves)
            .row("depth", tree.depth.to_string())
            .row(
                "triangles per leaf",
                format!("{:.2}", tree.triangles_per_leaf),
            )
            .row("largest leaf", units::grouped(tree.leaf_largest))
            .row(
                "tests per ray",
                format!("{:.1}, estimated", tree.tests_per_ray),
            )
            .row("SAH cost", format!("{:.3}", tree.expected_cost))
            .row("memory of tree", units::bytes(tree.memory_bytes as u64));
    }
}
