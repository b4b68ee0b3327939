//! Turns the options of the command line into a running runtime.

use std::num::NonZeroUsize;

use raddle::{BuildError, Builder, Runtime, SeedPolicy, Setting};
use raddle_topology::{Plan, PlanError};

use crate::arguments::Options;
use crate::error::CliError;
use crate::output;

/// Returns a builder with the given options. Everything else comes from the environment and the
/// defaults.
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

/// Converts an error of [`builder`]. If `--affinity` is the cause, the error is a wrong call that
/// names the option.
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

/// Starts the workers. Prints their plan first if `--show-binding` asks for it as text.
///
/// # Errors
/// [`CliError::Runtime`], and those of [`output::print_ahead`].
pub(crate) fn start(options: &Options) -> Result<Runtime, CliError> {
    // Chares read this variable when they start. An invalid value is reported before that.
    SeedPolicy::from_environment().map_err(|error| refused(error, options))?;
    let runtime = builder(options)
        .build()
        .map_err(|error| refused(error, options))?;
    if options.show_binding {
        print_plan(&runtime.plan(), options)?;
    }
    Ok(runtime)
}

/// Prints a plan that `--show-binding` asks for before the work begins. With `--json` it is printed
/// with the result instead.
///
/// # Errors
/// Those of [`output::print_ahead`].
pub(crate) fn print_plan(plan: &Plan, options: &Options) -> Result<(), CliError> {
    match options.show_binding && !options.json {
        true => output::print_ahead(&format!("{plan}\n")),
        false => Ok(()),
    }
}
