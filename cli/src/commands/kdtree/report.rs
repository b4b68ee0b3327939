//! What `raddle kdtree` tells about the builds, to people and to programs.

use std::time::Duration;

use raddle::Runtime;
use raddle_graphics::kdtree::TreeStatistics;
use serde_json::{Map, Value, json};

use super::builder::{Builder, Counts, Outcome};
use crate::arguments::{BuilderChoice, KdtreeArguments};
use crate::input::Input;
use crate::memory;
use crate::table::{self, Table};
use crate::times::Times;

/// What is told.
pub(super) struct Report<'a> {
    pub(super) arguments: &'a KdtreeArguments,
    pub(super) builder: &'a Builder<'a>,
    pub(super) runtime: &'a Runtime,
    pub(super) input: &'a Input,
    pub(super) outcomes: &'a [Outcome],
    pub(super) statistics: TreeStatistics,
}

impl Report<'_> {
    fn times(&self, of: impl Fn(&Outcome) -> Duration) -> Times {
        Times::of(self.outcomes.iter().map(of).collect())
    }

    /// What the last build by messages was made of: it knows most of the grain.
    fn counts(&self) -> Option<Counts> {
        self.outcomes.last()?.by_messages
    }

    pub(super) fn json(&self) -> Map<String, Value> {
        let mut result = Map::new();
        let mut insert = |name: &str, value: Value| result.insert(name.to_owned(), value);
        insert("command", json!("kdtree"));
        insert("input", self.input.json.clone());
        insert("builder", json!(self.arguments.builder.name()));
        let depth = self.arguments.depth;
        let triangle_count = self.input.mesh.triangles.len();
        insert(
            "depth_limit",
            json!({"asked": depth.to_string(), "levels": depth.0.levels(triangle_count)}),
        );
        if let (Builder::Messages(_, builder), Some(counts)) = (self.builder, self.counts()) {
            let options = builder.options();
            insert(
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
        let references = self.times(|outcome| outcome.prepared.references);
        insert("references_s", references.json());
        let events = self.times(|outcome| outcome.prepared.events);
        insert("events_s", events.json());
        insert("sort_s", self.times(|outcome| outcome.prepared.sort).json());
        insert("build_s", self.times(|outcome| outcome.time).json());
        insert("tree", json!(self.statistics));
        insert("checked", json!(self.arguments.check));
        insert("memory_peak_bytes", json!(memory::peak_bytes()));
        result
    }

    pub(super) fn text(&self) -> String {
        let mut table = Table::default();
        self.input.describe(&mut table);
        let workers = self.runtime.worker_count();
        let by = match self.arguments.builder {
            BuilderChoice::Sequential => "sequential builder".to_owned(),
            BuilderChoice::Tasks => format!("task builder, {workers} workers"),
            BuilderChoice::Messages => format!("message builder, {workers} workers"),
        };
        let prepared = self.times(|outcome| outcome.prepared.references);
        let events = self.times(|outcome| outcome.prepared.events);
        let sorted = self.times(|outcome| outcome.prepared.sort);
        table
            .row("built by", by)
            .row("boxes made in", prepared.text())
            .row("events made in", events.text())
            .row("sorted in", sorted.text())
            .row("built in", self.text_of_building());
        self.describe_messages(&mut table);
        self.describe_tree(&mut table);
        if let Some(peak) = memory::peak_bytes() {
            table.row("memory peak", table::bytes(peak));
        }
        if self.arguments.check {
            let other = self.arguments.builder.other().name();
            let text = format!("equal to the {other} builder's, node for node");
            table.row("tree checked", text);
        }
        table.text()
    }

    fn learning_builds(&self) -> usize {
        self.builder.learning_builds(self.arguments.repeat)
    }

    fn text_of_building(&self) -> String {
        let text = self.times(|outcome| outcome.time).text();
        match self.learning_builds() {
            0 => text,
            builds => format!("{text}, after {builds} builds that the tuner has learned from"),
        }
    }

    fn describe_messages(&self, table: &mut Table) {
        let (Builder::Messages(_, builder), Some(counts)) = (self.builder, self.counts()) else {
            return;
        };
        let options = builder.options();
        table
            .row(
                "node tasks",
                format!(
                    "{}, grain {} ({})",
                    table::grouped(counts.node_tasks),
                    counts.parts,
                    options.grain
                ),
            )
            .row(
                "worker tasks",
                format!(
                    "{}, {}, {}",
                    table::grouped(counts.worker_tasks),
                    options.worker_tasks,
                    match options.triangles_per_task {
                        Some(count) => format!("one for each {} triangles", table::grouped(count)),
                        None => "only for cells near the root".to_owned(),
                    }
                ),
            )
            .row("sync", options.sync.name())
            .row("scans", options.scans.name())
            .row("arrays", options.arrays.name());
    }

    fn describe_tree(&self, table: &mut Table) {
        let statistics = &self.statistics;
        table
            .row("nodes", table::grouped(statistics.node_count))
            .row(
                "leaves",
                format!(
                    "{}, {} of them empty",
                    table::grouped(statistics.leaf_count),
                    table::grouped(statistics.leaf_empty_count)
                ),
            )
            .row("depth", statistics.depth.to_string())
            .row(
                "triangles a leaf",
                format!("{:.2}", statistics.triangles_per_leaf),
            )
            .row("largest leaf", table::grouped(statistics.leaf_largest))
            .row(
                "tests a ray",
                format!("{:.1}, estimated", statistics.tests_per_ray),
            )
            .row("SAH cost", format!("{:.3}", statistics.expected_cost))
            .row(
                "memory of tree",
                table::bytes(statistics.memory_bytes as u64),
            );
    }
}
