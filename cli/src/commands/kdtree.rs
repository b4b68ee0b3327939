//! `raddle kdtree`: builds a tree, and says what it cost and how good it is.

use std::sync::Arc;
use std::time::Duration;

use raddle::Runtime;
use raddle_graphics::kdtree::messages::{Built, MessageBuilder, MessageOptions};
use raddle_graphics::kdtree::{
    BuildError, KdTree, Parameters, PrepareTimes, Prepared, TreeStatistics,
};
use serde_json::{Map, Value, json};

use crate::arguments::{BuilderChoice, KdtreeArguments, Options};
use crate::error::CliError;
use crate::input::Input;
use crate::output;
use crate::progress::Phase;
use crate::table::{self, Table};
use crate::times::Times;
use crate::{memory, workers};

/// Builds, checks where asked to, and reports.
///
/// # Errors
/// [`CliError`]: a mesh that cannot be loaded or have a tree, builders that disagree, an output that fails.
pub(crate) fn run(arguments: &KdtreeArguments, options: &Options) -> Result<(), CliError> {
    let given = arguments.messages.given();
    if arguments.builder != BuilderChoice::Messages && !given.is_empty() {
        return Err(CliError::WrongCall {
            options: given.join(", "),
            reason: "said to another builder than the one by messages; expected --builder messages"
                .to_owned(),
        });
    }
    let runtime = workers::start(options)?;
    let input = Input::get(&arguments.input, options.quiet)?;
    let parameters = Parameters {
        depth_limit: arguments.depth.0,
        ..Parameters::default()
    };
    let failed = |source: BuildError| CliError::Tree {
        input: input.name.clone(),
        source,
    };
    let builder = Builder::new(&runtime, arguments.builder, arguments.messages.options());
    let mut outcomes = Vec::new();
    let tree = loop {
        let (tree, outcome) = builder
            .build(&input, &parameters, options.quiet)
            .map_err(failed)?;
        outcomes.push(outcome);
        if outcomes.len() == arguments.repeat as usize {
            break tree;
        }
    };
    if arguments.check {
        let other = Builder::new(
            &runtime,
            arguments.builder.other(),
            MessageOptions::default(),
        );
        let reference = other.build(&input, &parameters, options.quiet);
        compare(&tree, &reference.map_err(failed)?.0, &input)?;
    }
    let report = Report {
        arguments,
        builder: &builder,
        runtime: &runtime,
        input: &input,
        outcomes: &outcomes,
        statistics: tree.statistics(),
    };
    if options.json {
        let mut result = report.json();
        workers::describe(&runtime, options, &mut result);
        output::print(&format!("{}\n", Value::Object(result)))?;
    } else if !options.quiet {
        output::print(&report.text())?;
    }
    workers::print_stats(&runtime, options)
}

/// What builds trees.
enum Builder<'runtime> {
    Sequential,
    Tasks(&'runtime Runtime),
    Messages(&'runtime Runtime, MessageBuilder<'runtime>),
}

/// What a build took.
struct Outcome {
    prepared: PrepareTimes,
    time: Duration,
    by_messages: Option<Counts>,
}

/// What a build by messages was made of.
#[derive(Clone, Copy)]
struct Counts {
    parts: usize,
    node_tasks: usize,
    worker_tasks: usize,
}

impl<'runtime> Builder<'runtime> {
    fn new(runtime: &'runtime Runtime, choice: BuilderChoice, options: MessageOptions) -> Self {
        match choice {
            BuilderChoice::Sequential => Self::Sequential,
            BuilderChoice::Tasks => Self::Tasks(runtime),
            BuilderChoice::Messages => {
                Self::Messages(runtime, MessageBuilder::new(runtime, options))
            }
        }
    }

