//! `raddle kdtree`: builds a tree, and says what it cost and how good it is.

use raddle::Runtime;
use raddle_graphics::kdtree::{BuildError, KdTree, Parameters, Prepared, TreeStatistics};
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
    let mut times = Vec::new();
    let tree = loop {
        let prepared = Prepared::new(&input.mesh).map_err(failed)?;
        let phase = Phase::begin("building", options.quiet);
        let tree =
            build(&runtime, arguments.builder, prepared, &parameters, &phase).map_err(failed)?;
        times.push(phase.elapsed());
        if times.len() == arguments.repeat as usize {
            break tree;
        }
    };
    let times = Times::of(times);
    if arguments.check {
        let phase = Phase::begin("checking", options.quiet);
        let other = arguments.builder.other();
        let prepared = Prepared::new(&input.mesh).map_err(failed)?;
        let reference = build(&runtime, other, prepared, &parameters, &phase).map_err(failed)?;
        drop(phase);
        compare(&tree, &reference, &input)?;
    }
    let statistics = tree.statistics();
    if options.json {
        let mut result = json_of(arguments, &input, &times, &statistics);
        workers::describe(&runtime, options, &mut result);
        output::print(&format!("{}\n", Value::Object(result)))?;
    } else if !options.quiet {
        let text = text_of(arguments, &runtime, &input, &times, &statistics);
        output::print(&text)?;
    }
    workers::print_stats(&runtime, options)
}

/// Builds a tree with the chosen builder, parallel ones on the runtime's workers.
fn build(
    runtime: &Runtime,
    builder: BuilderChoice,
    prepared: Prepared,
    parameters: &Parameters,
    phase: &Phase,
) -> Result<KdTree, BuildError> {
    let note = |share| phase.at_share(share);
    match builder {
        BuilderChoice::Sequential => KdTree::from_prepared_sequential(prepared, parameters, note),
        BuilderChoice::Tasks => {
            runtime.install(|| KdTree::from_prepared(prepared, parameters, note))
        }
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

fn json_of(
    arguments: &KdtreeArguments,
    input: &Input,
    times: &Times,
    statistics: &TreeStatistics,
) -> Map<String, Value> {
    let mut result = Map::new();
    let mut insert = |name: &str, value: Value| result.insert(name.to_owned(), value);
    insert("command", json!("kdtree"));
    insert("input", input.json.clone());
    insert("builder", json!(arguments.builder.name()));
    insert("build_s", times.json());
    insert("tree", json!(statistics));
    insert("checked", json!(arguments.check));
    insert("memory_peak_bytes", json!(memory::peak_bytes()));
    result
}

fn text_of(
    arguments: &KdtreeArguments,
    runtime: &Runtime,
    input: &Input,
    times: &Times,
    statistics: &TreeStatistics,
) -> String {
    let mut table = Table::default();
    input.describe(&mut table);
    let by = match arguments.builder {
        BuilderChoice::Sequential => "sequential builder".to_owned(),
        BuilderChoice::Tasks => format!("task builder, {} workers", runtime.worker_count()),
    };
    table.row("built by", by);
    table.row("built in", times.text());
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
    if let Some(peak) = memory::peak_bytes() {
        table.row("memory peak", table::bytes(peak));
    }
    if arguments.check {
        let other = arguments.builder.other().name();
        table.row(
            "check",
            format!("equals the {other} builder's tree, node for node"),
        );
    }
    table.text()
}
