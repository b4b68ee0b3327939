//! `raddle kdtree`: builds a tree, and says what it cost and how good it is.

mod builder;
mod report;

use std::num::NonZeroUsize;
use std::sync::Arc;

use raddle::chare::SectionForm;
use raddle::chare::nodes::JobEnvironment;
use raddle_graphics::kdtree::messages::{MessageOptions, WorkerTasks};
use raddle_graphics::kdtree::{BuildError, KdTree, Parameters};
use serde_json::json;

use self::builder::Builder;
use self::report::Report;
use crate::arguments::{BuilderChoice, KdtreeArguments, Options, WorkerOptions};
use crate::error::CliError;
use crate::input::Input;
use crate::progress::Phase;
use crate::{output, schema, slow_tree, workers};

/// Builds, checks where asked to, and reports.
///
/// # Errors
/// [`CliError`]: a mesh that cannot be loaded or have a tree, builders that disagree, an output that fails.
pub(crate) fn run(arguments: &KdtreeArguments, options: &Options) -> Result<(), CliError> {
    check_call(arguments)?;
    let is_alone = arguments.builder == BuilderChoice::Sequential;
    let options = &Options {
        // Nobody builds but this thread, and only a check has work for more.
        runtime: WorkerOptions {
            workers: if is_alone && !arguments.check {
                Some(NonZeroUsize::MIN)
            } else {
                options.runtime.workers
            },
            ..options.runtime.clone()
        },
        ..options.clone()
    };
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
    let before = builder.learning_builds(arguments.repeat);
    learn(&builder, before, &input, &parameters, options.quiet).map_err(failed)?;
    let build = |builder: &Builder| {
        let phase = Arc::new(Phase::begin("building", options.quiet));
        builder.build(&input, &parameters, move |share| phase.at_share(share))
    };
    let mut outcomes = Vec::new();
    let tree = loop {
        let (tree, outcome) = build(&builder).map_err(failed)?;
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
        compare(&tree, &build(&other).map_err(failed)?.0, &input)?;
    }
    let statistics = tree.statistics();
    slow_tree::warn(&input.name, statistics.tests_per_ray, options.quiet);
    let report = Report {
        arguments,
        builder: &builder,
        runtime: &runtime,
        input: &input,
        outcomes: &outcomes,
        statistics,
    };
    if options.json {
        let mut result = report.json();
        workers::describe(&runtime, options, &mut result);
        if is_alone {
            result.insert("workers".to_owned(), json!(1));
        }
        schema::print(result)?;
    } else if !options.quiet {
        output::print(&report.text())?;
    }
    workers::print_stats(&runtime, options)
}

/// Refuses options that say nothing together.
fn check_call(arguments: &KdtreeArguments) -> Result<(), CliError> {
    let given = arguments.messages.given();
    let is_by_messages = arguments.builder == BuilderChoice::Messages;
    if !is_by_messages && !given.is_empty() {
        return Err(CliError::WrongCall {
            options: given.join(", "),
            reason: "said to another builder than the one by messages; expected --builder messages"
                .to_owned(),
        });
    }
    if is_by_messages {
        // Chares would panic if one of these variables, such as RADDLE_WATCH, were wrong.
        JobEnvironment::read().map_err(|source| CliError::Job {
            what: "--builder messages".to_owned(),
            source,
        })?;
    }
    let options = arguments.messages.options();
    if options.sync == SectionForm::TwoLevel && options.worker_tasks == WorkerTasks::Dynamic {
        return Err(CliError::WrongCall {
            options: "--sync two-level".to_owned(),
            reason:
                "worker tasks that are made one by one for each cell (dynamic, the default) are in \
                     no array, and for such it is the same as auto; expected --worker-tasks static"
                    .to_owned(),
        });
    }
    Ok(())
}

/// Builds so often for the builder to learn from it, before its times count.
fn learn(
    builder: &Builder,
    builds: usize,
    input: &Input,
    parameters: &Parameters,
    quiet: bool,
) -> Result<(), BuildError> {
    let phase = Arc::new(Phase::begin("learning", quiet));
    for done in 0..builds {
        let phase = Arc::clone(&phase);
        let note = move |share| phase.at_share((done as f32 + share) / builds as f32);
        builder.build(input, parameters, note)?;
    }
    Ok(())
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
