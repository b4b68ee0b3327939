//! One interface for all builders of trees.

use std::time::Duration;

use raddle::Runtime;
use raddle_graphics::kdtree::messages::{Built, MessageBuilder, MessageOptions, NodeGrain};
use raddle_graphics::kdtree::{AllWorkers, BuildError, KdTree, Parameters, PrepareTimes, Prepared};

use super::arguments::BuilderChoice;
use crate::input::Input;

/// A builder of trees.
pub(super) enum Builder<'runtime> {
    /// Runs on one worker, where `--affinity` has bound it.
    Sequential(&'runtime Runtime),
    Tasks(&'runtime Runtime),
    Messages(&'runtime Runtime, MessageBuilder<'runtime>),
}

/// The measurements of one build.
pub(super) struct Outcome {
    pub(super) prepared: PrepareTimes,
    pub(super) time: Duration,
    pub(super) by_messages: Option<Counts>,
}

/// The counts of a build by messages.
#[derive(Clone, Copy)]
pub(super) struct Counts {
    pub(super) parts: usize,
    pub(super) node_tasks: usize,
    pub(super) worker_tasks: usize,
}

impl<'runtime> Builder<'runtime> {
    pub(super) fn new(
        runtime: &'runtime Runtime,
        choice: BuilderChoice,
        options: MessageOptions,
    ) -> Self {
        match choice {
            BuilderChoice::Sequential => Self::Sequential(runtime),
            BuilderChoice::Tasks => Self::Tasks(runtime),
            BuilderChoice::Messages => {
                Self::Messages(runtime, MessageBuilder::new(runtime, options))
            }
        }
    }

    /// Returns how many builds precede `repeat` builds that count.
    ///
    /// A tuner of the grain needs eight builds if a build takes two milliseconds or more. It
    /// continues to learn from shorter builds while they count. A single build has none.
    pub(super) fn learning_builds(&self, repeat: u32) -> usize {
        let is_tuned = |builder: &MessageBuilder<'_>| builder.options().grain == NodeGrain::Tuned;
        match self {
            Self::Messages(_, builder) if repeat > 1 && is_tuned(builder) => 8,
            Self::Sequential(_) | Self::Tasks(_) | Self::Messages(..) => 0,
        }
    }

    /// Builds a tree. The time of the build begins after the events are sorted. `note` receives the
    /// share of the work that is done.
    pub(super) fn build(
        &self,
        input: &Input,
        parameters: &Parameters,
        note: impl Fn(f32) + Send + Sync + 'static,
    ) -> Result<(KdTree, Outcome), BuildError> {
        let prepared = match self {
            Self::Sequential(runtime) => runtime.install(|| Prepared::sequential(&input.mesh))?,
            Self::Tasks(runtime) | Self::Messages(runtime, _) => {
                runtime.install(|| Prepared::new(&input.mesh))?
            }
        };
        let times = prepared.times();
        let (tree, time, by_messages) = match self {
            Self::Sequential(runtime) => {
                let build = || KdTree::timed_sequential(prepared, parameters, note);
                let built = runtime.install(build)?;
                (built.tree, built.time, None)
            }
            Self::Tasks(runtime) => {
                let build = || KdTree::timed_by(prepared, parameters, &AllWorkers, note);
                let built = runtime.install(build)?;
                (built.tree, built.time, None)
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
