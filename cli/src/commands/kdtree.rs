//! `raddle kdtree`: builds a tree, and reports its cost and its quality.

mod arguments;
mod builder;
mod report;

use std::num::NonZeroUsize;
use std::sync::Arc;

use raddle::chare::SectionForm;
use raddle::chare::nodes::JobEnvironment;
use raddle_graphics::kdtree::messages::{MessageOptions, WorkerTasks};
use raddle_graphics::kdtree::{BuildError, KdTree, Parameters};

pub(super) use self::arguments::{EXAMPLES, KdtreeArguments};

use self::arguments::BuilderChoice;
use self::builder::Builder;
use self::report::Builds;
use crate::arguments::{Options, WorkerOptions};
use crate::error::CliError;
use crate::input::Input;
use crate::progress::Phase;
use crate::report::{RanOn, Report};
use crate::{slow_tree, workers};

/// Builds trees, compares two of them if `--check` asks for it, and reports.
///
/// # Errors
/// [`CliError`]: a mesh that cannot be loaded or has no tree, or builders that disagree.
pub(super) fn run(arguments: &KdtreeArguments, options: &Options) -> Result<Report, CliError> {
    check_call(arguments, &options.runtime)?;
    let is_sequential = arguments.builder == BuilderChoice::Sequential;
    let options = &Options {
        // The sequential builder uses one worker. Only a check needs others.
        runtime: WorkerOptions {
            workers: if is_sequential && !arguments.check {
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
    let builds = Builds {
        arguments,
        builder: &builder,
        worker_count: runtime.worker_count(),
        input: &input,
        outcomes: &outcomes,
        statistics,
    };
    let mut report = builds.report();
    if is_sequential {
        report.field("workers", 1);
    }
    drop(builder);
    Ok(report.on(RanOn::Workers(runtime)))
}

/// Refuses options that have no effect in combination.
fn check_call(arguments: &KdtreeArguments, workers: &WorkerOptions) -> Result<(), CliError> {
    if arguments.builder == BuilderChoice::Sequential && !arguments.check {
        check_sequential(workers)?;
    }
    let given = arguments.messages.given();
    let is_by_messages = arguments.builder == BuilderChoice::Messages;
    if !is_by_messages && let Some(mailbox) = workers.mailbox {
        return Err(CliError::WrongCall {
            options: format!("--mailbox {mailbox} --builder {}", arguments.builder.name()),
            reason: "only the message builder sends messages; expected --builder messages"
                .to_owned(),
        });
    }
    if !is_by_messages && !given.is_empty() {
        return Err(CliError::WrongCall {
            options: given.join(", "),
            reason: "only the message builder has this option; expected --builder messages"
                .to_owned(),
        });
    }
    if is_by_messages {
        // A wrong value of one of these variables, such as RADDLE_WATCH, would make chares panic.
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
                "worker tasks that are created for each cell (dynamic, the default) are not in an \
                     array, and for these it equals auto; expected --worker-tasks static"
                    .to_owned(),
        });
    }
    Ok(())
}

/// Refuses options for workers that have no effect on the sequential builder alone.
fn check_sequential(workers: &WorkerOptions) -> Result<(), CliError> {
    let expected = "expected --builder tasks or messages, or --check, which builds a second tree \
                    with tasks";
    if let Some(count) = workers.workers.filter(|count| count.get() > 1) {
        return Err(CliError::WrongCall {
            options: format!("--workers {count} --builder sequential"),
            reason: format!("this builder uses one worker; {expected}"),
        });
    }
    let given = workers.for_tasks_and_messages();
    if given.is_empty() {
        return Ok(());
    }
    Err(CliError::WrongCall {
        options: format!("{} --builder sequential", given.join(" ")),
        reason: format!("this builder has no tasks and sends no messages; {expected}"),
    })
}

/// Builds `builds` trees from which the builder learns, before the times count.
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