    /// Builds a tree; only what comes after the sorting of the events is timed as building.
    fn build(
        &self,
        input: &Input,
        parameters: &Parameters,
        quiet: bool,
    ) -> Result<(KdTree, Outcome), BuildError> {
        let prepared = match self {
            Self::Sequential => Prepared::sequential(&input.mesh)?,
            Self::Tasks(runtime) | Self::Messages(runtime, _) => {
                runtime.install(|| Prepared::new(&input.mesh))?
            }
        };
        let times = prepared.times();
        let phase = Arc::new(Phase::begin("building", quiet));
        let note = {
            let phase = Arc::clone(&phase);
            move |share| phase.at_share(share)
        };
        let (tree, time, by_messages) = match self {
            Self::Sequential => {
                let tree = KdTree::from_prepared_sequential(prepared, parameters, note)?;
                (tree, phase.elapsed(), None)
            }
            Self::Tasks(runtime) => {
                let build = || KdTree::from_prepared(prepared, parameters, note);
                (runtime.install(build)?, phase.elapsed(), None)
            }
            Self::Messages(_, builder) => {
                let built = builder.build(prepared, parameters, note)?;
                let Built {
                    parts,
                    node_tasks,
                    worker_tasks,
                    ..
                } = built;
                let counts = Counts {
                    parts,
                    node_tasks,
                    worker_tasks,
                };
                (built.tree, built.time, Some(counts))
            }
        };
        let outcome = Outcome {
            prepared: times,
            time,
            by_messages,
        };
        Ok((tree, outcome))
    }
}

fn compare(tree: &KdTree, reference: &KdTree, input: &Input) -> Result<(), CliError> {
    if tree == reference {
        return Ok(());
    }
    let same = tree
        .nodes()
        .iter()
        .zip(reference.nodes())
        .take_while(|(ours, theirs)| ours == theirs)
        .count();
    Err(CliError::TreesDiffer {
        input: input.name.clone(),
        node: same,
    })
}

/// What is told.
struct Report<'a> {
    arguments: &'a KdtreeArguments,
    builder: &'a Builder<'a>,
    runtime: &'a Runtime,
    input: &'a Input,
    outcomes: &'a [Outcome],
    statistics: TreeStatistics,
}

impl Report<'_> {
    fn times(&self, of: impl Fn(&Outcome) -> Duration) -> Times {
        Times::of(self.outcomes.iter().map(of).collect())
    }

    /// What the last build by messages was made of: it knows most of the grain.
    fn counts(&self) -> Option<Counts> {
        self.outcomes.last()?.by_messages
    }

    fn json(&self) -> Map<String, Value> {
        let mut result = Map::new();
        let mut insert = |name: &str, value: Value| result.insert(name.to_owned(), value);
        insert("command", json!("kdtree"));
        insert("input", self.input.json.clone());
        insert("builder", json!(self.arguments.builder.name()));
        if let (Builder::Messages(_, builder), Some(counts)) = (self.builder, self.counts()) {
            let options = builder.options();
            insert(
                "messages",
                json!({
                    "grain": options.grain.to_string(),
                    "grain_tasks": counts.parts,
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

    fn text(&self) -> String {
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
            .row("checked in", prepared.text())
            .row("events made in", events.text())
            .row("sorted in", sorted.text())
            .row("built in", self.times(|outcome| outcome.time).text());
        self.describe_messages(&mut table);
        self.describe_tree(&mut table);
        if let Some(peak) = memory::peak_bytes() {
            table.row("memory peak", table::bytes(peak));
        }
        if self.arguments.check {
            let other = self.arguments.builder.other().name();
            let text = format!("equals the {other} builder's tree, node for node");
            table.row("check", text);
        }
        table.text()
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
                    "{}, {}",
                    table::grouped(counts.worker_tasks),
                    options.worker_tasks
                ),
            );
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
            .row("SAH cost", format!("{:.3}", statistics.expected_cost))
            .row(
                "memory of tree",
                table::bytes(statistics.memory_bytes as u64),
            );
    }
}
