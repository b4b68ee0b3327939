//! From the options of the command line to a running runtime, and what is told about it afterwards.

use std::num::NonZeroUsize;

use raddle::{BuildError, Builder, Runtime, SeedPolicy, Setting};
use raddle_topology::PlanError;
use serde_json::{Map, Value, json};

use crate::arguments::Options;
use crate::error::CliError;
use crate::output;

/// A builder with what the options say; the rest comes from the environment and the defaults.
pub(crate) fn builder(options: &Options) -> Builder {
    let mut builder = Runtime::builder();
    let options = &options.runtime;
    if let Some(workers) = options.workers.map(NonZeroUsize::get) {
        builder = builder.workers(workers);
    }
    if let Some(pool) = options.pool {
        builder = builder.pool(pool);
    }
    if let Some(blocks) = options.blocks {
        builder = builder.blocks(blocks);
    }
    if let Some(affinity) = &options.affinity {
        builder = builder.affinity(affinity.clone());
    }
    if let Some(idle) = options.idle {
        builder = builder.idle(idle);
    }
    if let Some(task_memory) = options.task_memory {
        builder = builder.task_memory(task_memory);
    }
    if let Some(mailbox) = options.mailbox {
        builder = builder.mailbox(mailbox);
    }
    builder
}

/// What stands in the way of a runtime: the call, where the option that is to blame was given.
pub(crate) fn refused(error: BuildError, options: &Options) -> CliError {
    match (error, &options.runtime.affinity) {
        (
            BuildError::Plan(
                reason @ (PlanError::UnknownCpu { .. } | PlanError::NotAllowed { .. }),
            ),
            Some(affinity),
        ) => CliError::WrongCall {
            options: format!("--affinity {affinity}"),
            reason: reason.to_string(),
        },
        (error, _) => error.into(),
    }
}

/// Starts the workers, and prints the plan first where that was asked for and people read it.
///
/// # Errors
/// [`CliError::Runtime`], and what [`output::print`] returns.
pub(crate) fn start(options: &Options) -> Result<Runtime, CliError> {
    // Chares read this variable when they start. A wrong value is reported before that.
    SeedPolicy::from_environment().map_err(|error| refused(error, options))?;
    let runtime = builder(options)
        .build()
        .map_err(|error| refused(error, options))?;
    if options.show_binding && !options.json {
        output::print(&format!("{}\n", runtime.plan()))?;
    }
    Ok(runtime)
}

/// Adds to a JSON result what is known about the workers.
pub(crate) fn describe(runtime: &Runtime, options: &Options, result: &mut Map<String, Value>) {
    result.insert("workers".to_owned(), json!(runtime.worker_count()));
    if options.show_binding {
        result.insert("binding".to_owned(), json!(runtime.plan()));
    }
    if options.stats {
        result.insert("stats".to_owned(), json!(runtime.report()));
    }
}

/// Prints the counters where they were asked for and people read them.
///
/// # Errors
/// What [`output::print`] returns.
pub(crate) fn print_stats(runtime: &Runtime, options: &Options) -> Result<(), CliError> {
    if options.stats && !options.json {
        output::print(&format!("\n{}", runtime.report()))?;
    }
    Ok(())
}
